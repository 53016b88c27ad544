#pragma once
// Accesses that follow the flat iteration of a parallel loop.
//
//   parallel %i, %j in 0..(shape %x, 1), 0..(shape %x, 2) { ... load %x[%t, %i, %j] flat ... }
//
// reads element t * (shape 1) * (shape 2) + iteration: no division tells i and j apart. Where nothing else
// reads the counters the loop is `flat` itself, and they are never told apart. Where all other uses lie in
// one branch, behind a gate that most iterations do not pass, the branch is marked instead:
//
//   parallel %i, %j in ... sparse flat {
//     %m = load %mass[%i, %j] flat
//     if (gt %m, 1e-15) then_counters { ... %i ... }
//   }

#include "ir/function.h"
#include "raise/config.h"

namespace adc::raise {

/// Requires: a kernel of a raised module whose loops are marked `sparse` (raise/worker_loop.h). Guarantees:
/// the last indices of an access that is `flat` are the counters of its parallel loop, all of them in their
/// order, and each counts from 0 to the extent of the axis that it indexes, but for the outermost, which may
/// end anywhere. Breaks: nothing.
void MarkFlatAccesses(ir::Module&, ir::Function& kernel, const RaiseConfig& config);

}  // namespace adc::raise
