#pragma once
// Arguments of random kernels (random_kernel.h), and how far the results of two runs lie apart.

#include <algorithm>
#include <cmath>
#include <vector>

#include "interp/arguments.h"

namespace adc::test {

/// Numbers from the seed, for a random kernel or one derived from it. Buffers have `extent` elements along
/// each axis; scratch is zero.
inline interp::Arguments RandomArguments(const ir::Module& module, const ir::Function& kernel, uint64_t seed,
                                         int64_t extent) {
  interp::Arguments arguments = interp::MakeArguments(module, kernel);
  uint64_t state = seed * 77 + 5;
  auto number = [&] {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<double>(static_cast<int64_t>(state >> 33) % 2000) / 1000.0 - 0.5;
  };
  for (size_t n = 0; n < kernel.params.size(); ++n) {
    ir::Type type = kernel.TypeOf(kernel.Params()[n]);
    if (!type.IsBuffer()) {
      arguments[n] = interp::NumberArgument(type, type.IsFloat() ? number() : 3);
      continue;
    }
    bool scratch = kernel.params[n].role == ir::ParamRole::Scratch;
    arguments[n].tensor = interp::Tensor::Zeros(type.Element(), std::vector<int64_t>(type.count, extent));
    for (int64_t k = 0; k < arguments[n].tensor.ScalarCount() && !scratch; ++k)
      arguments[n].tensor.Set(k, ir::IsFloat(type.scalar) ? number() : std::floor(number() * 8));
  }
  return arguments;
}

/// The largest difference of two numbers, relative to the larger of 1 and the number.
inline double LargestDifference(const interp::Arguments& a, const interp::Arguments& b) {
  double worst = 0;
  for (size_t n = 0; n < a.list.size(); ++n) {
    if (a[n].tensor.data.empty()) continue;
    for (int64_t k = 0; k < a[n].tensor.ScalarCount(); ++k) {
      double left = a[n].tensor.Get(k), right = b[n].tensor.Get(k);
      if (left == right || (std::isnan(left) && std::isnan(right))) continue;
      double difference = std::fabs(left - right) / std::max(1.0, std::fabs(left));
      worst = std::isnan(difference) ? INFINITY : std::max(worst, difference);
    }
  }
  return worst;
}

}  // namespace adc::test
