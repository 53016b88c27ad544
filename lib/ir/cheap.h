#pragma once
// Finds the branches that are cheap enough to compute where they are not taken.

#include "ir/function.h"

namespace adc::ir {

/// Whether a branch of an `if` holds at most four operations, which neither read memory nor have a partial
/// derivative that may be infinite: a `select` does as well then.
bool IsCheap(const Function& function, Block branch);

}  // namespace adc::ir
