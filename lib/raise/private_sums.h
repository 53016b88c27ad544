#pragma once
// Sums into one cell from many iterations of a parallel loop become sums of the thread's own.
//
//   parallel %i in 0..%n {                     ->    atomic add %loss[], %v private always
//     atomic add %loss[], %v
//     add_to %pose.adj[%b], %w                       add_to %pose.adj[%b], %w gathered
//   }
//
// One atomic update per iteration makes every worker wait for the same cache line. The iterations that one
// worker runs in a row may sum in a register first and touch the cell once, provided that no code can see the
// difference: inside the task, the buffer is touched by accumulations of the same kind alone, and none of
// them uses the old value. The same holds for minima, maxima and bitwise reductions. Where every access names
// its cell by literals (the counts of a size kernel), each cell is a matter of its own.
//
// Where the cell changes, but not with every index of the loop, many iterations still meet in one cell. Such
// sums are *gathered*: a worker has the cells that it met last and their sums in a small table of its own,
// one per buffer or field, and flushes a sum when another cell takes its place or its iterations end. A
// device adds up over lanes that come to one cell, those of f16 in f32.
//
// Where only the turn of the loop right around decides about the cell, and neither iteration nor data, such a
// sum is `of_turn` on a device: all lanes of a wave come to the cell together, and hold what several turns
// have given until they add it to their cells at once.
//
// Where data decide about the cell, or it is one of few, the lanes of a device may come to one or not. Such
// sums of floats say `may_meet`: a device looks before it adds up.
//
// The order of a sum over parallel iterations is not defined, before and after: `private`, `gathered` and
// `may_meet` are words for the printers of code, and an interpreter may sum as if they were not there.

#include "ir/function.h"
#include "raise/config.h"

namespace adc::raise {

/// Marks the accumulations of a raised kernel. Requires: no pass has moved accesses of the kernel yet.
/// Guarantees: the cell of a private sum is made of values from outside the parallel loop; one of the
/// accumulations into it is `always` where every iteration makes it. Breaks: nothing.
void MarkPrivateSums(ir::Module&, ir::Function& kernel, const RaiseConfig&);

}  // namespace adc::raise
