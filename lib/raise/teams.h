#pragma once
// Workgroups whose invocations run side by side, in threads of a block.
//
//   parallel %g in 0..%n {                     parallel %g in 0..%n team lanes 64 {
//     %s = alloca array<f32, 64>                 %s = alloca array<f32, 64> common
//     %v = alloca array<f32, 64>         ->      %v = alloca array<f32, 64> own
//     for %l in 0..64 apart 64 { ... }           (the same)
//   }                                          }
//
// A block of threads runs one iteration of the parallel loop together, its team. The threads share the turns
// of loops that are `apart`, and wait for one another after each; they all run the code around such loops,
// and the first one makes its stores. An array in which several threads meet lies in memory of the block, and
// one of which each turn has its own element in registers.
//
// A task stays as it is, and one thread runs an iteration, where a thread would have to know of another one's
// turn: a loop that is apart carries something that is no sum, slots of a tape are used again in each turn,
// the contents of an array change in ways that are no sums, an old value of an atomic is read, a row has a
// gate; and where the memory of a block does not suffice.

#include "ir/function.h"
#include "raise/config.h"

namespace adc::raise {

/// Requires: a kernel of a raised module, no other raise word on it. Guarantees: of a task with a team, a sum
/// into an element of a common array in a loop that is apart is an `add_to`, no `add_to` in such a loop is
/// `plain`, loops that are apart and stand in no other one begin at 0 and go by ones, and their carried
/// values are sums. Breaks: nothing.
void MakeTeams(ir::Module& module, ir::Function& kernel, const RaiseConfig& config);

}  // namespace adc::raise
