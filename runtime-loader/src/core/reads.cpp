#include <cstring>

#include "core/errors.h"
#include "core/launch.h"

// The reads of sizes from buffers. On a CPU the code that evaluates them looks into the buffers themselves.
// Of a device's memory it sees copies: those that adrt_run makes, of exactly the buffers that the metadata
// names in size_reads, or those that the caller hands to adrt_plan_resolve: the same buffers one after the
// other.

using adrt::Fail;

namespace adrt {
namespace {

constexpr uint64_t kPieceAlignment = 16;

// Asking whether the task's sizes depend on a parameter walks over the pool, for each of them. If the steps
// do not suffice, the next size that is settled reports it.
bool SpendOnPool(const adrt_launch_plan& plan, const artifact::AdstackPlanMeta& adstack) {
  constexpr uint64_t kMostAxes = 8;
  return plan.steps->Spend((kMostAxes + adstack.stacks.size()) * (1 + plan.meta().exprs.size()));
}
/// Bytes up to which a buffer is copied to the host for what a size kernel could count as well.
constexpr uint64_t kMostCopied = 64 << 10;

bool MakeMirrors(adrt_launch_plan& plan, adrt_error* error) {
  if (plan.mirrors.size() == plan.params.size()) return true;
  plan.mirrors.Bind(&plan.host.allocator);
  if (!plan.mirrors.TryResize(plan.params.size())) return OutOfMemory(error) == ADRT_OK;
  for (Mirror& mirror : plan.mirrors) mirror.bytes.Bind(&plan.host.allocator);
  return true;
}

// Memory for a copy of one parameter; null when refused.
Mirror* AllocateMirror(adrt_launch_plan& plan, uint32_t param, adrt_error* error) {
  if (!MakeMirrors(plan, error)) return nullptr;
  Mirror& mirror = plan.mirrors[param];
  if (!mirror.bytes.TryResize(plan.params[param].bytes)) {
    OutOfMemory(error);
    return nullptr;
  }
  plan.params[param].content = mirror.bytes.data();
  return &mirror;
}

bool CopyFromDevice(adrt_launch_plan& plan, uint32_t param, adrt_error* error) {
  BoundParam& bound = plan.params[param];
  Mirror* mirror = AllocateMirror(plan, param, error);
  if (!mirror) return false;
  bool holds = bound.content_version != 0 && mirror->version == bound.content_version &&
               mirror->from == bound.place && !MayWrite(plan, param);
  if (mirror->epoch == plan.epoch || holds) return true;
  adrt_device& device = *plan.module->device;
  if (bound.bytes > 0 && !device.kind->read(device, bound.place, mirror->bytes.data(), bound.bytes, error)) {
    bound.content = nullptr;
    return false;
  }
  mirror->epoch = plan.epoch;
  mirror->version = bound.content_version;
  mirror->from = bound.place;
  return true;
}

// Whether the readback holds the parameter: a task that is settled before the launch reads it.
bool IsReadBack(const adrt_launch_plan& plan, uint32_t param) {
  for (uint32_t task = 0; task < plan.tasks.size(); ++task) {
    if (plan.tasks[task].IsLate()) continue;
    for (uint32_t read : plan.meta().tasks[task].size_reads) {
      if (read == param && SizesRead(plan, task, param)) return true;
    }
  }
  return false;
}

// Visits the pieces of the readback in order; gives its bytes.
template <class Visit>
uint64_t EachPiece(const adrt_launch_plan& plan, const Visit& visit) {
  uint64_t offset = 0;
  for (uint32_t param = 0; param < plan.params.size(); ++param) {
    if (!IsReadBack(plan, param)) continue;
    visit(param, offset);
    offset += (plan.params[param].bytes + kPieceAlignment - 1) / kPieceAlignment * kPieceAlignment;
  }
  return offset;
}

bool TakeReadback(adrt_launch_plan& plan, const unsigned char* bytes, size_t size, adrt_error* error) {
  uint64_t expected = EachPiece(plan, [](uint32_t, uint64_t) {});
  if (!SpendSteps(plan, 0, error)) return false;
  if (size < expected || (!bytes && expected > 0)) {
    return Refuse(error, ADRT_ERROR_ARGUMENT, "plan_resolve: the readback takes ", expected, " bytes, given ",
                  uint64_t{bytes ? size : 0}, ": adrt_plan_readback says what they hold");
  }
  ++plan.epoch;
  bool done = true;
  EachPiece(plan, [&](uint32_t param, uint64_t offset) {
    Mirror* mirror = done ? AllocateMirror(plan, param, error) : nullptr;
    done = mirror != nullptr;
    if (!done || !bytes || mirror->bytes.empty()) return;
    std::memcpy(mirror->bytes.data(), bytes + offset, mirror->bytes.size());
    mirror->epoch = plan.epoch;
    mirror->version = 0;
  });
  if (!done) return false;
  // Rows need not be counted, so counts may be missing; the plan goes by the worst case then.
  uint64_t counts_bytes = CountsBytes(plan);
  if (counts_bytes > 0 && size - expected >= counts_bytes) return TakeCounts(plan, bytes + expected, error);
  if (NeedsCounts(plan)) {
    return Refuse(error, ADRT_ERROR_ARGUMENT, "plan_resolve: the readback takes ", expected + counts_bytes,
                  " bytes with what must be counted, given ", uint64_t{size},
                  ": record that where adrt_plan_counting says so, adrt_plan_readback says where it goes");
  }
  LeaveCounts(plan);
  return true;
}

}  // namespace

bool ReadsTooMuch(const adrt_launch_plan& plan, uint32_t task) {
  const artifact::AdstackPlanMeta* adstack = AdstackPlanOf(plan, task);
  if (ReadsInPlace(plan) || !plan.module || !adstack || !CanCount(plan, task)) return false;
  const artifact::TaskMeta& meta = plan.meta().tasks[task];
  uint64_t bytes = 0;
  bool reads_written = false;
  for (uint32_t param : meta.size_reads) {
    bool counted = false;
    if (!SpendOnPool(plan, *adstack)) return false;
    for (const artifact::StackMeta& stack : adstack->stacks) {
      counted = counted || (IsCounted(meta, stack) && plan.meta().exprs.DependsOn(stack.capacity, param));
    }
    if (counted) bytes += plan.params[param].bytes;
    reads_written = reads_written || MayWrite(plan, param);
  }
  return bytes > kMostCopied && (reads_written || !CountsLate(plan, task));
}

bool SizesRead(const adrt_launch_plan& plan, uint32_t task, uint32_t param) {
  const artifact::TaskMeta& meta = plan.meta().tasks[task];
  const artifact::AdstackPlanMeta* adstack = AdstackPlanOf(plan, task);
  if (!plan.tasks[task].by_count || !adstack || !CanCount(plan, task)) return true;
  const artifact::SizeExprPool& exprs = plan.meta().exprs;
  if (!SpendOnPool(plan, *adstack)) return true;
  for (artifact::NodeId extent : meta.extents) {
    if (exprs.DependsOn(extent, param)) return true;
  }
  for (const artifact::StackMeta& stack : adstack->stacks) {
    if (!IsCounted(meta, stack) && exprs.DependsOn(stack.capacity, param)) return true;
  }
  return false;
}

bool ReadAndSizeTask(adrt_launch_plan& plan, uint32_t task, adrt_error* error) {
  if (!ReadsInPlace(plan)) {
    for (uint32_t param : plan.meta().tasks[task].size_reads) {
      if (SizesRead(plan, task, param) && !CopyFromDevice(plan, param, error)) return false;
    }
  }
  return SizeTask(plan, task, true, error);
}

}  // namespace adrt

adrt_status adrt_plan_readback(const adrt_launch_plan* plan, uint32_t index, adrt_readback_report* report,
                               adrt_error* error) {
  adrt::Alive(__func__, plan);
  if (!plan || !report) return Fail(error, ADRT_ERROR_ARGUMENT, "plan_readback: null argument");
  adrt_readback_report made = {};
  bool found = false;
  plan->steps->Reset(plan->size_budget);
  if (!adrt::ReadsInPlace(*plan)) {
    made.total_bytes = adrt::EachPiece(*plan, [&](uint32_t param, uint64_t offset) {
      if (made.count++ != index) return;
      found = true;
      made.param = param;
      made.offset = offset;
      made.bytes = plan->params[param].bytes;
      made.name = plan->meta().params[param].name.c_str();
    });
    if (plan->steps->exceeded()) return adrt::SpendSteps(*plan, 0, error) ? ADRT_OK : ADRT_ERROR_OVER_LIMIT;
    uint64_t counts_bytes = adrt::CountsBytes(*plan);
    if (counts_bytes > 0 && made.count++ == index) {
      found = true;
      made.param = ADRT_READBACK_COUNTS;
      made.offset = made.total_bytes;
      made.bytes = counts_bytes;
      made.name = "counts";
    }
    made.total_bytes += counts_bytes;
  }
  // The first report of an empty readback says that it is empty.
  if (!found && !(index == 0 && made.count == 0)) {
    return Fail(error, ADRT_ERROR_ARGUMENT, "plan_readback: no piece ", index, ": there are ", made.count);
  }
  if (!adrt::CopyReport(made, report))
    return Fail(error, ADRT_ERROR_ARGUMENT, "plan_readback: struct_size is not set");
  return ADRT_OK;
}

adrt_status adrt_plan_resolve(adrt_launch_plan* plan, const void* readback, size_t readback_size,
                              adrt_error* error) {
  adrt::Alive(__func__, plan);
  if (!plan) return Fail(error, ADRT_ERROR_ARGUMENT, "plan_resolve: null argument");
  adrt_error own = {};
  adrt_error* details = adrt::DetailsOf(error, &own);
  adrt::BeginSteps(*plan);
  if (adrt::ReadsInPlace(*plan)) {
    if (readback || readback_size > 0) {
      return Fail(error, ADRT_ERROR_ARGUMENT,
                  "plan_resolve: a CPU's buffers are read in place, there is no readback");
    }
  } else if (!adrt::TakeReadback(*plan, static_cast<const unsigned char*>(readback), readback_size,
                                 details)) {
    return details->status;
  }
  for (uint32_t task = 0; task < plan->tasks.size() && plan->module && adrt::ReadsInPlace(*plan); ++task) {
    if (plan->tasks[task].IsLate()) continue;
    if (adrt::MustCountTripsAgain(*plan, task) && !adrt::CountTrips(*plan, task, details))
      return details->status;
    if (adrt::MustCountAgain(*plan, task)) plan->tasks[task].counts = nullptr;
  }
  adrt_error largest = {};
  if (!adrt::SizeTasks(*plan, true, details)) {
    bool counts = plan->module && adrt::ReadsInPlace(*plan);
    if (details->status != ADRT_ERROR_HEAP_TOO_SMALL || !counts) return details->status;
    largest = *details;
  }
  // Where the task's code runs on the host, counting is reading. A budget that is too small for one task may
  // be smaller still for one that is counted.
  for (uint32_t task = 0; task < plan->tasks.size() && plan->module && adrt::ReadsInPlace(*plan); ++task) {
    bool open = plan->tasks[task].state == adrt::TaskState::kOpen;
    if (!open || (largest.status != ADRT_OK && !adrt::MustCount(*plan, task))) continue;
    if (adrt::CountTask(*plan, task, details)) continue;
    if (details->status != ADRT_ERROR_HEAP_TOO_SMALL) return details->status;
    if (details->needed_bytes >= largest.needed_bytes) largest = *details;
  }
  if (largest.status != ADRT_OK) {
    adrt::PassOn(largest, details);
    return details->status;
  }
  for (uint32_t task = 0; task < plan->tasks.size(); ++task) adrt::EndCounting(*plan, task);
  // A caller that resolves until the plan is resolved is told if that will never be.
  bool goes_on = !plan->module || adrt::ReadsInPlace(*plan) || adrt::CountsBytes(*plan) > 0;
  for (uint32_t task = 0; task < plan->tasks.size() && !goes_on; ++task) {
    if (plan->tasks[task].state == adrt::TaskState::kSettled) continue;
    adrt::RefuseOpen(*plan, task, details);
    return details->status;
  }
  return ADRT_OK;
}
