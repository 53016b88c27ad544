#include "relax_primal.h"

#include <cmath>

namespace adc::bench {

float RelaxPrimal(const float* x, size_t begin, size_t end, int steps) {
  float loss = 0.0f;
  for (size_t i = begin; i < end; ++i) {
    float a = x[i];
    for (int t = 0; t < steps; ++t) a = std::sin(a) + 0.1f;
    loss += a;
  }
  return loss;
}

const char* RelaxCompiler() {
  return __VERSION__;
}

}  // namespace adc::bench
