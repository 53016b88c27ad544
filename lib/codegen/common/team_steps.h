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
// What a thread reads here it may still be about to read when another one has come further: so the team meets
// before it writes as well as after it, unless it has touched nothing since it last met.

#include <vector>

#include "ir/function.h"

namespace adc::codegen {

enum class TeamWork : uint8_t {
  Each,    ///< one instruction, by every thread
  Turns,   ///< one loop that is apart: its turns are shared
  Arrays,  ///< common arrays: the clearing of their elements is shared
  Writes,  ///< to memory that the team shares: the first thread makes them
};

/// The instructions [first, last) of a block. The team meets after all but `Each`.
struct TeamStep {
  TeamWork work = TeamWork::Each;
  uint32_t first = 0, last = 0;
  /// The team has met and touched no memory since, as the step begins; of a loop, as each of its turns
  /// begins.
  bool met = false;
};

/// Whether the threads of a block run the iterations of a parallel loop together, in every launch.
inline bool IsInTeams(const ir::InstData& parallel) {
  return (parallel.flags & ir::kFlagTeam) != 0 && parallel.component != ir::kNoAttr;
}
/// Whether they do in some launches, so that the code has two forms (raise/spread.h).
inline bool MayBeInTeams(const ir::InstData& parallel) {
  return (parallel.flags & ir::kFlagTeam) != 0 && parallel.component == ir::kNoAttr;
}

/// The loops that are apart and stand in no other one, of a task that may be in teams; none of another task.
std::vector<ir::Inst> SpreadLoopsOf(const ir::Function& kernel, ir::Inst parallel);

/// The steps of the instructions [first, last) of `block`. `met`: as in the first step.
std::vector<TeamStep> TeamStepsOf(const ir::Function& kernel, ir::Block block, uint32_t first, uint32_t last,
                                  bool met);

}  // namespace adc::codegen
