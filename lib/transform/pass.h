#pragma once
// What the passes of this folder share: how floats may be rewritten.
//
// Passes rebuild functions in their place: a reference to a function stays good over every pass that keeps
// it, but its values, instructions and blocks are numbered anew.

#include "diag/diagnostics.h"
#include "ir/function.h"

namespace adc::transform {

/// What rewriting floats may assume.
enum class FloatRules : uint8_t {
  Ieee,  ///< values stay bit by bit: signed zeros, infinities and NaN count
  Fast,  ///< zeros have no sign, no value is infinite or NaN
};

struct FoldConfig {
  FloatRules floats = FloatRules::Ieee;
};

}  // namespace adc::transform
