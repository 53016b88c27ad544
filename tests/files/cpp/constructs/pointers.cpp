// A pointer is an array that the compiler knows, and an index.
// clang-format off
// RUN: adc %s -w --emit=ir --stop-after=parse -o - | grep -v "^ *//" | FileCheck --match-full-lines %s
#include <adc/kernel.hpp>
using In = adc::buffer<const float, 1>;
using Out = adc::buffer<float, 1>;
ADC_KERNEL void pointers(In x, Out y, int n) {
  adc::parallel(n, [&](int i) {
    float w[4] = {1.0f, 2.0f, 3.0f, 4.0f};
    float* p = w;
    ++p;
    *p += 0.5f;
    p[1] = x(i);
    const float* end = w + 4;
    float sum = 0.0f;
    for (const float* q = w; q != end; ++q) sum += *q;
    y(i) = sum;
  });
}
// CHECK-LABEL: kernel @pointers(%x: buffer<f32, 1> readonly, %y: buffer<f32, 1>, %n: i32) {
// CHECK-NEXT:    %n.1 = alloca array<i32, 1>
// CHECK-NEXT:    store %n.1[0], %n
// CHECK-NEXT:    parallel %i in 0..%n {
// CHECK-NEXT:      %0 = alloca array<i32, 1>
// CHECK-NEXT:      store %0[0], %i
// CHECK-NEXT:      %w = alloca array<f32, 4>
// CHECK-NEXT:      store %w[0], 1.0
// CHECK-NEXT:      store %w[1], 2.0
// CHECK-NEXT:      store %w[2], 3.0
// CHECK-NEXT:      store %w[3], 4.0
// CHECK-NEXT:      %1 = alloca array<i64, 1>
// CHECK-NEXT:      %2 = alloca array<i32, 1>
// CHECK-NEXT:      store %2[0], 0
// CHECK-NEXT:      store %2[0], 1
// CHECK-NEXT:      %3 = load %w[1]
// CHECK-NEXT:      %4 = add %3, 0.5
// CHECK-NEXT:      store %w[1], %4
// CHECK-NEXT:      %5 = load %x[%i]
// CHECK-NEXT:      store %w[2], %5
// CHECK-NEXT:      %6 = alloca array<i64, 1>
// CHECK-NEXT:      %7 = alloca array<i32, 1>
// CHECK-NEXT:      store %7[0], 4
// CHECK-NEXT:      %sum = alloca array<f32, 1>
// CHECK-NEXT:      store %sum[0], 0.0
// CHECK-NEXT:      %8 = alloca array<i64, 1>
// CHECK-NEXT:      %9 = alloca array<i32, 1>
// CHECK-NEXT:      store %9[0], 0
// CHECK-NEXT:      while no_wrap {
// CHECK-NEXT:        %10 = load %9[0]
// CHECK-NEXT:        %11 = ne %10, 4
// CHECK-NEXT:        continue_if %11
// CHECK-NEXT:      } do {
// CHECK-NEXT:        %12 = load %w[%10]
// CHECK-NEXT:        %13 = load %sum[0]
// CHECK-NEXT:        %14 = add %13, %12
// CHECK-NEXT:        store %sum[0], %14
// CHECK-NEXT:        %15 = add %10, 1
// CHECK-NEXT:        store %9[0], %15
// CHECK-NEXT:      }
// CHECK-NEXT:      %16 = load %sum[0]
// CHECK-NEXT:      store %y[%i], %16
// CHECK-NEXT:    }
// CHECK-NEXT:  }
