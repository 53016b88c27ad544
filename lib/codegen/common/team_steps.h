#pragma once
// The order in which the threads of a team work (raise/teams.h), around loops that are apart, and where they
// wait for each other.
//
//   %x = load %a[%k]               each thread
//   store %b[%k], %x               all meet; the first one; all meet
//   for %l in 0..64 apart 64 {     turns, shared by all
//     ...
//   }                              all meet
//
// A thread may still be about to read memory here when another one has come further: so the team meets before
// it writes as well as after it, unless it has touched nothing since it last met.

#include <functional>
#include <span>
#include <vector>

#include "ir/function.h"

namespace adc::codegen {

/// Whether the threads of a block run the iterations of a parallel loop together, in every launch.
inline bool IsInTeams(const ir::InstData& parallel) {
  return parallel.Has(ir::Word::Team) && parallel.component != ir::kNoAttr;
}
/// Whether they do in some launches, so that the code has two forms (raise/spread.h).
inline bool MayBeInTeams(const ir::InstData& parallel) {
  return parallel.Has(ir::Word::Team) && parallel.component == ir::kNoAttr;
}

/// The loops that are apart and stand in no other one, of a task that may be in teams; none of another task.
std::vector<ir::Inst> SpreadLoopsOf(const ir::Function& kernel, ir::Inst parallel);

/// Whether each thread of a team runs an instruction by itself, with memory of its own, and meets no other
/// one.
bool IsEachThreadsOwn(const ir::Function& kernel, ir::Inst inst);

/// How a printer writes the work of a team.
struct TeamPrinter {
  std::function<void(ir::Inst)> each;                       ///< one instruction, by every thread
  std::function<void(ir::Inst)> turns;                      ///< a loop that is apart: its turns are shared
  std::function<void(ir::Inst)> array;                      ///< a common array: its clearing is shared
  std::function<void(std::span<const ir::Inst>)> by_first;  ///< writes to memory that the team shares
  std::function<void()> meet;
};

/// Prints the instructions [first, last) of `block`. `met`: the team has met and touched no memory since, as
/// they begin. Before `each` is called for a loop, it says the same of the begin of each of the loop's turns.
void PrintTeam(const ir::Function& kernel, ir::Block block, uint32_t first, uint32_t last, bool& met,
               const TeamPrinter& printer);

}  // namespace adc::codegen
