#pragma once
// The forms of a loop for processors: for a worker that meets no other, and for several that are woken.
//
//   parallel %i in 0..%n {                  ->   parallel %i in 0..%n alone waking 161 copies 4096 {
//     for %j in 0..100 {                           for %j in 0..100 {
//       atomic add %y[%j], %a                        atomic add %y[%j], %a copied
//     }                                            }
//   }                                            }
//
// A worker that runs every iteration of a task in one call meets no other: launches that run at once share no
// memory. The loader deals all iterations at once where there is one worker. Code of a loop that is `alone`
// has a form for that, with plain additions to memory in place of tables and atomics. Where an inner loop
// sweeps cells, LLVM vectorises plain additions; where it leaves its cell alone, they stay in registers. It
// does neither with atomics and tables. The form costs code and the time to compile it. So there is one only
// where the sums are a good part of the work. A large body has one form for all workers, whose sums ask
// (`asks_alone`), unless short loops make sums.
//
// Among others a worker runs the same form: the iterations that meet those of no other call, where it is
// known how far apart iterations meet (`reach`, reach.h); or all of them, on copies of the buffers into which
// it sums (`copied`). Each iteration of the launch is worth a number of bytes of copies (`copies`): a loop
// that sweeps the cells of a buffer in every iteration misses a table of 128 of them each time, and scattered
// sums have no table. Where copies cannot stand for a buffer, and the loops of each iteration sweep the
// same cells, no number of iterations is worth waking a worker: two would wait for each other.
//
// To wake a worker takes the time of as many iterations as `waking` says; where data decide the time of an
// iteration, it says nothing.

#include "ir/function.h"
#include "raise/config.h"

namespace adc::raise {

/// Requires: a kernel of a raised module, whose code is what is printed. Guarantees: a buffer into which an
/// access that is `copied` sums is touched by additions alone in its task, and no other update of the task
/// meets those of other iterations. Breaks: nothing: it only adds words.
void MarkOneWorker(ir::Module&, ir::Function& kernel, const RaiseConfig& config);

}  // namespace adc::raise
