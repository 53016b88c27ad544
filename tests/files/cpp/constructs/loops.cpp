// Loops are while; a condition that assigns is the first statement of its body, and do asks a variable. A
// loop over an array is a for.
// clang-format off
// RUN: adc %s -w --emit=ir --stop-after=parse -o - | grep -v "^ *//" | FileCheck --match-full-lines %s
#include <adc/kernel.hpp>
using In = adc::buffer<const float, 1>;
using Out = adc::buffer<float, 1>;
ADC_KERNEL void counted(In x, Out y, int n) {
  adc::parallel(n, [&](int i) {
    float a = 0.0f;
    for (int k = 0; k < n; ++k) {
      if (x(k) < 0.0f) continue;
      if (x(k) > 9.0f) break;
      a += x(k);
    }
    y(i) = a;
  });
}
ADC_KERNEL void tested(In x, Out y, int n) {
  adc::parallel(n, [&](int i) {
    float a = x(i);
    int left = n;
    while (left-- > 0) a = a * 0.5f;
    do a += 1.0f; while (a < 0.0f);
    y(i) = a;
  });
}
ADC_KERNEL void ranged(In x, Out y, int n) {
  adc::parallel(n, [&](int i) {
    float w[3] = {1.0f, 2.0f, 3.0f};
    float a = 0.0f;
    for (float v : w) a += v * x(i);
    y(i) = a;
  });
}
ADC_KERNEL void segments(In x, Out y, int n) {
  adc::parallel(n, [&](int i) {
    float a = x(i);
    for (int k = 0; k < n; ++k) {
      adc::checkpoint(8);
      a = std::sin(a);
    }
    y(i) = a;
  });
}
// CHECK-LABEL: kernel @counted(%x: buffer<f32, 1> readonly, %y: buffer<f32, 1>, %n: i32) {
// CHECK-NEXT:    %n.1 = alloca array<i32, 1>
// CHECK-NEXT:    store %n.1[0], %n
// CHECK-NEXT:    parallel %i in 0..%n {
// CHECK-NEXT:      %0 = alloca array<i32, 1>
// CHECK-NEXT:      store %0[0], %i
// CHECK-NEXT:      %a = alloca array<f32, 1>
// CHECK-NEXT:      store %a[0], 0.0
// CHECK-NEXT:      %k = alloca array<i32, 1>
// CHECK-NEXT:      store %k[0], 0
// CHECK-NEXT:      while no_wrap {
// CHECK-NEXT:        %1 = load %k[0]
// CHECK-NEXT:        %2 = load %n.1[0]
// CHECK-NEXT:        %3 = lt %1, %2
// CHECK-NEXT:        continue_if %3
// CHECK-NEXT:      } do {
// CHECK-NEXT:        %4 = load %x[%1]
// CHECK-NEXT:        %5 = lt %4, 0.0
// CHECK-NEXT:        if %5 {
// CHECK-NEXT:          %6 = add %1, 1
// CHECK-NEXT:          store %k[0], %6
// CHECK-NEXT:          continue
// CHECK-NEXT:        }
// CHECK-NEXT:        %7 = load %x[%1]
// CHECK-NEXT:        %8 = gt %7, 9.0
// CHECK-NEXT:        if %8 {
// CHECK-NEXT:          break
// CHECK-NEXT:        }
// CHECK-NEXT:        %9 = load %x[%1]
// CHECK-NEXT:        %10 = load %a[0]
// CHECK-NEXT:        %11 = add %10, %9
// CHECK-NEXT:        store %a[0], %11
// CHECK-NEXT:        %12 = add %1, 1
// CHECK-NEXT:        store %k[0], %12
// CHECK-NEXT:      }
// CHECK-NEXT:      %13 = load %a[0]
// CHECK-NEXT:      store %y[%i], %13
// CHECK-NEXT:    }
// CHECK-NEXT:  }
// CHECK-LABEL: kernel @tested(%x: buffer<f32, 1> readonly, %y: buffer<f32, 1>, %n: i32) {
// CHECK-NEXT:    %n.1 = alloca array<i32, 1>
// CHECK-NEXT:    store %n.1[0], %n
// CHECK-NEXT:    parallel %i in 0..%n {
// CHECK-NEXT:      %0 = alloca array<i32, 1>
// CHECK-NEXT:      store %0[0], %i
// CHECK-NEXT:      %1 = load %x[%i]
// CHECK-NEXT:      %a = alloca array<f32, 1>
// CHECK-NEXT:      store %a[0], %1
// CHECK-NEXT:      %left = alloca array<i32, 1>
// CHECK-NEXT:      store %left[0], %n
// CHECK-NEXT:      while no_wrap {
// CHECK-NEXT:        continue_if true
// CHECK-NEXT:      } do {
// CHECK-NEXT:        %2 = load %left[0]
// CHECK-NEXT:        %3 = sub %2, 1
// CHECK-NEXT:        store %left[0], %3
// CHECK-NEXT:        %4 = gt %2, 0
// CHECK-NEXT:        %5 = not %4
// CHECK-NEXT:        if %5 {
// CHECK-NEXT:          break
// CHECK-NEXT:        }
// CHECK-NEXT:        %6 = load %a[0]
// CHECK-NEXT:        %7 = mul %6, 0.5
// CHECK-NEXT:        store %a[0], %7
// CHECK-NEXT:      }
// CHECK-NEXT:      %8 = alloca array<i1, 1>
// CHECK-NEXT:      store %8[0], true
// CHECK-NEXT:      while no_wrap {
// CHECK-NEXT:        %9 = load %8[0]
// CHECK-NEXT:        continue_if %9
// CHECK-NEXT:      } do {
// CHECK-NEXT:        %10 = load %a[0]
// CHECK-NEXT:        %11 = add %10, 1.0
// CHECK-NEXT:        store %a[0], %11
// CHECK-NEXT:        %12 = lt %11, 0.0
// CHECK-NEXT:        store %8[0], %12
// CHECK-NEXT:      }
// CHECK-NEXT:      %13 = load %a[0]
// CHECK-NEXT:      store %y[%i], %13
// CHECK-NEXT:    }
// CHECK-NEXT:  }
// CHECK-LABEL: kernel @ranged(%x: buffer<f32, 1> readonly, %y: buffer<f32, 1>, %n: i32) {
// CHECK-NEXT:    %n.1 = alloca array<i32, 1>
// CHECK-NEXT:    store %n.1[0], %n
// CHECK-NEXT:    parallel %i in 0..%n {
// CHECK-NEXT:      %0 = alloca array<i32, 1>
// CHECK-NEXT:      store %0[0], %i
// CHECK-NEXT:      %w = alloca array<f32, 3>
// CHECK-NEXT:      store %w[0], 1.0
// CHECK-NEXT:      store %w[1], 2.0
// CHECK-NEXT:      store %w[2], 3.0
// CHECK-NEXT:      %a = alloca array<f32, 1>
// CHECK-NEXT:      store %a[0], 0.0
// CHECK-NEXT:      for %1 in 0..3 {
// CHECK-NEXT:        %v = alloca array<f32, 1>
// CHECK-NEXT:        %2 = load %w[%1]
// CHECK-NEXT:        store %v[0], %2
// CHECK-NEXT:        %3 = load %0[0]
// CHECK-NEXT:        %4 = load %x[%3]
// CHECK-NEXT:        %5 = mul %2, %4
// CHECK-NEXT:        %6 = load %a[0]
// CHECK-NEXT:        %7 = add %6, %5
// CHECK-NEXT:        store %a[0], %7
// CHECK-NEXT:      }
// CHECK-NEXT:      %8 = load %a[0]
// CHECK-NEXT:      store %y[%i], %8
// CHECK-NEXT:    }
// CHECK-NEXT:  }
// CHECK-LABEL: kernel @segments(%x: buffer<f32, 1> readonly, %y: buffer<f32, 1>, %n: i32) {
// CHECK-NEXT:    %n.1 = alloca array<i32, 1>
// CHECK-NEXT:    store %n.1[0], %n
// CHECK-NEXT:    parallel %i in 0..%n {
// CHECK-NEXT:      %0 = alloca array<i32, 1>
// CHECK-NEXT:      store %0[0], %i
// CHECK-NEXT:      %1 = load %x[%i]
// CHECK-NEXT:      %a = alloca array<f32, 1>
// CHECK-NEXT:      store %a[0], %1
// CHECK-NEXT:      %k = alloca array<i32, 1>
// CHECK-NEXT:      store %k[0], 0
// CHECK-NEXT:      while no_wrap checkpoint 8 {
// CHECK-NEXT:        %2 = load %k[0]
// CHECK-NEXT:        %3 = load %n.1[0]
// CHECK-NEXT:        %4 = lt %2, %3
// CHECK-NEXT:        continue_if %4
// CHECK-NEXT:      } do {
// CHECK-NEXT:        %5 = load %a[0]
// CHECK-NEXT:        %6 = sin %5
// CHECK-NEXT:        store %a[0], %6
// CHECK-NEXT:        %7 = add %2, 1
// CHECK-NEXT:        store %k[0], %7
// CHECK-NEXT:      }
// CHECK-NEXT:      %8 = load %a[0]
// CHECK-NEXT:      store %y[%i], %8
// CHECK-NEXT:    }
// CHECK-NEXT:  }
