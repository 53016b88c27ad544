// Attributes of parameters are templates around their types, in any order.
// clang-format off
// RUN: adc %s --emit=ir --derive=none -o - | FileCheck %s
// RUN: adc run %s --check-writes --threads 1 --kernel update --arg m=ones[3] --arg "ids=[2,0,1]" | FileCheck %s --check-prefix=HOLDS
// RUN: not adc run %s --check-writes --threads 1 --kernel update --arg m=ones[3] --arg "ids=[2,0,2]" 2>&1 | FileCheck %s --check-prefix=BROKEN
#include <adc/kernel.hpp>

// CHECK: kernel @update(%m: buffer<f64, 1> diff disjoint, %ids: buffer<i32, 1> readonly)
// HOLDS: m: {{.*}} = 2.0 2.0 2.0
// BROKEN: attributes.cpp:[[#@LINE+2]]:{{[0-9]+}}: two iterations of one parallel loop meet in an element of 'm', and one of them writes it; the other one is iteration 0
ADC_KERNEL void update(adc::disjoint<adc::diff<adc::buffer<double, 1>>> m, adc::readonly<adc::buffer<int, 1>> ids) {
  adc::parallel(ids.extent(0), [&](int i) { m[ids[i]] = m[ids[i]] + 1.0; });
}
// CHECK: kernel @step(%x: buffer<f64, 1> diff save, %y: buffer<f64, 1> diff settled)
ADC_KERNEL void step(adc::diff<adc::save<adc::buffer<double, 1>>> x, adc::settled<adc::diff<adc::buffer<double, 1>>> y) {
  adc::parallel(x.extent(0), [&](int i) { y[i] = x[i] * x[i]; });
}
