#pragma once
// Finds the sums into adjoints that need no atomic.
//
// Marks `add_to` as plain where two iterations of the parallel loop around it can never touch one cell: the
// update's own index tuple, and that of every other access of the same memory in the loop, gives different
// cells in different iterations. In a serial task every update is plain. Requires: a derived kernel,
// simplified (equal indices are equal values). Guarantees: an unmarked `add_to` may meet another; a marked
// one provably does not. Breaks: nothing.

#include "ir/function.h"

namespace adc::autodiff {

/// True when anything was marked.
bool DecideAccumulation(ir::Module& module, ir::Function& function);

}  // namespace adc::autodiff
