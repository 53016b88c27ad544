#pragma once
// SinkSums: a sum of a value that only one branch computes moves into that branch.
//
//   %g = if %c { ... yield %v } else { yield 0.0 }          if %c { ...  add_to %x.adj[%i], %v }
//   add_to %x.adj[%i], %g                            ->
//
// Where few iterations take the branch, the others neither read nor write the cell. Branches that compute
// little keep their sum after them, where it makes no branch of its own; so do sums into one cell for all
// iterations, which a register holds.
//
// Requires: a derived kernel, simplified. Guarantees: the same sums, but additions of zero are left out.
// Breaks: nothing; results that are not used any more are left to Simplify.

#include "ir/function.h"

namespace adc::transform {

/// True when anything moved.
bool SinkSums(ir::Function& function);

}  // namespace adc::transform
