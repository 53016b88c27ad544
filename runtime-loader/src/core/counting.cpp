#include "core/errors.h"
#include "core/heap.h"
#include "core/launch.h"

// Stacks whose depth lies in the data. The compiler gives such a task a size kernel: the task's control flow
// without its effects, which raises one number per stack to what the stack would need. Counting is a launch
// like any other, of a plan that is bound by position to the memory of the launch that it serves.
//
// A count may depend on values that another open stack holds (a loop inside of a reversed loop). The size
// kernel then has that stack too, drops what does not fit, and is run again with what it has counted. Every
// round settles at least one more level of nesting, so the rounds end. The counts, and what a round takes
// beside them, lie in the device's memory.

namespace adrt {
namespace {

constexpr uint32_t kMaxRounds = 256;

const adrt_kernel* FindSizeKernel(const adrt_launch_plan& plan, uint32_t task) {
  std::string_view name = plan.meta().tasks[task].size_kernel.view();
  for (const adrt_kernel& kernel : plan.bundle->kernels) {
    if (!name.empty() && kernel.meta->name.view() == name) return &kernel;
  }
  return nullptr;
}

// The counting launch's own parameters are those of the launch that it serves, and the counts.
bool BindLike(const adrt_launch_plan& served, const Place& counts, uint64_t count, adrt_launch_plan& plan) {
  const artifact::Allocator* allocator = &plan.host.allocator;
  plan.params.Bind(allocator);
  plan.size_params.Bind(allocator);
  plan.cells.Bind(allocator);
  plan.mirrors.Bind(allocator);
  size_t own = served.params.size();
  if (!plan.params.TryResize(own + 1) || !plan.size_params.TryResize(own + 1)) return false;
  for (size_t index = 0; index < own; ++index) {
    plan.params[index] = served.params[index];
    plan.size_params[index] = served.size_params[index];
    if (plan.size_params[index].extents) plan.size_params[index].extents = plan.params[index].extents;
  }
  BoundParam& last = plan.params[own];
  last.given = true;
  last.place = counts;
  last.content = ReadsInPlace(plan) ? counts.host() : nullptr;
  last.bytes = count * sizeof(int64_t);
  last.extents[0] = static_cast<int64_t>(count);
  plan.size_params[own].extents = last.extents;
  plan.size_params[own].rank = 1;
  if (!plan.cells.TryReserve(served.cells.size() + 2)) return false;
  for (uint64_t cell : served.cells) {
    if (!plan.cells.TryPush(cell)) return false;
  }
  return plan.cells.TryPush(counts.address) && plan.cells.TryPush(count);
}

// One run of the size kernel with the capacities in `known`. Every task is waited for: it has memory of its
// own, and a later one may read what it wrote.
bool RunRound(adrt_launch_plan& plan, const Vector<int64_t>& known, const LaunchPlaces& fixed,
              adrt_error* error) {
  adrt_device& device = *plan.module->device;
  for (uint32_t task = 0; task < plan.tasks.size(); ++task) {
    ++plan.epoch;
    plan.tasks[task].counts = &known;
    if (!ReadAndSizeTask(plan, task, error)) return false;
    if (plan.tasks[task].total == 0) continue;
    PassingMemory rows(device);
    LaunchPlaces places = fixed;
    if (plan.tasks[task].heap_bytes > 0) {
      if (!rows.Take(plan.tasks[task].heap_bytes, error)) return false;
      places.rows = rows.place();
    }
    OwnQueue queue(device);
    bool recorded = queue.Begin(error) && device.kind->clear(device, queue.handle(), places.status, error) &&
                    RecordTask(plan, task, queue.handle(), places, error) && queue.Finish(error);
    if (!recorded) return false;
  }
  return true;
}

// Whether a stack that the size kernel keeps holds less than what was counted for it.
bool MustRepeat(const adrt_launch_plan& plan, const Vector<int64_t>& known, const Vector<int64_t>& counts) {
  for (uint32_t task = 0; task < plan.tasks.size(); ++task) {
    const artifact::AdstackPlanMeta* adstack = AdstackPlanOf(plan, task);
    if (!adstack) continue;
    for (const artifact::StackMeta& stack : adstack->stacks) {
      bool open = stack.capacity == artifact::kNoNode && stack.id < counts.size();
      if (open && counts[stack.id] > known[stack.id]) return true;
    }
  }
  return false;
}

}  // namespace

bool IsCounted(const adrt_launch_plan& plan, uint32_t task) {
  return plan.cap == 0 && FindSizeKernel(plan, task) != nullptr;
}

bool CountTask(adrt_launch_plan& plan, uint32_t task, Vector<int64_t>& counts, adrt_error* error) {
  const artifact::AdstackPlanMeta* adstack = AdstackPlanOf(plan, task);
  size_t stacks = adstack ? adstack->stacks.size() : 0;
  size_t count_bytes = stacks * sizeof(int64_t);
  adrt_device& device = *plan.module->device;
  Vector<int64_t> known(&plan.host.allocator);
  adrt_launch_plan counting(plan.host);
  counting.kernel = FindSizeKernel(plan, task);
  counting.bundle = plan.bundle;
  counting.module = plan.module;
  counting.target = plan.target;
  counting.workers = plan.workers;
  counting.heap_budget = plan.heap_budget;
  counting.size_budget = plan.size_budget;
  counting.rules = plan.rules;
  counting.own_rows = true;
  // Zeros in the host's memory, then in the device's: a kernel raises them.
  PassingMemory counters(device), fixed(device);
  if (!counts.TryResize(stacks) || !known.TryResize(stacks)) return OutOfMemory(error) == ADRT_OK;
  if (!counters.Take(count_bytes + ADRT_STATUS_BYTES, error)) return false;
  // The status block comes first, so that both are aligned; its text is not read: a size kernel drops what
  // does not fit.
  LaunchPlaces places;
  places.status = counters.place().Part(0, ADRT_STATUS_BYTES);
  Place values = counters.place().Part(ADRT_STATUS_BYTES, count_bytes);
  if (count_bytes > 0 && !device.kind->write(device, values, counts.data(), count_bytes, error)) return false;
  if (!BindLike(plan, values, stacks, counting)) return OutOfMemory(error) == ADRT_OK;
  if (!PrepareTasks(counting, error)) return false;
  if (counting.base_bytes > 0) {
    if (!fixed.Take(counting.base_bytes, error)) return false;
    places.base = fixed.place();
  }
  for (uint32_t round = 0; round < kMaxRounds; ++round) {
    if (!RunRound(counting, known, places, error)) return false;
    if (count_bytes > 0 && !device.kind->read(device, values, counts.data(), count_bytes, error)) {
      return false;
    }
    bool repeat = MustRepeat(counting, known, counts);
    for (size_t stack = 0; stack < stacks; ++stack) known[stack] = counts[stack];
    if (!repeat) break;
  }
  plan.tasks[task].counts = &counts;
  bool settled = ReadAndSizeTask(plan, task, error);
  plan.tasks[task].counts = nullptr;
  return settled;
}

}  // namespace adrt
