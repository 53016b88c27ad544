#include <atomic>
#include <cstring>

#include "artifact/cpu_abi.h"
#include "artifact/gpu_abi.h"
#include "core/errors.h"
#include "core/heap.h"
#include "core/launch.h"
#include "core/serving.h"

// Sizes that depend on data. The compiler gives a task a size kernel where no expression says how deep a
// stack gets, or where threads claim rows at gates: the task's control flow without its effects, which raises
// one number per stack to what the stack would need, and adds up per gate the iterations that pass. Counting
// is a launch like any other, of a plan that is bound by position to the memory of the launch that it serves.
//
// A stack's count may depend on values that another open stack holds (a loop inside of a reversed loop). The
// size kernel then has that stack too, drops what does not fit, and is run again with what it has counted.
// Every round settles at least one more level of nesting, so the rounds end. Each begins with zeros.
//
// The same goes for the iterations of a loop whose bounds no expression gives. Its task has a trip kernel,
// which runs once; its count becomes the value of parameters, and only then can anything else of the task be
// settled or counted. The kernel runs as those that count stacks do.
//
// Rows need not be counted: a row per thread always does. So they are only where that would take more memory
// than the caller's threshold. A count holds as long as the caller's content versions say that no content
// changed.

namespace adrt {

// The state that counting one task keeps: the size or trip kernel's plan, and memory of the device for words,
// status and counts.
struct Counting {
  explicit Counting(const Host& host) : plan(host) {}

  adrt_launch_plan plan;
  Vector<int64_t> counts, known;  ///< of the last round; of the one before, what the next one keeps
  uint64_t segment = 0;           ///< the segment length with which they were counted
  uint32_t rounds = 0;            ///< that did not come to an end
  Memory fixed, rows, counters;
};

namespace {

constexpr uint32_t kMaxRounds = 256;
constexpr uint64_t kAlignment = 256;

uint64_t Aligned(uint64_t bytes) {
  return (bytes + kAlignment - 1) & ~(kAlignment - 1);
}

// No place where there is nothing: an empty part may lie at the memory's end, where no part can be bound.
Place PartOf(const Place& memory, uint64_t from, uint64_t bytes) {
  return bytes > 0 ? memory.Part(from, bytes) : Place();
}

// The numbers that are counted of a task: iterations per axis, or elements per stack and iterations per gate.
enum class Counted : uint8_t { kTrips, kSizes };

const adrt_kernel* FindKernelOf(const adrt_launch_plan& plan, uint32_t task, Counted what) {
  const artifact::TaskMeta& meta = plan.meta().tasks[task];
  std::string_view name = what == Counted::kTrips ? meta.trip_kernel.view() : meta.size_kernel.view();
  return name.empty() ? nullptr : FindKernel(*plan.bundle, name);
}

uint64_t CountBytes(const Counting& counting) {
  return counting.counts.size() * sizeof(int64_t);
}

// A count with another segment length says nothing.
void UseSegmentOf(const TaskPlan& served, Counting& counting) {
  if (counting.segment == served.segment) return;
  counting.segment = served.segment;
  for (int64_t& count : counting.known) count = 0;
}

// The counting launch's parameters are those of the launch that it serves, scratch of its own, and the
// counts.
bool BindLike(const adrt_launch_plan& served, uint32_t task, const Place& values, uint64_t count,
              adrt_launch_plan& plan, adrt_error* error) {
  if (!BindServing(served, plan)) return OutOfMemory(error) == ADRT_OK;
  for (TaskPlan& part : plan.tasks) part.segment = served.tasks[task].segment;
  BindOwn(plan, static_cast<uint32_t>(plan.params.size() - 1), values, count);
  return LayOutBase(plan, error);
}

uint64_t ElementsOf(const adrt_launch_plan& plan, uint32_t task, Counted what) {
  if (what == Counted::kTrips) return plan.meta().tasks[task].extents.size();
  const artifact::AdstackPlanMeta* adstack = AdstackPlanOf(plan, task);
  return adstack ? adstack->stacks.size() + adstack->groups.size() : 0;
}

// The state of the task's counting; null when memory is refused.
Counting* CountingOf(adrt_launch_plan& plan, uint32_t task, Counted what, adrt_error* error) {
  TaskPlan& sizes = plan.tasks[task];
  Counting*& state = what == Counted::kTrips ? sizes.trip_counting : sizes.counting;
  if (state) return state;
  const artifact::Allocator* allocator = &plan.host.allocator;
  size_t count = ElementsOf(plan, task, what);
  Counting* made = New<Counting>(plan.host.allocator, plan.host);
  if (!made) {
    OutOfMemory(error);
    return nullptr;
  }
  made->counts.Bind(allocator);
  made->known.Bind(allocator);
  adrt_launch_plan& counting = made->plan;
  SetUpServing(plan, FindKernelOf(plan, task, what), counting);
  counting.heap_budget = plan.heap_budget;
  counting.own_rows = true;
  bool good =
      (made->counts.TryResize(count) && made->known.TryResize(count)) || OutOfMemory(error) == ADRT_OK;
  if (!good || !BindLike(plan, task, {}, count, counting, error) || !PrepareTasks(counting, error)) {
    Delete(plan.host.allocator, made);
    return nullptr;
  }
  state = made;
  return made;
}

// Whether the status block of a counting launch may say that its driver has ended loops early. Of such a
// block nothing else matters: an error of counting occurs in the launch as well.
bool TellsOfCuts(const adrt_launch_plan& plan) {
  return plan.module && plan.module->device->cuts_loops;
}

bool IsCut(const void* status) {
  uint32_t code = 0;
  std::memcpy(&code, static_cast<const unsigned char*>(status) + ADRT_CPU_STATUS_CODE * sizeof code,
              sizeof code);
  return code == ADRT_GPU_LOOPS_CUT;
}

// The steps of the call that threads which count on a CPU may take: trips of loops, many at once.
struct TripBudget {
  static constexpr uint64_t kAtOnce = 65536, kPerStep = 64;

  explicit TripBudget(const adrt_launch_plan& of)
      : plan(of),
        limit(of.steps->left() < UINT64_MAX / kPerStep ? of.steps->left() * kPerStep : UINT64_MAX) {}

  static uint64_t ADC_CPU_CALL More(uint32_t* status) {
    TripBudget* budget = nullptr;
    std::memcpy(static_cast<void*>(&budget), status + ADRT_CPU_STATUS_OWNER, sizeof budget);
    const adrt_launch_plan& plan = budget->plan;
    if (plan.is_cancelled && plan.is_cancelled(plan.cancel_user) != 0) budget->cancelled = true;
    return !budget->cancelled && budget->taken.fetch_add(kAtOnce) < budget->limit ? kAtOnce : 0;
  }
  void WriteTo(unsigned char* status) {
    uint64_t words[2] = {reinterpret_cast<uintptr_t>(&More), reinterpret_cast<uintptr_t>(this)};
    std::memcpy(status + sizeof(uint32_t) * ADRT_CPU_STATUS_MORE, words, sizeof words);
  }
  bool Spend(adrt_error* error) const {
    if (!cancelled) return SpendSteps(plan, taken / kPerStep, error);
    return Refuse(error, ADRT_ERROR_CANCELLED, plan.meta(), ": counting was cancelled");
  }

  const adrt_launch_plan& plan;
  uint64_t limit;
  std::atomic<uint64_t> taken{0};
  std::atomic<bool> cancelled{false};
};

// One run of the size kernel with the capacities in `known`. Every task is waited for: it has memory of its
// own, and a later one may read what it wrote.
bool RunRound(Counting& counting, LaunchPlaces places, const Place& cleared, adrt_error* error) {
  adrt_launch_plan& plan = counting.plan;
  adrt_device& device = *plan.module->device;
  bool clean = false;
  for (uint32_t task = 0; task < plan.tasks.size(); ++task) {
    ++plan.epoch;
    plan.tasks[task].counts = &counting.known;
    if (!ReadAndSizeTask(plan, task, error)) return false;
    uint64_t bytes = plan.tasks[task].heap_bytes;
    if (plan.tasks[task].total == 0) continue;
    if (!GrowMemory(device, counting.rows, bytes, error)) return false;
    places.rows = bytes > 0 ? counting.rows.place.Part(0, bytes) : Place();
    OwnQueue queue(device);
    if (!queue.Begin(error)) return false;
    if (!clean && (!device.kind->clear(device, queue.handle(), cleared, error) ||
                   !RecordStart(plan, queue.handle(), places, false, error)))
      return false;
    TripBudget budget(plan);
    if (ReadsInPlace(plan)) budget.WriteTo(places.status.host());
    if (!RecordTask(plan, task, queue.handle(), places, error) || !queue.Finish(error)) return false;
    if (!budget.Spend(error)) return false;
    clean = true;
  }
  uint32_t status[ADRT_STATUS_BYTES / sizeof(uint32_t)] = {};
  if (clean && TellsOfCuts(plan)) {
    if (!device.kind->read(device, places.status, status, sizeof status, error)) return false;
    if (IsCut(status)) return SayLoopsCut(plan, error) == ADRT_OK;
  }
  if (clean)
    return device.kind->read(device, plan.params.back().place, counting.counts.data(), CountBytes(counting),
                             error);
  for (int64_t& count : counting.counts) count = 0;
  return true;
}

// Whether a stack that the size kernel keeps holds less than the number that was counted for it.
bool MustRepeat(const Counting& counting) {
  const adrt_launch_plan& plan = counting.plan;
  for (uint32_t task = 0; task < plan.tasks.size(); ++task) {
    const artifact::AdstackPlanMeta* adstack = AdstackPlanOf(plan, task);
    if (!adstack) continue;
    for (const artifact::StackMeta& stack : adstack->stacks) {
      bool open = stack.capacity == artifact::kNoNode && stack.id < counting.counts.size();
      if (open && counting.counts[stack.id] > counting.known[stack.id]) return true;
    }
  }
  return false;
}

// Whether counting is over; else the counts go into the next round.
bool TakeRound(Counting& counting) {
  bool repeat = MustRepeat(counting);
  counting.rounds = repeat ? counting.rounds + 1 : 0;
  for (size_t index = 0; index < counting.counts.size(); ++index) {
    counting.known[index] = counting.counts[index];
  }
  return !repeat;
}

// Each round settles a level of nesting, of which there are few: counting ends within that many rounds unless
// contents change from one to the next.
bool IsWithinRounds(const adrt_launch_plan& plan, uint32_t task, const Counting& counting,
                    adrt_error* error) {
  if (counting.rounds < kMaxRounds) return true;
  return RefuseTask(plan, task, error, ADRT_ERROR_OVER_LIMIT, "counting has not come to an end after ",
                    kMaxRounds, " rounds: contents change in between");
}

// Whether a recording before the launch counts this of the task.
bool IsRecorded(const adrt_launch_plan& plan, uint32_t task, Counted what) {
  if (!plan.module || plan.tasks[task].IsLate()) return false;
  // Nothing may run by trip counts that contents have outlived: they come first, in a round of their own.
  bool counts_trips = MustCountTripsAgain(plan, task) && plan.tasks[task].trips != Trips::kFresh;
  if (what == Counted::kTrips) return counts_trips;
  return !counts_trips && (MustCount(plan, task) || (WantsCount(plan, task) && !CountsLate(plan, task)));
}

// Visits what a recording counts, in its order, as long as visits succeed.
template <class Visit>
bool EachRecorded(const adrt_launch_plan& plan, const Visit& visit) {
  for (uint32_t task = 0; task < plan.tasks.size(); ++task) {
    for (Counted what : {Counted::kTrips, Counted::kSizes}) {
      if (IsRecorded(plan, task, what) && !visit(task, what)) return false;
    }
  }
  return true;
}

// Of what a recording counts.
uint64_t CountedBytes(const adrt_launch_plan& plan) {
  uint64_t bytes = 0;
  EachRecorded(plan, [&](uint32_t task, Counted what) {
    bytes += ElementsOf(plan, task, what) * sizeof(int64_t);
    return true;
  });
  return bytes;
}

// Gives what was counted to the parameters that take it.
void TakeTrips(adrt_launch_plan& plan, uint32_t task, const int64_t* counts) {
  TaskPlan& sizes = plan.tasks[task];
  for (uint32_t axis = 0; axis < plan.meta().tasks[task].extents.size(); ++axis) {
    uint32_t param = TripsParam(plan, task, axis);
    if (param == artifact::kNoIndex) continue;
    int64_t trips = counts[axis] > 0 ? counts[axis] : 0;
    if (sizes.trips == Trips::kMissing || plan.size_params[param].scalar != trips) sizes.counts = nullptr;
    plan.params[param].has_integer = plan.size_params[param].has_scalar = true;
    plan.params[param].integer = plan.size_params[param].scalar = trips;
    plan.cells[plan.meta().params[param].cell] = static_cast<uint64_t>(trips);
  }
  sizes.trips = Trips::kTaken;
}

// Counts into host memory: rounds of the kernel until nothing grows.
bool Run(adrt_launch_plan& plan, uint32_t task, Counted what, adrt_error* error) {
  Counting* counting = CountingOf(plan, task, what, error);
  if (!counting) return false;
  if (!SpendSteps(plan, counting->plan.params.size() + counting->counts.size(), error)) return false;
  UseSegmentOf(plan.tasks[task], *counting);
  adrt_device& device = *plan.module->device;
  // The status block comes first, so that both are aligned. Its report is not read: a size kernel drops
  // elements that do not fit.
  uint64_t bytes = Aligned(ADRT_STATUS_BYTES) + CountBytes(*counting);
  if (!GrowMemory(device, counting->counters, bytes, error)) return false;
  Place both = counting->counters.place.Part(0, bytes);
  LaunchPlaces places;
  places.status = both.Part(0, ADRT_STATUS_BYTES);
  Place values = both.Part(Aligned(ADRT_STATUS_BYTES), CountBytes(*counting));
  if (!BindLike(plan, task, values, counting->counts.size(), counting->plan, error)) return false;
  if (!GrowMemory(device, counting->fixed, counting->plan.base_bytes, error)) return false;
  places.base = PartOf(counting->fixed.place, 0, counting->plan.base_bytes);
  counting->rounds = 0;
  do {
    if (!RunRound(*counting, places, both, error)) return false;
  } while (!TakeRound(*counting) && IsWithinRounds(plan, task, *counting, error));
  return counting->rounds == 0;
}

}  // namespace

uint32_t TripsParam(const adrt_launch_plan& plan, uint32_t task, uint32_t axis) {
  const artifact::TaskMeta& meta = plan.meta().tasks[task];
  if (meta.trip_kernel.empty()) return artifact::kNoIndex;
  const artifact::SizeNode& extent = plan.meta().exprs[meta.extents[axis]];
  bool is_trips = extent.op == artifact::SizeOp::kArg &&
                  plan.meta().params[extent.param].kind == artifact::ParamKind::kTrips;
  return is_trips ? extent.param : artifact::kNoIndex;
}

bool LacksTrips(const adrt_launch_plan& plan, uint32_t task) {
  return !plan.meta().tasks[task].trip_kernel.empty() && plan.tasks[task].trips == Trips::kMissing;
}

bool CountsTripsLate(const adrt_launch_plan& plan, uint32_t task) {
  for (uint32_t param : plan.meta().tasks[task].trip_reads) {
    if (MayWrite(plan, param)) return true;
  }
  return false;
}

bool MustCountTripsAgain(const adrt_launch_plan& plan, uint32_t task) {
  if (LacksTrips(plan, task)) return true;
  for (uint32_t param : plan.meta().tasks[task].trip_reads) {
    if (plan.params[param].content_version == 0 || MayWrite(plan, param)) return true;
  }
  return false;
}

bool TripsNow(adrt_launch_plan& plan, uint32_t task, uint64_t* total, adrt_error* error) {
  constexpr uint32_t kMostAxes = 8;
  if (!Run(plan, task, Counted::kTrips, error)) return false;
  const Vector<int64_t>& counts = plan.tasks[task].trip_counting->counts;
  auto axes = static_cast<uint32_t>(plan.meta().tasks[task].extents.size());
  int64_t before[kMostAxes] = {};
  // Each axis has a parameter of its own, if it has one.
  auto exchange = [&](bool back) {
    for (uint32_t axis = 0; axis < axes && axis < kMostAxes; ++axis) {
      uint32_t param = TripsParam(plan, task, axis);
      if (param == artifact::kNoIndex) continue;
      int64_t& held = plan.size_params[param].scalar;
      if (!back) before[axis] = held;
      held = back ? before[axis] : counts[axis] > 0 ? counts[axis] : 0;
    }
  };
  exchange(false);
  bool known = IterationsNow(plan, task, total);
  exchange(true);
  if (!known) *total = plan.tasks[task].total;
  return true;
}

bool CountTrips(adrt_launch_plan& plan, uint32_t task, adrt_error* error) {
  if (!Run(plan, task, Counted::kTrips, error)) return false;
  TakeTrips(plan, task, plan.tasks[task].trip_counting->counts.data());
  plan.tasks[task].new_counts = true;
  return true;
}

void LeaveCounts(adrt_launch_plan& plan) {
  for (uint32_t task = 0; task < plan.tasks.size(); ++task) {
    plan.tasks[task].counts = nullptr;
    if (IsRecorded(plan, task, Counted::kTrips)) plan.tasks[task].trips = Trips::kMissing;
  }
}

void EndCounting(adrt_launch_plan& plan, uint32_t task) {
  TaskPlan& sizes = plan.tasks[task];
  bool is_over = sizes.IsSettled() && (sizes.counts || !WantsCount(plan, task));
  if (is_over && sizes.trips == Trips::kFresh) sizes.trips = Trips::kTaken;
}

bool CanCount(const adrt_launch_plan& plan, uint32_t task) {
  return plan.cap == 0 && !plan.meta().tasks[task].size_kernel.empty() &&
         FindKernelOf(plan, task, Counted::kSizes);
}

bool IsCounted(const artifact::TaskMeta& task, const artifact::StackMeta& stack) {
  // Before format 1.3 a size kernel counted what nothing else says, and did not say so.
  return stack.counted || (stack.capacity == artifact::kNoNode && !task.size_kernel.empty());
}

bool CountsFit(const TaskPlan& sizes) {
  return !sizes.counting || sizes.counting->segment == sizes.segment;
}

bool MustCount(const adrt_launch_plan& plan, uint32_t task) {
  const artifact::AdstackPlanMeta* adstack = AdstackPlanOf(plan, task);
  if (!adstack || !CanCount(plan, task)) return false;
  if (plan.tasks[task].by_count) return true;
  for (const artifact::StackMeta& stack : adstack->stacks) {
    if (stack.capacity == artifact::kNoNode) return true;
  }
  return false;
}

bool WantsCount(const adrt_launch_plan& plan, uint32_t task) {
  const TaskPlan& sizes = plan.tasks[task];
  if (!sizes.IsSettled() || sizes.worst_bytes <= plan.size_threshold || !CanCount(plan, task)) return false;
  const artifact::AdstackPlanMeta* adstack = AdstackPlanOf(plan, task);
  for (const artifact::GroupMeta& group : adstack->groups) {
    if (group.counted && artifact::IsClaimed(group, plan.rules)) return true;
  }
  for (const artifact::StackMeta& stack : adstack->stacks) {
    if (stack.loose && stack.counted) return true;
  }
  return false;
}

bool CountsLate(const adrt_launch_plan& plan, uint32_t task) {
  for (uint32_t param : plan.meta().tasks[task].count_reads) {
    bool is_scratch = plan.meta().params[param].kind == artifact::ParamKind::kScratch;
    if (is_scratch || (task > 0 && MayWrite(plan, param))) return true;
  }
  return false;
}

bool MustCountAgain(const adrt_launch_plan& plan, uint32_t task) {
  if (!plan.tasks[task].counts) return true;
  for (uint32_t param : plan.meta().tasks[task].count_reads) {
    if (plan.params[param].content_version == 0 || MayWrite(plan, param)) return true;
  }
  return false;
}

bool CountOnce(adrt_launch_plan& plan, uint32_t task, adrt_error* error) {
  plan.tasks[task].counts = nullptr;
  if (!Run(plan, task, Counted::kSizes, error)) return false;
  plan.tasks[task].new_counts = true;
  plan.tasks[task].counts = &plan.tasks[task].counting->counts;
  return ReadAndSizeTask(plan, task, error);
}

void ForgetSizes(adrt_launch_plan& plan, uint32_t task) {
  for (Mirror& mirror : plan.mirrors) mirror.version = 0;
  const artifact::TaskMeta& meta = plan.meta().tasks[task];
  TaskPlan& sizes = plan.tasks[task];
  bool forgets_trips = !meta.trip_reads.empty() && sizes.trips != Trips::kMissing;
  if (!sizes.counts && meta.size_reads.empty() && !forgets_trips) return;
  sizes.counts = nullptr;
  if (forgets_trips) sizes.trips = Trips::kMissing;
  if (plan.cap == 0 || forgets_trips) sizes.Reopen(sizes.IsLate());
}

void ReleaseCounting(adrt_launch_plan& plan) {
  for (TaskPlan& task : plan.tasks) {
    for (Counting** counting : {&task.counting, &task.trip_counting}) {
      if (!*counting) continue;
      for (Memory* memory : {&(*counting)->fixed, &(*counting)->rows, &(*counting)->counters}) {
        if (memory->given()) plan.module->device->kind->release(*plan.module->device, *memory);
      }
      Delete(plan.host.allocator, *counting);
      *counting = nullptr;
    }
  }
}

uint64_t CountsBytes(const adrt_launch_plan& plan) {
  uint64_t counts = CountedBytes(plan);
  return counts > 0 && TellsOfCuts(plan) ? Aligned(counts) + ADRT_STATUS_BYTES : counts;
}

// In the caller's memory counts come first, one task after the other, so that they are read back in one
// piece, with the status block after them where that may say that they are wrong. Words and rows of one size
// kernel are not another's: all may run at once.
bool LayOutCounting(adrt_launch_plan& plan, uint64_t* bytes, adrt_error* error) {
  uint64_t counts_bytes = CountedBytes(plan);
  *bytes = counts_bytes > 0 ? Aligned(counts_bytes) + Aligned(ADRT_STATUS_BYTES) : 0;
  return EachRecorded(plan, [&](uint32_t task, Counted what) {
    Counting* counting = CountingOf(plan, task, what, error);
    if (!counting) return false;
    UseSegmentOf(plan.tasks[task], *counting);
    adrt_launch_plan& counting_plan = counting->plan;
    if (!SpendSteps(plan, counting_plan.params.size() + counting->counts.size(), error)) return false;
    if (!BindLike(plan, task, {}, counting->counts.size(), counting_plan, error)) return false;
    *bytes += Aligned(counting_plan.base_bytes);
    for (uint32_t part = 0; part < counting_plan.tasks.size(); ++part) {
      counting_plan.tasks[part].counts = &counting->known;
      bool has_contents = true;
      for (uint32_t param : counting_plan.meta().tasks[part].size_reads) {
        has_contents = has_contents && counting_plan.params[param].content;
      }
      if (!SizeTask(counting_plan, part, has_contents, error)) return false;
      if (!counting_plan.tasks[part].IsSettled()) {
        return Refuse(error, ADRT_ERROR_NEEDS_DEVICE_DATA, plan.meta(), ", task ", task,
                      ": how much is counted depends on the content of buffers: call adrt_plan_resolve");
      }
      *bytes += Aligned(counting_plan.tasks[part].heap_bytes);
    }
    return true;
  });
}

bool RecordCounting(adrt_launch_plan& plan, void* queue, const Place& memory, adrt_error* error) {
  uint64_t needed = 0, counts_bytes = CountedBytes(plan);
  BeginSteps(plan);
  if (!LayOutCounting(plan, &needed, error)) return false;
  if (needed == 0) return true;
  if (!memory.given() || memory.bytes < needed) {
    Fail(error, ADRT_ERROR_HEAP_TOO_SMALL, plan.meta(), ": counting takes ", needed, " bytes, given ",
         memory.given() ? memory.bytes : 0);
    error->needed_bytes = needed;
    return false;
  }
  if (memory.position() % kAlignment != 0) {
    return Refuse(error, ADRT_ERROR_ARGUMENT, "record_size: the memory is not aligned to ", kAlignment,
                  " bytes");
  }
  adrt_device& device = *plan.module->device;
  uint64_t head = Aligned(counts_bytes) + ADRT_STATUS_BYTES;
  LaunchPlaces places;
  places.status = memory.Part(Aligned(counts_bytes), ADRT_STATUS_BYTES);
  // With `records`; else it is only asked whether that can be.
  auto each_task = [&](bool records) {
    uint64_t cursor = Aligned(head), offset = 0;
    return EachRecorded(plan, [&](uint32_t task, Counted what) {
      Counting& own = *CountingOf(plan, task, what, error);  // laid out, so it is there
      Place values = memory.Part(offset, CountBytes(own));
      offset += CountBytes(own);
      if (!BindLike(plan, task, values, own.counts.size(), own.plan, error)) return false;
      places.base = PartOf(memory, cursor, own.plan.base_bytes);
      PlaceScratch(own.plan, places.base);
      if (records && !RecordStart(own.plan, queue, places, false, error)) return false;
      cursor += Aligned(own.plan.base_bytes);
      for (uint32_t part = 0; part < own.plan.tasks.size(); ++part) {
        uint64_t bytes = own.plan.tasks[part].heap_bytes;
        places.rows = PartOf(memory, cursor, bytes);
        cursor += Aligned(bytes);
        bool done = records ? RecordTask(own.plan, part, queue, places, error)
                            : CanRecordTask(own.plan, part, places, error);
        if (!done) return false;
      }
      return true;
    });
  };
  return each_task(false) && device.kind->clear(device, queue, memory.Part(0, head), error) &&
         each_task(true);
}

bool NeedsCounts(const adrt_launch_plan& plan) {
  return !EachRecorded(plan, [&](uint32_t task, Counted what) {
    return what == Counted::kTrips ? !LacksTrips(plan, task) : !MustCount(plan, task);
  });
}

bool TakeCounts(adrt_launch_plan& plan, const unsigned char* counts, adrt_error* error) {
  if (TellsOfCuts(plan) && IsCut(counts + Aligned(CountedBytes(plan))))
    return SayLoopsCut(plan, error) == ADRT_OK;
  bool taken = EachRecorded(plan, [&](uint32_t task, Counted what) {
    Counting* counting = CountingOf(plan, task, what, error);
    if (!counting) return false;
    std::memcpy(counting->counts.data(), counts, CountBytes(*counting));
    counts += CountBytes(*counting);
    plan.tasks[task].new_counts = true;
    if (what == Counted::kTrips) return true;
    plan.tasks[task].counts = TakeRound(*counting) ? &counting->counts : nullptr;
    if (!IsWithinRounds(plan, task, *counting, error)) {
      counting->rounds = 0;
      return false;
    }
    TakeRecordedSegment(plan, task);
    return true;
  });
  for (uint32_t task = 0; task < plan.tasks.size() && taken; ++task) {
    if (!IsRecorded(plan, task, Counted::kTrips)) continue;
    TakeTrips(plan, task, plan.tasks[task].trip_counting->counts.data());
    plan.tasks[task].trips = Trips::kFresh;
  }
  return taken;
}

}  // namespace adrt

adrt_status adrt_plan_counting(adrt_launch_plan* plan, adrt_count_report* report, adrt_error* error) {
  adrt::Alive(__func__, plan);
  using namespace adrt;
  if (!plan || !report) return Fail(error, ADRT_ERROR_ARGUMENT, "plan_counting: null argument");
  adrt_error own = {};
  adrt_error* details = DetailsOf(error, &own);
  adrt_count_report made = {};
  made.counts_bytes = CountsBytes(*plan);
  made.memory_alignment = kAlignment;
  BeginSteps(*plan);
  if (!LayOutCounting(*plan, &made.memory_bytes, details)) return details->status;
  if (!CopyReport(made, report))
    return Fail(error, ADRT_ERROR_ARGUMENT, "plan_counting: struct_size is not set");
  return ADRT_OK;
}
