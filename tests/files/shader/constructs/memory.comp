// Blocks are buffers: of structs by words, of matrices with their strides; atomics of a member.
// RUN: adc -w --derive=none --emit=ir --stop-after=parse %s -o - | grep -v "^ *//" | FileCheck --match-full-lines %s
#version 450
layout(local_size_x = 8) in;
struct Body { vec3 at; float mass; };
layout(std430, binding = 0) readonly buffer X { Body bodies[]; };
layout(std430, binding = 1) buffer Y { int count; float y[]; };
layout(std430, row_major, binding = 2) readonly buffer M { mat2x3 m[]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  Body one = bodies[i];
  one.mass *= 2.0;
  y[i] = one.at.y * one.mass + m[i][1][2];
  atomicAdd(count, 1);
}
// CHECK-LABEL: kernel @memory(%bodies: buffer<f32, 2> readonly, %count: buffer<i32, 1>, %y: buffer<f32, 1>, %m: buffer<f32, 2> readonly, %invocations_x: i32, %invocations_y: i32 if_read, %invocations_z: i32 if_read) {
// CHECK-NEXT:    parallel %gz, %gy, %gx in 0..%invocations_z, 0..%invocations_y, 0..%invocations_x {
// CHECK-NEXT:      %i = alloca array<i32, 1>
// CHECK-NEXT:      %one = alloca array<vec<f32, 3>, 1>
// CHECK-NEXT:      %one.2 = alloca array<f32, 1>
// CHECK-NEXT:      %0 = vec.make %gx, %gy, %gz
// CHECK-NEXT:      %1 = vec.get %0, 0
// CHECK-NEXT:      store %i[0], %1
// CHECK-NEXT:      %2 = load %i[0]
// CHECK-NEXT:      %3 = load %bodies[%2, 0]
// CHECK-NEXT:      %4 = load %bodies[%2, 1]
// CHECK-NEXT:      %5 = load %bodies[%2, 2]
// CHECK-NEXT:      %6 = vec.make %3, %4, %5
// CHECK-NEXT:      %7 = load %bodies[%2, 3]
// CHECK-NEXT:      store %one[0], %6
// CHECK-NEXT:      store %one.2[0], %7
// CHECK-NEXT:      %8 = load %one.2[0]
// CHECK-NEXT:      %9 = mul %8, 2.0
// CHECK-NEXT:      store %one.2[0], %9
// CHECK-NEXT:      %10 = load %i[0]
// CHECK-NEXT:      %11 = load %one[0].1
// CHECK-NEXT:      %12 = load %one.2[0]
// CHECK-NEXT:      %13 = mul %11, %12
// CHECK-NEXT:      %14 = load %i[0]
// CHECK-NEXT:      %15 = load %m[%14, 5]
// CHECK-NEXT:      %16 = add %13, %15
// CHECK-NEXT:      %17 = add %10, 1
// CHECK-NEXT:      store %y[%17], %16
// CHECK-NEXT:      atomic add %count[0], 1
// CHECK-NEXT:    }
// CHECK-NEXT:  }
