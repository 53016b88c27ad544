// Branches store; a choice between cheap values is a select, one between others a variable. A constant
// condition leaves one branch, and the statements after a branch that leaves follow it.
// clang-format off
// RUN: adc %s -w --emit=ir --stop-after=parse -o - | grep -v "^ *//" | FileCheck --match-full-lines %s
#include <adc/kernel.hpp>
using In = adc::buffer<const float, 1>;
using Out = adc::buffer<float, 1>;
ADC_KERNEL void branches(In x, Out y, int n) {
  adc::parallel(n, [&](int i) {
    float a = x(i);
    if (a > 1.0f) a = 1.0f; else if (a < 0.0f) a = -a;
    int kind = 3;
    if (kind == 4) a = 99.0f;
    bool both = a > 0.1f && n > 4;
    bool any = a > 0.9f || x(i + 1) > 0.5f;
    float c = both ? a : 2.0f;
    float d = any ? std::sqrt(a) : c;
    y(i) = d;
  });
}
ADC_KERNEL void leaves(In x, Out y, int n) {
  adc::parallel(n, [&](int i) {
    if (x(i) < 0.0f) return;
    y(i) = x(i);
  });
}
// CHECK-LABEL: kernel @branches(%x: buffer<f32, 1> readonly, %y: buffer<f32, 1>, %n: i32) {
// CHECK-NEXT:    %n.1 = alloca array<i32, 1>
// CHECK-NEXT:    store %n.1[0], %n
// CHECK-NEXT:    parallel %i in 0..%n {
// CHECK-NEXT:      %0 = alloca array<i32, 1>
// CHECK-NEXT:      store %0[0], %i
// CHECK-NEXT:      %1 = load %x[%i]
// CHECK-NEXT:      %a = alloca array<f32, 1>
// CHECK-NEXT:      store %a[0], %1
// CHECK-NEXT:      %2 = gt %1, 1.0
// CHECK-NEXT:      if %2 {
// CHECK-NEXT:        store %a[0], 1.0
// CHECK-NEXT:      } else {
// CHECK-NEXT:        %3 = lt %1, 0.0
// CHECK-NEXT:        if %3 {
// CHECK-NEXT:          %4 = neg %1
// CHECK-NEXT:          store %a[0], %4
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:      %kind = alloca array<i32, 1>
// CHECK-NEXT:      store %kind[0], 3
// CHECK-NEXT:      %5 = load %a[0]
// CHECK-NEXT:      %6 = gt %5, 0.1
// CHECK-NEXT:      %7 = gt %n, 4
// CHECK-NEXT:      %8 = and %6, %7
// CHECK-NEXT:      %both = alloca array<i1, 1>
// CHECK-NEXT:      store %both[0], %8
// CHECK-NEXT:      %9 = gt %5, 0.9
// CHECK-NEXT:      %10 = alloca array<i1, 1>
// CHECK-NEXT:      if %9 {
// CHECK-NEXT:        store %10[0], true
// CHECK-NEXT:      } else {
// CHECK-NEXT:        %11 = add %i, 1
// CHECK-NEXT:        %12 = load %x[%11]
// CHECK-NEXT:        %13 = gt %12, 0.5
// CHECK-NEXT:        store %10[0], %13
// CHECK-NEXT:      }
// CHECK-NEXT:      %14 = load %10[0]
// CHECK-NEXT:      %any = alloca array<i1, 1>
// CHECK-NEXT:      store %any[0], %14
// CHECK-NEXT:      %15 = select %8, %5, 2.0
// CHECK-NEXT:      %c = alloca array<f32, 1>
// CHECK-NEXT:      store %c[0], %15
// CHECK-NEXT:      %16 = alloca array<f32, 1>
// CHECK-NEXT:      if %14 {
// CHECK-NEXT:        %17 = sqrt %5
// CHECK-NEXT:        store %16[0], %17
// CHECK-NEXT:      } else {
// CHECK-NEXT:        store %16[0], %15
// CHECK-NEXT:      }
// CHECK-NEXT:      %18 = load %16[0]
// CHECK-NEXT:      %d = alloca array<f32, 1>
// CHECK-NEXT:      store %d[0], %18
// CHECK-NEXT:      store %y[%i], %18
// CHECK-NEXT:    }
// CHECK-NEXT:  }
// CHECK-LABEL: kernel @leaves(%x: buffer<f32, 1> readonly, %y: buffer<f32, 1>, %n: i32) {
// CHECK-NEXT:    %n.1 = alloca array<i32, 1>
// CHECK-NEXT:    store %n.1[0], %n
// CHECK-NEXT:    parallel %i in 0..%n {
// CHECK-NEXT:      %0 = alloca array<i32, 1>
// CHECK-NEXT:      store %0[0], %i
// CHECK-NEXT:      %1 = load %x[%i]
// CHECK-NEXT:      %2 = lt %1, 0.0
// CHECK-NEXT:      scope %3 {
// CHECK-NEXT:        if %2 {
// CHECK-NEXT:          exit %3
// CHECK-NEXT:        }
// CHECK-NEXT:        %4 = load %x[%i]
// CHECK-NEXT:        store %y[%i], %4
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:  }
