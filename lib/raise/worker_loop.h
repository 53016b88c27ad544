#pragma once
// The facts about a `parallel` that the loop of a worker over its iterations has to know.
//
//   recheck   %c = load %n[]                launched: 100 iterations, by what %n held then
//             parallel %i in 0..%c { }      met: 10 iterations, by what it holds now
//
// The launcher deals the iterations, from an expression over the data that it could see. Where that reads
// memory, the code compares the dealt iterations with its own bounds before the first iteration, so that none
// runs past a bound that has moved: the launch reports StatusCode::BoundsMoved with the number that its
// bounds give now.
//
//   sparse    parallel %i in 0..%n { %m = load %mass[%i]  if (gt %m, 1e-15) { ... much ... } }
//
// All that the loop does, but for loads and arithmetic, is in one branch, whose other side does nothing and
// whose condition compares a float: fields of floats are often zero almost everywhere.
//
//   fours     a body of a kernel that only counts, or one that only reads and makes private sums
//             (private_sums.h), so short that it waits for its loads alone: four iterations of a thread of a
//             device run at once.

#include "ir/function.h"
#include "raise/config.h"

namespace adc::raise {

/// Requires: a kernel of a raised module, whose private sums are marked. Guarantees: a task's prologue
/// (analysis/tasks.h) holds no load of memory that its loop writes, so that all threads of a launch find the
/// same bounds in a `recheck`. Breaks: nothing: it only adds words.
void MarkWorkerLoops(ir::Module&, ir::Function& kernel, const RaiseConfig& config);

}  // namespace adc::raise
