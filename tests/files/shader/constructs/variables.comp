// Variables of functions are arrays, parameters that give something back are copied in and out.
// RUN: adc -w --derive=none --emit=ir --stop-after=parse %s -o - | grep -v "^ *//" | FileCheck --match-full-lines %s
#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) buffer Y { float y[]; };
void raise(inout float v, out float old) { old = v; v += 1.0; }
void main() {
  uint i = gl_GlobalInvocationID.x;
  float a = x[i], b;
  raise(a, b);
  y[i] = a * b;
}
// CHECK-LABEL: kernel @variables(%x: buffer<f32, 1> readonly, %y: buffer<f32, 1>, %invocations_x: i32, %invocations_y: i32 if_read, %invocations_z: i32 if_read) {
// CHECK-NEXT:    parallel %gz, %gy, %gx in 0..%invocations_z, 0..%invocations_y, 0..%invocations_x block 64 {
// CHECK-NEXT:      %i = alloca array<i32, 1>
// CHECK-NEXT:      %a = alloca array<f32, 1>
// CHECK-NEXT:      %b = alloca array<f32, 1>
// CHECK-NEXT:      %param = alloca array<f32, 1>
// CHECK-NEXT:      %param.2 = alloca array<f32, 1>
// CHECK-NEXT:      %0 = vec.make %gx, %gy, %gz
// CHECK-NEXT:      %1 = vec.get %0, 0
// CHECK-NEXT:      store %i[0], %1
// CHECK-NEXT:      %2 = load %i[0]
// CHECK-NEXT:      %3 = load %x[%2]
// CHECK-NEXT:      store %a[0], %3
// CHECK-NEXT:      %4 = load %a[0]
// CHECK-NEXT:      store %param[0], %4
// CHECK-NEXT:      %5 = load %param[0]
// CHECK-NEXT:      store %param.2[0], %5
// CHECK-NEXT:      %6 = load %param[0]
// CHECK-NEXT:      %7 = add %6, 1.0
// CHECK-NEXT:      store %param[0], %7
// CHECK-NEXT:      %8 = load %param[0]
// CHECK-NEXT:      store %a[0], %8
// CHECK-NEXT:      %9 = load %param.2[0]
// CHECK-NEXT:      store %b[0], %9
// CHECK-NEXT:      %10 = load %i[0]
// CHECK-NEXT:      %11 = load %a[0]
// CHECK-NEXT:      %12 = load %b[0]
// CHECK-NEXT:      %13 = mul %11, %12
// CHECK-NEXT:      store %y[%10], %13
// CHECK-NEXT:    }
// CHECK-NEXT:  }
