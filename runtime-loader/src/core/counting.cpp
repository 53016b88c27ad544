#include "core/errors.h"
#include "core/launch.h"

// Stacks whose depth lies in the data. The compiler gives such a task a size kernel: the task's control flow
// without its effects, which raises one number per stack to what the stack would need. Counting is a launch
// like any other, of a plan that is bound by position to the memory of the launch that it serves.
//
// A count may depend on values that another open stack holds (a loop inside of a reversed loop). The size
// kernel then has that stack too, drops what does not fit, and is run again with what it has counted. Every
// round settles at least one more level of nesting, so the rounds end.

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
bool BindLike(const adrt_launch_plan& served, Vector<int64_t>& counts, adrt_launch_plan& plan) {
  const artifact::Allocator* allocator = &plan.host.allocator;
  plan.params.Bind(allocator);
  plan.size_params.Bind(allocator);
  plan.cells.Bind(allocator);
  size_t own = served.params.size();
  if (!plan.params.TryResize(own + 1) || !plan.size_params.TryResize(own + 1)) return false;
  for (size_t index = 0; index < own; ++index) {
    plan.params[index] = served.params[index];
    plan.size_params[index] = served.size_params[index];
    if (plan.size_params[index].extents) plan.size_params[index].extents = plan.params[index].extents;
  }
  BoundParam& last = plan.params[own];
  last.given = true;
  last.data = reinterpret_cast<unsigned char*>(counts.data());
  last.bytes = counts.size() * sizeof(int64_t);
  last.extents[0] = static_cast<int64_t>(counts.size());
  plan.size_params[own].extents = last.extents;
  plan.size_params[own].rank = 1;
  if (!plan.cells.TryReserve(served.cells.size() + 2)) return false;
  for (uint64_t cell : served.cells) {
    if (!plan.cells.TryPush(cell)) return false;
  }
  return plan.cells.TryPush(reinterpret_cast<uintptr_t>(counts.data())) && plan.cells.TryPush(counts.size());
}

/// Memory for the rows of one round.
class Rows {
 public:
  explicit Rows(const artifact::Allocator& allocator) : allocator_(allocator) {}
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;
  ~Rows() { artifact::Release(&allocator_, memory_, size_, ADRT_HEAP_ALIGNMENT); }
  bool Take(uint64_t bytes) {
    if (bytes == 0) return true;
    memory_ = static_cast<unsigned char*>(artifact::Allocate(&allocator_, bytes, ADRT_HEAP_ALIGNMENT));
    size_ = memory_ ? bytes : 0;
    return memory_ != nullptr;
  }
  unsigned char* data() const { return memory_; }

 private:
  artifact::Allocator allocator_;
  unsigned char* memory_ = nullptr;
  uint64_t size_ = 0;
};

// One run of the size kernel with the capacities in `known`.
bool RunRound(adrt_launch_plan& plan, const Vector<int64_t>& known, adrt_error* error) {
  for (uint32_t task = 0; task < plan.tasks.size(); ++task) {
    plan.tasks[task].counts = &known;
    if (!SizeTask(plan, task, true, error)) return false;
    if (plan.tasks[task].total == 0) continue;
    Rows rows(plan.host.allocator);
    if (!rows.Take(plan.tasks[task].heap_bytes)) {
      OutOfMemory(error);
      return false;
    }
    alignas(64) uint32_t status[ADRT_STATUS_BYTES / sizeof(uint32_t)] = {};
    if (!LaunchOnDevice(plan, task, rows.data(), status, error)) return false;
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
  Vector<int64_t> known(&plan.host.allocator);
  adrt_launch_plan counting(plan.host);
  counting.kernel = FindSizeKernel(plan, task);
  counting.bundle = plan.bundle;
  counting.module = plan.module;
  counting.target = plan.target;
  counting.workers = plan.workers;
  counting.heap_budget = plan.heap_budget;
  counting.size_budget = plan.size_budget;
  if (!counts.TryResize(stacks) || !known.TryResize(stacks) || !BindLike(plan, counts, counting)) {
    OutOfMemory(error);
    return false;
  }
  if (!PrepareTasks(counting, error)) return false;
  for (uint32_t round = 0; round < kMaxRounds; ++round) {
    if (!RunRound(counting, known, error)) return false;
    bool repeat = MustRepeat(counting, known, counts);
    for (size_t stack = 0; stack < stacks; ++stack) known[stack] = counts[stack];
    if (!repeat) break;
  }
  plan.tasks[task].counts = &counts;
  bool settled = SizeTask(plan, task, true, error);
  plan.tasks[task].counts = nullptr;
  return settled;
}

bool LaunchOnDevice(const adrt_launch_plan& plan, uint32_t task, unsigned char* heap, uint32_t* status,
                    adrt_error* error) {
  const TaskPlan& sizes = plan.tasks[task];
  const adrt_module& module = *plan.module;
  LaunchTask launch;
  launch.entry = module.entries[module.task_begin[plan.kernel->index] + task];
  launch.total = sizes.total;
  launch.jobs = sizes.rows;
  launch.chunk = ChunkOf(plan, task);
  launch.cells = plan.cells.data();
  launch.adstack = sizes.cells.data();
  launch.heap = heap;
  launch.status = status;
  return module.device->kind->run(*module.device, launch, error);
}

}  // namespace adrt
