#pragma once
// Numbers for arguments, and how far results are from others.

#include <cmath>
#include <vector>

#include "gradient_check.h"
#include "interp/arguments.h"

namespace adc::test {

inline std::vector<double> RandomNumbers(size_t count, double low, double high, uint64_t seed) {
  std::vector<double> numbers;
  for (size_t n = 0; n < count; ++n)
    numbers.push_back(low + (high - low) * 0.5 * (1 + internal::RandomNumber(seed)));
  return numbers;
}

/// The worst of the float tensors: the largest difference, relative to the tensor's largest number.
inline double Difference(const interp::Arguments& a, const interp::Arguments& b) {
  double worst = 0;
  for (size_t n = 0; n < a.list.size(); ++n) {
    if (!a[n].bits.empty() || !a[n].tensor.element.IsFloat()) continue;
    double largest = 0, difference = 0;
    for (int64_t k = 0; k < a[n].tensor.ScalarCount(); ++k) {
      largest = std::max(largest, std::fabs(a[n].tensor.Get(k)));
      difference = std::max(difference, std::fabs(a[n].tensor.Get(k) - b[n].tensor.Get(k)));
    }
    worst = std::max(worst, largest == 0 ? difference : difference / largest);
  }
  return worst;
}

}  // namespace adc::test
