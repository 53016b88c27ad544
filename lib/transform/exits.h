#pragma once
// Takes `break`, `continue` and scopes with `exit` out of functions.

#include "transform/pass.h"

namespace adc::transform {

/// Rewrites regions that hold `break`, `continue` or `exit` so that every region comes to its end. A `for`
/// that is left early becomes a `while max`, whose bound is the number of its iterations, so that tapes stay
/// as long as the loop can run. A branch that leaves a scope and the code after it become selects where both
/// are cheap (ir/cheap.h).
///
/// Requires: Phase::Parsed. Guarantees: no `break`, `continue`, `exit` and no `scope` is left, in functions
/// and kernels; more branches that leave early, one after the other, than regions may nest are an error
/// (E0135). Breaks: nothing; loops without them are not touched.
bool LowerExits(ir::Module& module, FoldConfig fold, diag::Diagnostics& diagnostics);

}  // namespace adc::transform
