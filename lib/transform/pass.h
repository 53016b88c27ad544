#pragma once
// The common part of the passes of this folder: the rules for rewriting floats.
//
// Passes rebuild functions in their place: a reference to a function stays good over every pass that keeps
// it, but its values, instructions and blocks are numbered anew.

#include "diag/diagnostics.h"
#include "ir/function.h"

namespace adc::transform {

/// The assumptions that rewriting floats may make.
enum class FloatRules : uint8_t {
  Ieee,  ///< values stay bit by bit: signed zeros, infinities and NaN count
  Fast,  ///< zeros have no sign, no value is infinite or NaN
};

struct FoldConfig {
  FloatRules floats = FloatRules::Ieee;
};

}  // namespace adc::transform
