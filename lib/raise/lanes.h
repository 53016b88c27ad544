#pragma once
// Several iterations of a parallel loop at once, where a `while` in it waits for its own trips.
//
// A size kernel runs a `while` for nothing but its trip count. One iteration after the other, each trip waits
// for the one before; side by side, as many iterations as vectors have lanes take about as long as the
// longest of them. Every lane computes what it would have computed alone, operation by operation, so that it
// counts the same to the trip.
//
//   parallel %i in 0..%n {                           parallel %i in 0..%n lanes_end lanes 32 {
//     %r = while carry(%a = %x) { ... } do { ... }     %r = while carry(%a = %x) lanes { ... } do { ... }
//     atomic max %counts[0], %r                ->      atomic max %counts[0], %r private always
//   }                                                }
//
// The IR has no vectors of as many lanes as a processor wants, so raising writes the decision: which loops,
// how many lanes, and whether the code after the last of them is in lanes too, which is mostly the count, the
// greatest of all lanes. Code around the loops runs lane by lane.

#include "ir/function.h"
#include "raise/config.h"

namespace adc::raise {

/// Requires: a kernel of a raised module, private sums marked. Guarantees: no iteration of a loop with lanes
/// sees an effect of another one that ended after it began. Breaks: nothing: it only adds words.
void MarkLanes(ir::Module&, ir::Function& kernel, const RaiseConfig& config);

}  // namespace adc::raise
