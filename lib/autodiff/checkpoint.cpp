// Blocking is checkpointing.
//
// The tape of a loop is filled by one level of nesting and used again by the next run of the loop, and inner
// loops run forward again at each level (needed.cpp), so memory is the sum over the levels of what each keeps
// per iteration times its trip count. A loop of n iterations as n / S segments of S steps therefore keeps
// n / S states, the checkpoints, and S tape entries of one segment: of order sqrt(n) for S = sqrt(n), for one
// more forward run. Reverse mode does not know of checkpoints, but for the last segment, which runs forward
// once (reverse_forward_loop.cpp): where the loop's results are not read, the run that computes checkpoints
// leaves it out; where they are, that run fills the tape of the segment, and it is used as it is. So a loop
// of one segment costs what the plain loop does, and one piece of code serves every length.

#include "autodiff/checkpoint.h"

#include "analysis/loops.h"
#include "transform/block_loops.h"

namespace adc::autodiff {

using ir::Function;
using ir::Inst;
using ir::Op;

namespace {

/// A constant that the loop's trip count never exceeds.
std::optional<uint64_t> MostTrips(const Function& kernel, Inst loop) {
  if (kernel[loop].op == Op::For) return analysis::ConstantTrips(kernel, loop);
  if ((kernel[loop].flags & ir::kFlagHasMax) == 0) return std::nullopt;
  std::optional<int64_t> most = kernel.IntegerConstant(kernel.Operand(loop, 0));
  return most ? std::optional<uint64_t>(*most > 0 ? *most : 0) : std::nullopt;
}

}  // namespace

transform::BlockedLoops BlockForCheckpoints(ir::Module& module, const Function& kernel,
                                            const RegionTree& tree, const NeededPlan& plan,
                                            const CheckpointConfig& config, transform::FoldConfig fold) {
  using Which = CheckpointConfig::Which;
  auto length_of = [&](Inst loop) -> uint32_t {
    const ir::InstData& data = kernel[loop];
    bool marked = (data.flags & ir::kFlagCheckpoint) != 0;
    if (!IsSerialLoop(data.op) || (!marked && config.which == Which::Marked)) return 0;
    uint32_t length = config.which == Which::All ? config.length : transform::kSegmentAtLaunch;
    if (marked && data.attr != ir::kNoAttr) length = data.attr;
    std::optional<uint64_t> trips = MostTrips(kernel, loop);
    uint32_t few = length == transform::kSegmentAtLaunch ? config.few_trips : length;
    if (trips && *trips <= few) return 0;
    UndoPlan undo = PlanUndo(kernel, tree, plan, loop);
    bool keeps = !plan.Tape(loop).empty() || !undo.stores.empty() || !undo.snapshots.empty();
    return keeps ? length : 0;
  };
  bool any = false;
  for (uint32_t n = 0; n < kernel.InstCount() && !any; ++n) {
    any = kernel[Inst(n)].parent.Valid() && length_of(Inst(n)) != 0;
  }
  return any ? transform::BlockLoops(module, kernel, length_of, fold) : transform::BlockedLoops();
}

}  // namespace adc::autodiff
