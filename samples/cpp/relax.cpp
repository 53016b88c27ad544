// relax.cpp: a loop-carried, non-linear recurrence per element, summed into a loss.
//
// The kernel of relax.ir as a C++ function: `adc relax.cpp` makes the same bundle, and the function runs on
// the host.

#include <adc/kernel.hpp>

ADC_KERNEL void relax(adc::diff<adc::buffer<float, 1>> x, adc::diff<adc::buffer<float, 0>> loss, int n) {
  adc::parallel(x.extent(0), [&](int i) {
    float v = x[i];
    for (int t = 0; t < n; ++t) v = std::sin(v) + 0.1f;
    adc::atomic_add(loss(), v);
  });
}
