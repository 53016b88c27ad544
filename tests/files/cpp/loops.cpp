// Loops that count are `for`, whatever types their indices and bounds have; those that something else may end
// have a bound. Short loops over local arrays are unrolled, also where they may end early.
// clang-format off
// RUN: adc %s --emit=ir --stop-after=isolate-tasks -o - | FileCheck %s
// RUN: adc gradcheck %s --kernel small_break --arg x=random[4] --shape y=4 --arg k=zeros[5] --arg n=3 --arg u=3 --arg l=3 --points 2
// RUN: not adc --target=cpu -o %t.adcb %s -- -DOPEN 2>&1 | FileCheck %s --check-prefix=OPEN
#include <adc/kernel.hpp>
#include <array>
using B = adc::diff<adc::buffer<double, 1>>;
using I = adc::buffer<int, 1>;
#define K(name, ...) ADC_KERNEL void name(B x, B y, I k, int n, unsigned u, long l) { adc::parallel(y.extent(0), [&](int t) { double v = x[t]; __VA_ARGS__ y[t] = v; }); }
// CHECK-LABEL: kernel @up(
// CHECK: for %i in 0..%n carry
K(up, for (int i = 0; i < n; ++i) v = std::sin(v);)
// CHECK-LABEL: kernel @to_extent(
// CHECK: for %i in 0..%{{[0-9]+}} carry
K(to_extent, for (int i = 0; i < static_cast<unsigned long>(x.extent(0)); ++i) v = std::sin(v) * x[i];)
// CHECK-LABEL: kernel @rows(
// CHECK: for %i{{[.0-9]*}} in %i..%{{[0-9]+}} carry
K(rows, for (int i = k[t]; i < k[t + 1]; ++i) v = std::sin(v) * x[i];)
// CHECK-LABEL: kernel @down(
// CHECK: for {{.*}} carry
K(down, for (int i = n - 1; i >= 0; --i) v = std::sin(v) * i;)
// CHECK-LABEL: kernel @threes(
// CHECK: for %i in 0..%n step 3 carry
K(threes, for (int i = 0; i < n; i += 3) v = std::sin(v) * i;)
// CHECK-LABEL: kernel @size(
// CHECK: for %i in 0..%{{[0-9]+}} carry
K(size, for (int i = 0; i < static_cast<unsigned long>(l); ++i) v = std::sin(v) * i;)
// CHECK-LABEL: kernel @inclusive(
// CHECK: for %{{i|[0-9]+}} in {{.*}} carry
K(inclusive, for (long i = 0; i <= l; ++i) v = std::sin(v) * i;)
// CHECK-LABEL: kernel @by_while(
// CHECK: for %i in 0..%n carry
K(by_while, int i = 0; while (i < n) { v = std::sin(v); ++i; })
// CHECK-LABEL: kernel @more(
// CHECK: while max %{{[0-9]+}} carry
K(more, for (int i = 0; i < n && v > 0.1; ++i) v = std::sin(v) * x[i];)
// CHECK-LABEL: kernel @breaks(
// CHECK: while max %{{[0-9]+}} carry
K(breaks, for (int i = 0; i < n; ++i) { if (v < 0.1) break; v = std::sin(v) * x[i]; })
// An index and a bound that change.
// CHECK-LABEL: kernel @moves(
// CHECK: while carry
// CHECK: while carry
K(moves, for (int i = 0; i < n; ++i) { v = std::sin(v); if (v < 0.1) ++i; } int m = n; for (int i = 0; i < m; ++i) { v = std::sin(v); if (v < 0.1) m -= 2; })
// CHECK-LABEL: kernel @small(
// CHECK-NOT: {{alloca|for %|while}}
K(small, double a[4] = {}; for (int i = 0; i < 4; ++i) a[i] = x[i] * v; for (int i = 3; i >= 0; --i) v = std::sin(v) * a[i];)
// CHECK-LABEL: kernel @small_break(
// CHECK-NOT: {{alloca|for %|while}}
K(small_break, double a[4] = {}; for (int i = 0; i < 4; ++i) { if (v < 0.1) break; a[i] = x[i] * v; v = std::sin(v) + a[i]; } v += a[2];)
// Tasks in a loop, which has three of them.
// CHECK-LABEL: kernel @tasks(
// CHECK-COUNT-3: parallel
// CHECK-NOT: parallel
ADC_KERNEL void tasks(B x, B y, int n) {
  for (int s = 0; s < 3; ++s) {
    if (s == n) break;
    adc::parallel(y.extent(0), [&](int t) { y[t] += std::sin(x[t]) * s; });
  }
}
#ifdef OPEN
// OPEN: :[[#@LINE+2]]:3: error: a loop around adc::parallel counts between constants [E0303]
ADC_KERNEL void parallel_in_loop(B y, int n) {
  for (int t = 0; t < n; ++t) adc::parallel(y.extent(0), [&](int i) { y[i] += 1; });
}
// OPEN: :[[#@LINE+2]]:3: error: a loop around adc::parallel counts between constants [E0303]
ADC_KERNEL void parallel_in_endless_loop(B y, int n) {
  while (true) adc::parallel(y.extent(0), [&](int i) { y[i] += 1; });
}
#endif
