// Memory that a workgroup shares, and a barrier.
// RUN: adc -w --derive=none --emit=ir --stop-after=parse %s -o - | grep -v "^ *//" | FileCheck --match-full-lines %s
#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) buffer Y { float y[]; };
shared float cells[64];
void main() {
  uint t = gl_LocalInvocationID.x, i = gl_GlobalInvocationID.x;
  cells[t] = x[i];
  barrier();
  y[i] = cells[63u - t];
}
// CHECK-LABEL: kernel @workgroups(%x: buffer<f32, 1> readonly, %y: buffer<f32, 1>, %invocations_x: i32, %invocations_y: i32 if_read, %invocations_z: i32 if_read) {
// CHECK-NEXT:    %0 = ceildiv %invocations_x, 64
// CHECK-NEXT:    parallel %wz, %wy, %wx, %l in 0..%invocations_z, 0..%invocations_y, 0..%0, 0..64 workgroup {
// CHECK-NEXT:      %cells = alloca array<f32, 64> shared
// CHECK-NEXT:      %t = alloca array<i32, 1>
// CHECK-NEXT:      %i = alloca array<i32, 1>
// CHECK-NEXT:      %1 = vec.make %l, 0, 0
// CHECK-NEXT:      %2 = vec.get %1, 0
// CHECK-NEXT:      store %t[0], %2
// CHECK-NEXT:      %3 = mul %wx, 64
// CHECK-NEXT:      %4 = add %3, %l
// CHECK-NEXT:      %5 = vec.make %4, %wy, %wz
// CHECK-NEXT:      %6 = vec.get %5, 0
// CHECK-NEXT:      store %i[0], %6
// CHECK-NEXT:      %7 = load %t[0]
// CHECK-NEXT:      %8 = load %i[0]
// CHECK-NEXT:      %9 = load %x[%8]
// CHECK-NEXT:      store %cells[%7], %9
// CHECK-NEXT:      barrier
// CHECK-NEXT:      %10 = load %i[0]
// CHECK-NEXT:      %11 = load %t[0]
// CHECK-NEXT:      %12 = sub 63, %11
// CHECK-NEXT:      %13 = load %cells[%12]
// CHECK-NEXT:      store %y[%10], %13
// CHECK-NEXT:    }
// CHECK-NEXT:  }
