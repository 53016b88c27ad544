// Functions stand where they are called. A return from inside of something leaves a scope; at the end there
// is none. References are the variables themselves.
// clang-format off
// RUN: adc %s -w --emit=ir --stop-after=parse -o - | grep -v "^ *//" | FileCheck --match-full-lines %s
#include <adc/kernel.hpp>
using In = adc::buffer<const float, 1>;
using Out = adc::buffer<float, 1>;
static float half(float v) { return 0.5f * v; }
static float first_above(In x, float limit, int n) {
  for (int k = 0; k < n; ++k)
    if (x(k) > limit) return x(k);
  return limit;
}
static void raise(float& v, float by) { v += by; }
ADC_KERNEL void calls(In x, Out y, int n) {
  adc::parallel(n, [&](int i) {
    float a = half(x(i));
    raise(a, first_above(x, a, n));
    auto twice = [&](float v) { a += v; return 2.0f * v; };
    y(i) = twice(a);
  });
}
// CHECK-LABEL: kernel @calls(%x: buffer<f32, 1> readonly, %y: buffer<f32, 1>, %n: i32) {
// CHECK-NEXT:    %n.1 = alloca array<i32, 1>
// CHECK-NEXT:    store %n.1[0], %n
// CHECK-NEXT:    parallel %i in 0..%n {
// CHECK-NEXT:      %0 = alloca array<i32, 1>
// CHECK-NEXT:      store %0[0], %i
// CHECK-NEXT:      %1 = load %x[%i]
// CHECK-NEXT:      %v = alloca array<f32, 1>
// CHECK-NEXT:      store %v[0], %1
// CHECK-NEXT:      %2 = alloca array<f32, 1>
// CHECK-NEXT:      %3 = mul 0.5, %1
// CHECK-NEXT:      store %2[0], %3
// CHECK-NEXT:      %a = alloca array<f32, 1>
// CHECK-NEXT:      store %a[0], %3
// CHECK-NEXT:      %limit = alloca array<f32, 1>
// CHECK-NEXT:      store %limit[0], %3
// CHECK-NEXT:      %n.2 = alloca array<i32, 1>
// CHECK-NEXT:      store %n.2[0], %n
// CHECK-NEXT:      %4 = alloca array<f32, 1>
// CHECK-NEXT:      %k = alloca array<i32, 1>
// CHECK-NEXT:      store %k[0], 0
// CHECK-NEXT:      scope %5 {
// CHECK-NEXT:        while no_wrap {
// CHECK-NEXT:          %6 = load %k[0]
// CHECK-NEXT:          %7 = load %n.2[0]
// CHECK-NEXT:          %8 = lt %6, %7
// CHECK-NEXT:          continue_if %8
// CHECK-NEXT:        } do {
// CHECK-NEXT:          %9 = load %x[%6]
// CHECK-NEXT:          %10 = load %limit[0]
// CHECK-NEXT:          %11 = gt %9, %10
// CHECK-NEXT:          if %11 {
// CHECK-NEXT:            %12 = load %x[%6]
// CHECK-NEXT:            store %4[0], %12
// CHECK-NEXT:            exit %5
// CHECK-NEXT:          }
// CHECK-NEXT:          %13 = add %6, 1
// CHECK-NEXT:          store %k[0], %13
// CHECK-NEXT:        }
// CHECK-NEXT:        store %4[0], %3
// CHECK-NEXT:      }
// CHECK-NEXT:      %14 = load %4[0]
// CHECK-NEXT:      %by = alloca array<f32, 1>
// CHECK-NEXT:      store %by[0], %14
// CHECK-NEXT:      %15 = add %3, %14
// CHECK-NEXT:      store %a[0], %15
// CHECK-NEXT:      %v.1 = alloca array<f32, 1>
// CHECK-NEXT:      store %v.1[0], %15
// CHECK-NEXT:      %16 = alloca array<f32, 1>
// CHECK-NEXT:      %17 = add %15, %15
// CHECK-NEXT:      store %a[0], %17
// CHECK-NEXT:      %18 = mul 2.0, %15
// CHECK-NEXT:      store %16[0], %18
// CHECK-NEXT:      store %y[%i], %18
// CHECK-NEXT:    }
// CHECK-NEXT:  }
