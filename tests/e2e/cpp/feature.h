// A kernel of one small function that reads x (16 numbers between 0.2 and 2) and n (5) and stores y (8
// numbers). cpp_features.cpp runs the function on the host and the kernel that adc makes of it, and compares
// values and gradients.

#pragma once

#include <adc/kernel.hpp>

using In = adc::readonly<adc::diff<adc::buffer<double, 1>>>;
using Out = adc::diff<adc::buffer<double, 1>>;
using V3 = adc::vec<double, 3>;
using M3 = adc::mat<double, 3, 3>;

#define FEATURE(name, ...)                                                                             \
  ADC_KERNEL void name(In x, Out y, [[maybe_unused]] int n) {                                          \
    adc::parallel(y.extent(0), [&]([[maybe_unused]] int i) { y[i] = [&]() -> double __VA_ARGS__(); }); \
  }
