#pragma once
// What decides is computed as it is written.
//
//   %p = mul %a, %b                      ->    %p = mul %a, %b as_written
//   %g = gt (sub %p, %c), 0.0                  %g = gt (sub %p, %c as_written), 0.0 as_written
//   if %g { ... }
//
// A kernel, its derivatives and its size kernel have to take the same branches and touch the same cells
// (analysis/decisions.h). What decides, and what that is computed from, is no part of an fma and follows no
// relaxed rule of floats, whatever the mode of floats is.

#include "ir/function.h"
#include "raise/config.h"

namespace adc::raise {

/// Requires: a kernel of a raised module; no pass after this one makes or moves arithmetic. Guarantees: an
/// operation on scalars is `as_written` exactly where analysis::Decisions has it. Breaks: nothing.
void MarkDecisions(ir::Module&, ir::Function& kernel, const RaiseConfig&);

}  // namespace adc::raise
