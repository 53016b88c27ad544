#pragma once
// Where an operation may have a partial derivative that is infinite or undefined, its operands being numbers.

#include "ir/function.h"

namespace adc::autodiff {

/// False where the operation has none, or its operands stay away from it: a literal, a sum of squares and a
/// literal, the larger one of something and a literal.
bool MayBeSingular(const ir::Function& function, ir::Inst inst);

}  // namespace adc::autodiff
