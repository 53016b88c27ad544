#include <adc/kernel.hpp>
#include <cmath>

#include "half.h"

ADC_KERNEL void one(adc::buffer<float, 1> x) {
  adc::parallel(x.extent(0), [&](int i) {
    float v = Half(x[i]);
    x[i] = std::sqrt(v);
  });
}
