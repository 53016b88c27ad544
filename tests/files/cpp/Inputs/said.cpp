#include <adc/kernel.hpp>

ADC_KERNEL void said(adc::buffer<float, 1> x, int n) {
  adc::print("{} times", n);
  adc::parallel(x.extent(0), [&](int i) {
    float v = x[i];
    for (int t = 0; t < n; ++t, v *= 0.5f) adc::print("x[{}] is {} in turn {}", i, v, t);
    x[i] = v;
  });
}
