// A copy of the header, by another name and in another folder, is the header.
// RUN: rm -rf %t && mkdir %t && cp %S/../../../include/adc/blocks.hpp %t
// RUN: cp %S/../../../include/adc/kernel.hpp %t/other.hpp
// RUN: adc %s -I %t --allow-imports=%t --emit=ir --stop-after=isolate-tasks -o - | FileCheck %s
#include "other.hpp"

// CHECK-LABEL: kernel @sums
ADC_KERNEL void sums(adc::buffer<const float, 1> x, adc::buffer<float, 0> y) {
  // CHECK: parallel
  adc::parallel(x.extent(0), [&](int i) {
    // CHECK: atomic add
    adc::atomic_add(y(), adc::dot(adc::vec<float, 2>{x[i], 2}, adc::vec<float, 2>{x[i], 3}));
  });
}
