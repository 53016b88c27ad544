// std::lerp has the slope of its line at t = 1 too, where the library returns its second argument, and where
// rounding takes the line to it.

// clang-format off
// RUN: adc --target=cpu -o %t.adcb %s
// RUN: adc run --trust %t.adcb --kernel k --arg t=[0,0.5,1,1.5] --arg y=zeros[4] | FileCheck %s --check-prefix=VALUE
// RUN: adc run --trust %t.adcb --kernel k.grad --arg t=[0,0.5,1,0.99999999999999989] --arg y=zeros[4] --arg y.adj=[1,1,1,1] | FileCheck %s
// VALUE: y: buffer<f64, 1> [4] = 1.0 2.0 3.0 4.0
// CHECK: t.adj: buffer<f64, 1> [4] = 2.0 2.0 2.0 2.0
// clang-format on

#include <adc/kernel.hpp>
#include <cmath>

ADC_KERNEL void k(adc::diff<adc::buffer<double, 1>> t, adc::diff<adc::buffer<double, 1>> y) {
  adc::parallel(y.extent(0), [&](int i) { y[i] = std::lerp(1.0, 3.0, t[i]); });
}
