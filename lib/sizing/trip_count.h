#pragma once
// The trip count of a `for` as a value.

#include "ir/builder.h"

namespace adc::sizing {

/// An i64 that is the number of iterations where that is positive, and not positive where the loop does not
/// run. A literal for literal bounds. `step` is a positive literal.
ir::Value TripCount(ir::Builder& builder, ir::Value low, ir::Value high, ir::Value step);

/// `value`, an i32 or i64, as i64.
ir::Value WideIndex(ir::Builder& builder, ir::Value value);

}  // namespace adc::sizing
