#pragma once
// Parallel loops whose iterations run side by side in the lanes of vectors, the whole body.
//
//   parallel %i in 0..%n {                  ->    parallel %i in 0..%n lanes_body lanes 8 {
//     %v = load %x[%i]                              (the same)
//     %w = for ... { ... sin ... }
//     store %y[%i], %w
//   }
//
// Every lane computes what its iteration computes alone, and branches become masks. Raising writes the
// decision, by an estimate: the work that vectors do at once (arithmetic, functions, accesses that follow the
// iteration) against the work lane by lane (atomic updates, gathers, divisions of integers), and against the
// cost of masks. Bodies without functions and loops stay as they are: LLVM makes vectors of them.
//
// A size kernel that counts the trips of a `while` has no estimate: where vectors have all operations of the
// loop, its lanes fill four registers, which hide what one waits for.

#include "ir/function.h"
#include "raise/config.h"

namespace adc::raise {

/// Requires: a kernel of a raised module, private sums marked. Guarantees: a body in lanes has no f16, no
/// rows of adstacks, and nothing but loads, stores and sums of its local arrays. Breaks: nothing: it only
/// adds words.
void MarkBodyLanes(ir::Module& module, ir::Function& kernel, const RaiseConfig& config);

}  // namespace adc::raise
