#pragma once
// SinkSums: a sum of what only one branch computes moves into that branch.
//
//   %g = if %c { ... yield %v } else { yield 0.0 }          if %c { ...  add_to %x.adj[%i], %v }
//   add_to %x.adj[%i], %g                            ->
//
// Where few iterations take the branch, the others neither read nor write the cell. Branches that compute
// little keep their sum after them, where it makes no branch of its own; so do sums into one cell for all
// iterations, which a register holds.
//
// Requires: a derived kernel, simplified. Guarantees: the same sums, but that nothing is added where zero
// was. Breaks: nothing; results that nobody uses any more are left to Simplify.

#include "ir/function.h"

namespace adc::transform {

/// True when anything moved.
bool SinkSums(ir::Function& function);

}  // namespace adc::transform
