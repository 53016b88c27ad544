#pragma once
// Other points for a comparison of derivatives than the drawn one: those at which faults show that a point in
// general position hides.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "float_places.h"
#include "loader.h"
#include "values.h"

namespace adc::tool {

/// Arguments by the names of parameters.
using Values = std::map<std::string, ArgValue>;

struct EdgePoint {
  std::string name;  ///< for people: "zeros", "counts of 0"
  Values inputs;
  /// Integers in buffers were changed: they may be indices, so that iterations that were apart meet.
  bool moves_indices = false;
  /// Numbers so large, or so small, that products of a few leave the type's range.
  bool is_extreme = false;
  bool is_tied = false;  ///< floats are equal to each other, as infinities are
  /// Points of one number are one kind in several forms: the first that the kernel can run stands for all.
  uint32_t group = 0;
};

/// Points derived from `inputs` (every given parameter by name), which keep their shapes. Floats: drawn
/// again, zeros, some zeros, all equal, of both signs, very large and very small. Integers: scalars, and
/// elements of buffers, are 0, 1, 2, 3 (they may count iterations); elements of buffers are equal (they may
/// be indices). Not every kernel can run at every point.
std::vector<EdgePoint> EdgePoints(const adrt_bundle* bundle, const Kernel& kernel, const Values& inputs,
                                  uint64_t seed);

/// The distance between a value of this type near 1 and the next.
double EpsilonOf(uint32_t type);

/// `inputs` with every float moved by up to `roundings` of its type's roundings.
Values Jittered(const adrt_bundle* bundle, const Kernel& kernel, const Values& inputs, Random& random,
                double roundings = 8);

/// Every float of the kernel's inputs the share `at` of the way from `from` to `to`; all else is `from`'s.
Values Between(const adrt_bundle* bundle, const Kernel& kernel, const Values& from, const Values& to,
               double at);

}  // namespace adc::tool
