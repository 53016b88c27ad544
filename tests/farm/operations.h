#pragma once
// Expressions of random kernels with any operation of the table that computes values from values.

#include "../support/random_kernel.h"

namespace adc::farm {

/// An expression whose result is a float of type `scalar`, an `i32` or an `i1`, in the bounds that random
/// kernels keep: floats are small, and derivatives finite. `smooth`: none with a step or a kink.
test::RandomExpression RandomOperation(const std::string& scalar, bool smooth,
                                       const test::RandomSource& source);

}  // namespace adc::farm
