#include "core/trace.h"

namespace adrt {
namespace {

// New sizes and counts are new for one launch.
uint32_t TakeSource(const adrt_launch_plan& plan, TaskPlan& sizes) {
  bool has_counts = sizes.counts || sizes.trips != Trips::kMissing, is_open = false;
  for (bool open : sizes.open) is_open |= open;
  uint32_t source = !sizes.IsSettled()               ? ADRT_SIZES_OPEN
                    : is_open && plan.cap > 0        ? ADRT_SIZES_CAPPED
                    : has_counts && sizes.new_counts ? ADRT_SIZES_COUNTED
                    : has_counts || !sizes.is_new    ? ADRT_SIZES_CACHED
                                                     : ADRT_SIZES_FORMULA;
  sizes.is_new = sizes.new_counts = false;
  return source;
}

}  // namespace

void TellHeap(adrt_launch_plan& plan, uint32_t task, adrt_status status, uint64_t held_before,
              uint64_t held) {
  const artifact::KernelMeta& meta = plan.meta();
  adrt_heap_trace told = {};
  told.struct_size = sizeof told;
  told.task = task;
  told.status = status;
  told.plan = &plan;
  told.kernel = meta.name.c_str();
  told.target = plan.bundle->metadata.targets[plan.target].name.c_str();
  told.place = meta.place.c_str();
  told.budget = plan.MostBytes();
  told.held_before = held_before;
  told.held = held;
  if (task == ADRT_TRACE_LAUNCH) {
    told.heap_bytes = HeapBytes(plan);
  } else {
    TaskPlan& sizes = plan.tasks[task];
    told.source = TakeSource(plan, sizes);
    told.place = meta.tasks[task].place.c_str();
    told.heap_bytes = sizes.heap_bytes;
    told.rows = sizes.rows;
    told.row_bytes = sizes.row_bytes;
    told.threads = sizes.threads;
    // A task without rows is not fitted into the budget.
    told.wanted_threads = sizes.row_bytes > 0 ? sizes.wanted_threads : sizes.threads;
  }
  plan.host.trace_heap(plan.host.user, &told);
}

}  // namespace adrt
