// Advice is in the words of C++.
// clang-format off
// RUN: not adc %s 2>&1 | FileCheck %s
#include <adc/kernel.hpp>
using Buffer = adc::diff<adc::buffer<double, 1>>;

// CHECK: error: {{.*}} may be overwritten there afterwards [E0401]
// CHECK: help: write to another buffer or in another kernel, let the kernel save the value (--save-overwritten), or mark '%x' 'adc::settled<...>' if no element is written after it was read
ADC_KERNEL void own(Buffer x) {
  adc::parallel(x.extent(0), [&](int i) { x[i] = std::sin(x[i]); });
}
// CHECK: error: {{.*}} may be written by another iteration of the parallel loop [E0404]
// CHECK: help: read from a buffer that the loop does not write, run the loop in order with 'adc::serial', or mark '%y' 'adc::disjoint<...>' if no other iteration writes it
ADC_KERNEL void tree(Buffer x, Buffer y, adc::buffer<int, 1> up) {
  adc::parallel(x.extent(0), [&](int i) { y[i] = y[up[i]] + x[i]; });
}
// CHECK: warning: two iterations {{.*}} [W0404]
// CHECK: help: use an atomic, or mark '%y' 'adc::disjoint<...>' if no two iterations do: 'adc::checked<...>' promises the same, and each launch is checked for it
ADC_KERNEL void scatter(Buffer x, Buffer y, adc::buffer<int, 1> to) {
  adc::parallel(x.extent(0), [&](int i) { y[to[i]] = x[i]; });
}
