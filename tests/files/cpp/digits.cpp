// Digits of an index and images behind their bounds, as C++ writes them: stores that do not meet, and near
// misses. RUN: adc %s -o %t 2>&1 | FileCheck %s --implicit-check-not=W0404
#include <adc/kernel.hpp>

using In = adc::diff<adc::buffer<float, 1>>;
using Out = adc::diff<adc::buffer<float, 2>>;

ADC_KERNEL void divided(In a, Out b) {
  adc::parallel(a.extent(0), [&](int i) { b(i / b.extent(1), i % b.extent(1)) = std::sin(a[i]); });
}
ADC_KERNEL void shifted(In a, Out b) {
  adc::parallel(a.extent(0), [&](int i) { b(i >> 2, i & 3) = std::sin(a[i]); });
}
ADC_KERNEL void without_sign(In a, In b, unsigned n, int rows) {
  adc::parallel(rows * static_cast<int>(n), [&](int i) {
    unsigned u = i, p = u / n, q = u - p * n;
    b[p * n + q] = std::sin(a[i]);
  });
}
ADC_KERNEL void image(In a, In b, int w, int h) {
  adc::parallel(512, 512, [&](int x, int y) {
    if (x >= w || y >= h) return;
    b[y * w + x] = std::sin(a[y * w + x]);
  });
}

ADC_KERNEL void other_radix(In a, Out b) {
  adc::parallel(a.extent(0), [&](int i) { b(i / 4, i % 3) = std::sin(a[i]); });
}
// CHECK: digits.cpp:[[#@LINE-2]]:{{.*}} warning: two iterations {{.*}} [W0404]
ADC_KERNEL void one_more(In a, In b, int w, int h) {
  adc::parallel(512, 512, [&](int x, int y) {
    if (x > w || y >= h) return;
    b[y * w + x] = std::sin(a[y * w + x]);
  });
}
// CHECK: digits.cpp:[[#@LINE-3]]:{{.*}} warning: two iterations {{.*}} [W0404]
