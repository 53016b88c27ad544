// Variables are arrays of one element. Where a value is known it is not loaded again, and constants fold.
// clang-format off
// RUN: adc %s -w --emit=ir --stop-after=parse -o - | grep -v "^ *//" | FileCheck --match-full-lines %s
#include <adc/kernel.hpp>
using In = adc::buffer<const float, 1>;
using Out = adc::buffer<float, 1>;
ADC_KERNEL void variables(In x, Out y, int n) {
  adc::parallel(n, [&](int i) {
    float a = x(i), b = a;
    int k = 2;
    k += 3;
    b += a * float(k++);
    int old = k--;
    { float a = 7.0f; b -= a; }
    y(i) = (b = 0.5f * b, b) + float(old);
  });
}
// CHECK-LABEL: kernel @variables(%x: buffer<f32, 1> readonly, %y: buffer<f32, 1>, %n: i32) {
// CHECK-NEXT:    %n.1 = alloca array<i32, 1>
// CHECK-NEXT:    store %n.1[0], %n
// CHECK-NEXT:    parallel %i in 0..%n {
// CHECK-NEXT:      %0 = alloca array<i32, 1>
// CHECK-NEXT:      store %0[0], %i
// CHECK-NEXT:      %1 = load %x[%i]
// CHECK-NEXT:      %a = alloca array<f32, 1>
// CHECK-NEXT:      store %a[0], %1
// CHECK-NEXT:      %b = alloca array<f32, 1>
// CHECK-NEXT:      store %b[0], %1
// CHECK-NEXT:      %k = alloca array<i32, 1>
// CHECK-NEXT:      store %k[0], 2
// CHECK-NEXT:      store %k[0], 5
// CHECK-NEXT:      store %k[0], 6
// CHECK-NEXT:      %2 = mul %1, 5.0
// CHECK-NEXT:      %3 = add %1, %2
// CHECK-NEXT:      store %b[0], %3
// CHECK-NEXT:      store %k[0], 5
// CHECK-NEXT:      %old = alloca array<i32, 1>
// CHECK-NEXT:      store %old[0], 6
// CHECK-NEXT:      %a.1 = alloca array<f32, 1>
// CHECK-NEXT:      store %a.1[0], 7.0
// CHECK-NEXT:      %4 = sub %3, 7.0
// CHECK-NEXT:      store %b[0], %4
// CHECK-NEXT:      %5 = mul 0.5, %4
// CHECK-NEXT:      store %b[0], %5
// CHECK-NEXT:      %6 = add %5, 6.0
// CHECK-NEXT:      store %y[%i], %6
// CHECK-NEXT:    }
// CHECK-NEXT:  }
