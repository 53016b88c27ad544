#pragma once
// Values that decide are computed as they are written.
//
//   %p = mul %a, %b                      ->    %p = mul %a, %b as_written
//   %g = gt (sub %p, %c), 0.0                  %g = gt (sub %p, %c as_written), 0.0 as_written
//   if %g { ... }
//
// A kernel, its derivatives and its size kernel have to take the same branches and touch the same cells
// (decisions.cpp). A value that decides, and the values that it is computed from, are no part of an
// fma and follow no relaxed rule of floats, in any mode of floats.

#include "ir/function.h"
#include "raise/config.h"

namespace adc::raise {

/// Requires: a kernel of a raised module; no pass after this one makes or moves arithmetic. Guarantees: an
/// operation on scalars is `as_written` exactly where it decides. Breaks: nothing.
void MarkDecisions(ir::Module&, ir::Function& kernel, const RaiseConfig&);

}  // namespace adc::raise
