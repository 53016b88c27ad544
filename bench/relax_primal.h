#pragma once
// The loop of samples/relax.ir as a C++ compiler sees it: the baseline.

#include <cstddef>

namespace adc::bench {

/// Sum over x[begin .. end) of the value after `steps` steps of a = sin(a) + 0.1.
float RelaxPrimal(const float* x, size_t begin, size_t end, int steps);

/// Which compiler made it.
const char* RelaxCompiler();

}  // namespace adc::bench
