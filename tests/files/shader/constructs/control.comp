// Ways out of loops, functions and switches leave scopes; a case that falls runs the next one.
// RUN: adc -w --derive=none --emit=ir --stop-after=parse %s -o - | grep -v "^ *//" | FileCheck --match-full-lines %s
#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) buffer Y { float y[]; };
layout(push_constant) uniform Push { int n; };
float found(float v) {
  for (int k = 0; k < n; ++k) {
    if (x[k] < v) continue;
    if (x[k] > 9.0) return x[k];
  }
  return v;
}
void main() {
  uint i = gl_GlobalInvocationID.x;
  float a = x[i];
  switch (n) {
    case 0: a = 1.0;
    case 1: a += 2.0; break;
    default: a = found(a);
  }
  y[i] = a > 3.0 ? a : -a;
}
// CHECK-LABEL: kernel @control(%x: buffer<f32, 1> readonly, %y: buffer<f32, 1>, %n: i32, %invocations_x: i32, %invocations_y: i32 if_read, %invocations_z: i32 if_read) {
// CHECK-NEXT:    parallel %gz, %gy, %gx in 0..%invocations_z, 0..%invocations_y, 0..%invocations_x block 64 {
// CHECK-NEXT:      %i = alloca array<i32, 1>
// CHECK-NEXT:      %a = alloca array<f32, 1>
// CHECK-NEXT:      %param = alloca array<f32, 1>
// CHECK-NEXT:      %0 = alloca array<f32, 1>
// CHECK-NEXT:      %1 = alloca array<i1, 1>
// CHECK-NEXT:      %2 = alloca array<f32, 1>
// CHECK-NEXT:      %k = alloca array<i32, 1>
// CHECK-NEXT:      %3 = vec.make %gx, %gy, %gz
// CHECK-NEXT:      %4 = vec.get %3, 0
// CHECK-NEXT:      store %i[0], %4
// CHECK-NEXT:      %5 = load %i[0]
// CHECK-NEXT:      %6 = load %x[%5]
// CHECK-NEXT:      store %a[0], %6
// CHECK-NEXT:      %7 = eq %n, 0
// CHECK-NEXT:      %8 = eq %n, 1
// CHECK-NEXT:      %9 = or %7, %8
// CHECK-NEXT:      %10 = not %9
// CHECK-NEXT:      %11 = eq %n, 0
// CHECK-NEXT:      %12 = eq %n, 1
// CHECK-NEXT:      store %1[0], false
// CHECK-NEXT:      if %10 {
// CHECK-NEXT:        %13 = load %a[0]
// CHECK-NEXT:        store %param[0], %13
// CHECK-NEXT:        scope %14 {
// CHECK-NEXT:          store %k[0], 0
// CHECK-NEXT:          while {
// CHECK-NEXT:            %15 = load %k[0]
// CHECK-NEXT:            %16 = lt %15, %n
// CHECK-NEXT:            continue_if %16
// CHECK-NEXT:          } do {
// CHECK-NEXT:            scope %17 {
// CHECK-NEXT:              %18 = load %k[0]
// CHECK-NEXT:              %19 = load %x[%18]
// CHECK-NEXT:              %20 = load %param[0]
// CHECK-NEXT:              %21 = lt %19, %20
// CHECK-NEXT:              if %21 {
// CHECK-NEXT:                exit %17
// CHECK-NEXT:              }
// CHECK-NEXT:              %22 = load %k[0]
// CHECK-NEXT:              %23 = load %x[%22]
// CHECK-NEXT:              %24 = gt %23, 9.0
// CHECK-NEXT:              if %24 {
// CHECK-NEXT:                %25 = load %k[0]
// CHECK-NEXT:                %26 = load %x[%25]
// CHECK-NEXT:                store %2[0], %26
// CHECK-NEXT:                exit %14
// CHECK-NEXT:              }
// CHECK-NEXT:            }
// CHECK-NEXT:            %27 = load %k[0]
// CHECK-NEXT:            %28 = add %27, 1
// CHECK-NEXT:            store %k[0], %28
// CHECK-NEXT:          }
// CHECK-NEXT:          %29 = load %param[0]
// CHECK-NEXT:          store %2[0], %29
// CHECK-NEXT:        }
// CHECK-NEXT:        %30 = load %2[0]
// CHECK-NEXT:        store %a[0], %30
// CHECK-NEXT:      }
// CHECK-NEXT:      if %11 {
// CHECK-NEXT:        store %a[0], 1.0
// CHECK-NEXT:        store %1[0], true
// CHECK-NEXT:      }
// CHECK-NEXT:      %31 = load %1[0]
// CHECK-NEXT:      %32 = or %12, %31
// CHECK-NEXT:      if %32 {
// CHECK-NEXT:        %33 = load %1[0]
// CHECK-NEXT:        %34 = not %33
// CHECK-NEXT:        if %34 {
// CHECK-NEXT:        }
// CHECK-NEXT:        store %1[0], false
// CHECK-NEXT:        %35 = load %a[0]
// CHECK-NEXT:        %36 = add %35, 2.0
// CHECK-NEXT:        store %a[0], %36
// CHECK-NEXT:      }
// CHECK-NEXT:      %37 = load %i[0]
// CHECK-NEXT:      %38 = load %a[0]
// CHECK-NEXT:      %39 = gt %38, 3.0
// CHECK-NEXT:      if %39 {
// CHECK-NEXT:        %40 = load %a[0]
// CHECK-NEXT:        store %0[0], %40
// CHECK-NEXT:      } else {
// CHECK-NEXT:        %41 = load %a[0]
// CHECK-NEXT:        %42 = neg %41
// CHECK-NEXT:        store %0[0], %42
// CHECK-NEXT:      }
// CHECK-NEXT:      %43 = load %0[0]
// CHECK-NEXT:      store %y[%37], %43
// CHECK-NEXT:    }
// CHECK-NEXT:  }
