#pragma once
// Tasks of few iterations with long loops: the threads of a block may run an iteration together.
//
//   parallel %i in 0..%n {                         parallel %i in 0..%n team {
//     %s = for %j in 0..%m carry(%s = 0.0) {         %s = for %j in 0..%m apart carry(%s = 0.0) {
//       yield (add %s, %a[%i, %j] * %x[%j])    ->      ...
//     }                                              }
//     store %y[%i], %s                               store %y[%i], %s
//   }                                              }
//
// A device whose iterations are fewer than its threads leaves most of them without work. The turns of a loop
// that only sums up, and whose turns touch no memory that another one writes, are as well work for many
// threads. Such loops become `apart`, and the task a `team` of no stated size: its code has two forms, one
// with an iteration in each thread, and one in which a block is a team (raise/teams.h). The loader chooses at
// each launch, by the number of iterations and by the turns of the loops (EntryMeta::team_turns).
//
// A task stays as it is where what stands around such loops is long as well, since every thread of a team
// would run it, or where a thread would read memory that another one of its team has written.

#include "ir/function.h"
#include "raise/config.h"

namespace adc::raise {

/// Requires: a kernel of a raised module, whose accumulations are marked. Guarantees: in a task that it
/// marks, a loop that is apart is not inside of another one, has step 1, carries sums alone, and its bounds
/// are computed from arguments, extents and counters. Breaks: nothing.
void SpreadLoops(ir::Module& module, ir::Function& kernel, const RaiseConfig& config);

/// Whether the turns of such a loop add to cells that all iterations come to, and load what all of them load:
/// where threads have an iteration each, the lanes of a wave sum up before they update a cell, and load
/// alike.
bool MeetsInTurns(const ir::Function& kernel, ir::Inst loop);

}  // namespace adc::raise
