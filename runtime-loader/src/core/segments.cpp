#include "core/errors.h"
#include "core/launch.h"

// Checkpoints: where a task's whole tapes leave too few rows within the budget, its loops run in segments.
//
// Such a kernel has one parameter of kind `segment`, in which the capacities of its stacks are expressions: 0
// stands for whole tapes, which take one forward run. Any other length S takes two and about n / S + S slots
// for a loop of n iterations, so what length is best hardly matters for time, and for memory it is near the
// square root of n. The lengths tried are powers of two, which miss the smallest row by 6 % at most. One
// length serves all loops of a task: a loop that is shorter than it is one segment.

namespace adrt {
namespace {

// With half of the threads, one forward run takes as long as two with all of them; and a launch that lacks
// few rows is not worth them.
constexpr uint64_t kFewRows = 2;
// A row this many times the smallest one says that shorter segments make it no smaller any more.
constexpr uint64_t kFarMore = 4;
constexpr int64_t kLongest = int64_t{1} << 30;

void SetSegment(adrt_launch_plan& plan, uint32_t param, int64_t length) {
  plan.params[param].integer = length;
  plan.params[param].has_integer = true;
  plan.size_params[param].has_scalar = true;
  plan.size_params[param].scalar = length;
  plan.cells[plan.meta().params[param].cell] = static_cast<uint64_t>(length);
}

bool SizeWith(adrt_launch_plan& plan, uint32_t task, int64_t length, bool may_read, adrt_error* error) {
  SetSegment(plan, SegmentParam(plan), length);
  plan.tasks[task].segment = static_cast<uint64_t>(length);
  return SizeTaskAsIs(plan, task, may_read, error);
}

bool HasRows(const adrt_launch_plan& plan, const TaskPlan& sizes) {
  return plan.heap_budget == 0 || sizes.threads * kFewRows >= sizes.wanted_threads;
}

}  // namespace

uint32_t SegmentParam(const adrt_launch_plan& plan) {
  const artifact::KernelMeta& meta = plan.meta();
  for (uint32_t index = static_cast<uint32_t>(meta.params.size()); index-- > 0;) {
    if (meta.params[index].kind == artifact::ParamKind::kSegment) return index;
  }
  return artifact::kNoIndex;
}

void UseSegment(adrt_launch_plan& plan, uint32_t task) {
  uint32_t param = SegmentParam(plan);
  if (param != artifact::kNoIndex) SetSegment(plan, param, static_cast<int64_t>(plan.tasks[task].segment));
}

bool SizeTask(adrt_launch_plan& plan, uint32_t task, bool may_read, adrt_error* error) {
  TaskPlan& sizes = plan.tasks[task];
  if (SegmentParam(plan) == artifact::kNoIndex) return SizeTaskAsIs(plan, task, may_read, error);
  // What a size kernel has counted holds for the length that it was told.
  if (sizes.counts && MustCount(plan, task))
    return SizeWith(plan, task, static_cast<int64_t>(sizes.segment), may_read, error);
  adrt_error own = {};
  own.struct_size = sizeof own;
  bool plain = SizeWith(plan, task, 0, may_read, &own);
  bool no_room = !plain && own.status == ADRT_ERROR_HEAP_TOO_SMALL;
  if (!plain && !no_room) return SizeWith(plan, task, 0, may_read, error);
  if (plain && (!sizes.resolved || HasRows(plan, sizes))) return true;
  uint64_t smallest = sizes.row_bytes;
  int64_t best = 0;
  // From long to short: where sizes are maxima over segments, few segments make short work.
  for (int64_t length = kLongest; length > 0; length /= 2) {
    bool fits = SizeWith(plan, task, length, may_read, &own);
    if (!fits && own.status != ADRT_ERROR_HEAP_TOO_SMALL) break;
    if (best != 0 && sizes.row_bytes / kFarMore > smallest) break;
    if (sizes.row_bytes >= smallest) continue;
    smallest = sizes.row_bytes;
    best = length;
  }
  return SizeWith(plan, task, best, may_read, error);
}

}  // namespace adrt
