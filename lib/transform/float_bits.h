#pragma once
// FloatBits: arithmetic on the bits of floats that computes a float in another way becomes that way.
//
//   %b = bitcast %x to u32              ->
//   %m = and %b, 0x7FFFFFFF
//   %a = bitcast %m to f32                   %a = abs %x
//
// A derivative passes through `abs`, `neg` and `select`, and stops at integers. Taken are signs that are
// cleared, set, flipped or copied, values that masks of all ones or none choose, swaps by exclusive or, and
// halves that are packed into words and taken out again.
//
// Requires: Form::Scalars, simplified. Guarantees: the same results bit by bit. Breaks: nothing; integers
// that nothing reads any more stay for Simplify to drop. Linear time.

#include "transform/pass.h"

namespace adc::transform {

void FloatBits(ir::Module& module, FoldConfig fold);

/// Whether bits of a float may come back as a float.
bool TakesBits(const ir::Function& function);

}  // namespace adc::transform
