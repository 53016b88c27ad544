// Vectors and matrices are values; columns of GLSL are rows of the text.
// RUN: adc -w --derive=none --emit=ir --stop-after=parse %s -o - | grep -v "^ *//" | FileCheck --match-full-lines %s
#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) buffer Y { float y[]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  vec3 v = vec3(x[i], 1.0, 2.0);
  v.yz = v.zx;
  mat2 m = mat2(1.0, 2.0, 3.0, 4.0);
  vec2 w = m * v.xy + transpose(m)[1];
  y[i] = dot(w, w) + v.z;
}
// CHECK-LABEL: kernel @vectors(%x: buffer<f32, 1> readonly, %y: buffer<f32, 1>, %invocations_x: i32, %invocations_y: i32 if_read, %invocations_z: i32 if_read) {
// CHECK-NEXT:    parallel %gz, %gy, %gx in 0..%invocations_z, 0..%invocations_y, 0..%invocations_x block 64 {
// CHECK-NEXT:      %i = alloca array<i32, 1>
// CHECK-NEXT:      %v = alloca array<vec<f32, 3>, 1>
// CHECK-NEXT:      %m = alloca array<mat<f32, 2, 2>, 1>
// CHECK-NEXT:      %w = alloca array<vec<f32, 2>, 1>
// CHECK-NEXT:      %0 = vec.make %gx, %gy, %gz
// CHECK-NEXT:      %1 = vec.get %0, 0
// CHECK-NEXT:      store %i[0], %1
// CHECK-NEXT:      %2 = load %i[0]
// CHECK-NEXT:      %3 = load %x[%2]
// CHECK-NEXT:      %4 = vec.make %3, 1.0, 2.0
// CHECK-NEXT:      store %v[0], %4
// CHECK-NEXT:      %5 = load %v[0]
// CHECK-NEXT:      %6 = vec.get %5, 2
// CHECK-NEXT:      %7 = vec.get %5, 0
// CHECK-NEXT:      %8 = vec.make %6, %7
// CHECK-NEXT:      %9 = vec.get %8, 0
// CHECK-NEXT:      store %v[0].1, %9
// CHECK-NEXT:      %10 = vec.get %8, 1
// CHECK-NEXT:      store %v[0].2, %10
// CHECK-NEXT:      %11 = vec.make 1.0, 2.0
// CHECK-NEXT:      %12 = vec.make 3.0, 4.0
// CHECK-NEXT:      %13 = vec.get %11, 0
// CHECK-NEXT:      %14 = vec.get %12, 0
// CHECK-NEXT:      %15 = vec.get %11, 1
// CHECK-NEXT:      %16 = vec.get %12, 1
// CHECK-NEXT:      %17 = mat.make %13, %14, %15, %16
// CHECK-NEXT:      store %m[0], %17
// CHECK-NEXT:      %18 = load %m[0]
// CHECK-NEXT:      %19 = load %v[0]
// CHECK-NEXT:      %20 = vec.get %19, 0
// CHECK-NEXT:      %21 = vec.get %19, 1
// CHECK-NEXT:      %22 = vec.make %20, %21
// CHECK-NEXT:      %23 = mat.mul %18, %22
// CHECK-NEXT:      %24 = load %m[0]
// CHECK-NEXT:      %25 = transpose %24
// CHECK-NEXT:      %26 = mat.get %25, 0, 1
// CHECK-NEXT:      %27 = mat.get %25, 1, 1
// CHECK-NEXT:      %28 = vec.make %26, %27
// CHECK-NEXT:      %29 = add %23, %28
// CHECK-NEXT:      store %w[0], %29
// CHECK-NEXT:      %30 = load %i[0]
// CHECK-NEXT:      %31 = load %w[0]
// CHECK-NEXT:      %32 = load %w[0]
// CHECK-NEXT:      %33 = dot %31, %32
// CHECK-NEXT:      %34 = load %v[0].2
// CHECK-NEXT:      %35 = add %33, %34
// CHECK-NEXT:      store %y[%30], %35
// CHECK-NEXT:    }
// CHECK-NEXT:  }
