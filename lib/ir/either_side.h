#pragma once
// The word `either` of a comparison, or an absolute value, of floats: both outcomes lead to the same number
// up to rounding, so that it decides nothing (raise/decisions.h). Differentiation writes it, where a
// partial derivative has two forms (autodiff/partials.ir).

#include "ir/function.h"

namespace adc::ir {

/// `attr` of an instruction that has the word.
inline constexpr uint32_t kEitherSide = 0;

/// True for operations that may have it, if their operands are floats.
constexpr bool MayBeEither(Op op) {
  return ClassOf(op) == OpClass::Compare || op == Op::Abs;
}

}  // namespace adc::ir
