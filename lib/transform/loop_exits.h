#pragma once
// Takes `break` and `continue` out of loops.

#include "transform/pass.h"

namespace adc::transform {

/// Rewrites loops whose bodies hold `break` or `continue` so that every region comes to its end. A `for` that
/// is left early becomes a `while max`, whose bound is the number of its iterations, so that tapes stay as
/// long as the loop can run.
///
/// Requires: Phase::Parsed. Guarantees: no `break` and no `continue` is left, in functions and kernels; more
/// branches that leave one loop than regions may nest are an error (E0135). Breaks: nothing; loops without
/// them are not touched.
bool LowerLoopExits(ir::Module& module, FoldConfig fold, diag::Diagnostics& diagnostics);

}  // namespace adc::transform
