#pragma once
// The facts that a plan knows about a launch: the arguments as the code wants them, and per task how many
// iterations there are and where its adstacks lie in the heap.
//
// The heap: [scratch parameters | words of each task, on devices that read them from memory | claim counters
// and rows of the running task]. Tasks run one after the other, so their rows use the same bytes. How rows
// lie is the business of artifact/adstack_layout.h; on a CPU strides are multiples of 64 bytes, so that two
// workers never write one cache line.

#include "artifact/adstack_layout.h"
#include "artifact/budget.h"
#include "core/call_memory.h"
#include "core/handles.h"

namespace adrt {

/// One parameter of the kernel as bound by the caller.
struct BoundParam {
  uint64_t given = 0;  ///< number of the binding that gave it, 0: none has
  Place place;         ///< buffers, layouts; scratch once a launch has its heap
  uint64_t bytes = 0;
  /// The content as the host reads it for sizes: the memory itself on a CPU, else a copy, or null.
  const unsigned char* content = nullptr;
  int64_t extents[8] = {};
  int64_t least = 0;         ///< saved: the least extent that it must have
  bool has_integer = false;  ///< an integer scalar that fits int64
  int64_t integer = 0;
  uint64_t content_version = 0;
};

/// A buffer that sizing reads, copied to the host.
struct Mirror {
  Vector<unsigned char> bytes;
  uint64_t epoch = 0;    ///< when it was copied, 0: never
  uint64_t version = 0;  ///< the content's, and where it lay, as far as that says that a copy still holds
  Place from;
};

struct Counting;
struct BoundsRecord;

/// The unit, in bytes, to which shares of a cap are rounded.
inline constexpr uint64_t kCapUnit = 64;

/// How far a task's sizes are. Those of a late task read what the kernel writes: adrt_run settles them when
/// the task's turn comes.
///
///   state         what makes it so                                what ends it
///   kOpen         sizing begins, or a read value did not hold     sizing is complete
///   kRowsOpen     the same, of a task that was kRowsSettled       sizing is complete, or adrt_run ends
///   kLateOpen     the same, of a late task                        sizing is complete, at its turn
///   kLateSettled  sizing is complete, for this turn               the task is sized again, or ForgetSizes
///   kSettled      sizing is complete                              the same, or it becomes kRowsSettled
///   kRowsSettled  adrt_run will count its rows at its turn        the same, or adrt_run ends
enum class TaskState : uint8_t { kOpen, kRowsOpen, kLateOpen, kLateSettled, kSettled, kRowsSettled };

/// The content of the parameters for a task's trip counts: nothing, counts, or counts of a recording that is
/// followed by another one before the launch.
enum class Trips : uint8_t { kMissing, kTaken, kFresh };

/// Everything about one task that a launch needs.
struct TaskPlan {
  using enum TaskState;
  TaskState state = kOpen;  ///< changed by the functions below alone
  Trips trips = Trips::kMissing;
  bool was_settled = false;  ///< before a cap was given
  bool by_count = false;     ///< counted stacks are not evaluated: too many steps, too much to read back, or
                             ///< more than there can be
  uint32_t team_iterations = 0;  ///< that a block of threads runs together; 0: each thread has its own
  bool is_new = false;           ///< settled since the launch before, as far as launches are logged
  bool new_counts = false;       ///< the same of what code has counted
  int64_t extents[8] = {};
  uint64_t total = 0;
  uint64_t threads = 0;         ///< at most this many at once; CPU: jobs
  uint64_t rows = 0;            ///< of the largest claim group
  uint64_t most_threads = 0;    ///< `threads` without budget, cap and the device's caches
  uint64_t wanted_threads = 0;  ///< `threads` without a budget
  uint64_t segment = 0;         ///< iterations between checkpoints, 0: whole tapes
  uint64_t row_bytes = 0;       ///< over all groups
  uint64_t copied = 0;          ///< elements of buffers that a worker has copies of in its row
  uint64_t heap_bytes = 0;      ///< claim counters and rows
  uint64_t worst_bytes = 0;     ///< rows, if every thread took one of every group, before the budget
  uint64_t worst_heap = 0;      ///< bytes of a heap with these rows; UINT64_MAX: more than there can be
  uint64_t counters = 0;        ///< where the claim counters begin in the heap
  uint64_t counter_bytes = 0;
  Vector<artifact::GroupPlace> groups;
  Vector<artifact::StackPlace> stacks;
  Vector<bool> open;          ///< per stack: its capacity is not settled
  Vector<uint64_t> words;     ///< GPU: words of a launch (artifact/gpu_abi.h); CPU: the adstack cells
  uint64_t words_offset = 0;  ///< where they go in the heap, if there
  /// The counts of a size kernel: by StackMeta::id the capacities of the stacks that no expression sizes,
  /// then by group the iterations that claim a row. Null: none yet.
  const Vector<int64_t>* counts = nullptr;
  Vector<int64_t> assumed;       ///< the same, as adrt_plan_assume was told
  Counting* counting = nullptr;  ///< the state that counting keeps from launch to launch; the plan's
  Counting* trip_counting = nullptr;

  bool IsSettled() const { return state >= kLateSettled; }
  bool IsLate() const { return state == kLateOpen || state == kLateSettled; }
  /// Whether adrt_run counts its rows when its turn comes, though the rest is settled before.
  bool HasLateRows() const { return state == kRowsOpen || state == kRowsSettled; }
  /// Whether the rows lie in memory of their own instead of after the plan's scratch and words.
  bool OwnRows(bool by_plan) const { return (state != kOpen && state != kSettled) || by_plan; }

  void Reopen(bool is_late) { state = is_late ? kLateOpen : HasLateRows() ? kRowsOpen : kOpen; }
  void Settle() { state = IsLate() ? kLateSettled : HasLateRows() ? kRowsSettled : kSettled; }
  /// Of a task that is kSettled.
  void LeaveRowsToTurn() { state = kRowsSettled; }
  void ForgetLateRows() { state = kOpen; }
};

/// One task as a device runs it. Everything lives for the call; the places live for the launch.
struct LaunchTask {
  const artifact::KernelMeta* kernel = nullptr;
  uint32_t index = 0;  ///< of the task in the kernel
  const artifact::EntryMeta* meta = nullptr;
  void* entry = nullptr;  ///< the entry that `load` put into adrt_module::entries
  uint64_t total = 0;     ///< iterations; 0 where the code is to look whether there are some by now
  uint64_t threads = 0;   ///< GPU: threads that take part, CPU: jobs at once; each has its own row
  uint64_t blocks = 0;    ///< GPU: blocks of `block_size` threads that hold them
  uint32_t block_size = 0;
  uint64_t chunk = 0;  ///< CPU: iterations dealt at once
  /// CPU: the adstack cells. GPU: all words of the launch, as artifact/gpu_abi.h lists them.
  std::span<const uint64_t> words;
  std::span<const uint64_t> cells;     ///< the kernel's arguments
  std::span<const BoundParam> params;  ///< the same by parameter, scratch included
  Place heap;                          ///< the place from which offsets in the words count
  Place status;                        ///< ADRT_STATUS_BYTES
  void** held = nullptr;  ///< the plan's list of what recorded launches need, the device's business
  Place words_place;      ///< where the words belong, or those of the table, if code reads them from memory
  void* table_writer = nullptr;  ///< adrt_module::table_writer
};

/// The receiver of the work that a launch would record, instead of a device's queue.
struct LaunchNotes {
  bool (*clear)(LaunchNotes& notes, const Place& place, adrt_error* error) = nullptr;
  bool (*launch)(LaunchNotes& notes, const LaunchTask& task, adrt_error* error) = nullptr;
};

}  // namespace adrt

struct adrt_launch_plan {
  explicit adrt_launch_plan(const adrt::Host& from) : host(from), memory(host.allocator) {}
  adrt_launch_plan(const adrt_launch_plan&) = delete;
  adrt_launch_plan& operator=(const adrt_launch_plan&) = delete;
  ~adrt_launch_plan() {
    if (held) module->device->kind->forget(*module->device, held);
  }

  const adc::artifact::KernelMeta& meta() const { return *kernel->meta; }
  /// Bytes that the heap may take: the smaller of budget and cap; 0: as many as it needs.
  uint64_t MostBytes() const {
    return cap > 0 && (heap_budget == 0 || cap < heap_budget) ? cap : heap_budget;
  }
  /// For objects that are made with the plan and go with it.
  const adc::artifact::Allocator* allocator() const { return memory.allocator(); }

  adrt::Host host;
  adrt::BlockMemory memory;  ///< after the plan itself, where it was made with a block
  size_t block_bytes = 0;    ///< of the plan and its block; 0: it is part of something
  const adrt_kernel* kernel = nullptr;
  adrt_bundle* bundle = nullptr;  ///< retained
  adrt_module* module = nullptr;  ///< retained, may be null
  uint32_t target = 0;
  uint32_t workers = 1;
  uint32_t most_workers = 0;   ///< as the caller wants it; 0: no wish
  uint64_t heap_budget = 0;    ///< 0: none
  uint64_t cap = 0;            ///< 0: none
  bool chains_status = false;  ///< recorded launches leave the status block as they find it
  /// The steps that the present call may still take: its own, or those of the plan that it serves. Each walk
  /// in more than one list spends from them, and once they are used up nothing is settled any more.
  adc::artifact::Steps own_steps;
  adc::artifact::Steps* steps = &own_steps;
  uint64_t size_budget = 0;  ///< the number with which `steps` begin in each call
  int (*is_cancelled)(void* cancel_user) = nullptr;
  void* cancel_user = nullptr;
  bool alias_written = false;   ///< a parameter that may share memory is written
  uint64_t size_threshold = 0;  ///< bytes of rows up to which none are counted
  adrt::Vector<adrt::BoundParam> params;
  uint64_t bindings = 0;  ///< how often arguments were given
  /// Of the parameters that the last adrt_plan_update was given (BoundParam::given is `bindings`): their
  /// values before it, with the cells.
  adrt::Vector<adrt::BoundParam> params_before;
  adrt::Vector<uint64_t> cells_before;
  adrt::Vector<adc::artifact::SizeParam> size_params;
  adrt::Vector<uint64_t> cells;  ///< addresses of scratch are offsets until the launch
  uint32_t first_own = 0;        ///< of the parameters: those before are those of the plan that it serves
  uint64_t scratch_bytes = 0;
  uint64_t base_bytes = 0;  ///< the bytes before the rows: scratch and words
  bool serves = false;      ///< it counts for another plan, which chooses its tasks' segments
  bool own_rows = false;    ///< rows of every task lie in memory of their own, as those of late tasks do
  adc::artifact::RowRules rules;  ///< of the target; lanes are the task's own
  adrt::Vector<adrt::TaskPlan> tasks;
  adrt::Vector<adrt::Mirror> mirrors;    ///< per parameter, empty where nothing was copied
  adrt::BoundsRecord* bounds = nullptr;  ///< null: the caller gave no record, or there is nothing to record
  uint64_t epoch = 0;                    ///< counts the times at which buffers may have changed
  void* held = nullptr;                  ///< by the device, for what was recorded with it
  adrt::Memory run_status;               ///< adrt_run's own status block, where that is no host memory
  adrt::Memory run_rows;                 ///< adrt_run's own rows of tasks that are settled at their turn
  // Last: code reaches what comes first in fewer bytes.
  adrt::Count count;
#ifdef ADRT_SEQUENCES
  adrt::LaunchNotes* notes = nullptr;  ///< of a sequence, while it goes through the launch
  void* groups = nullptr;              ///< of arguments, that the plan was made with
  void (*leave_groups)(adrt_launch_plan& plan) = nullptr;
#endif
};

namespace adrt {

/// The receiver of the work that the plan's launch would record; null: it is recorded. Builds without
/// sequences have none.
inline LaunchNotes* NotesOf(const adrt_launch_plan& plan) {
#ifdef ADRT_SEQUENCES
  return plan.notes;
#else
  static_cast<void>(plan);
  return nullptr;
#endif
}

/// Of the device's last cache before memory; 0: unknown. Builds for the CPU alone have no device that says
/// it.
inline uint64_t CacheBytes(const adrt_launch_plan& plan) {
#ifdef ADRT_DEVICES
  return plan.module ? plan.module->device->cache_bytes : 0;
#else
  static_cast<void>(plan);
  return 0;
#endif
}

/// A call on the plan begins: it has the whole budget.
inline void BeginSteps(adrt_launch_plan& plan) {
  plan.own_steps.Reset(plan.size_budget);
}
/// Takes steps of the call; where they do not do the error says so.
bool SpendSteps(const adrt_launch_plan& plan, uint64_t steps, adrt_error* error);

/// Binds the caller's arguments to the kernel's parameters: every rule about them. Fills params, size_params
/// and cells.
bool BindArguments(const adrt_plan_desc& desc, adrt_launch_plan& plan, adrt_error* error);

/// The changes of other arguments.
struct Changes {
  bool sizes = false;    ///< an extent, or a by-value integer
  bool numbers = false;  ///< a by-value argument, float or not
};
/// Binds some of them anew, and keeps what those were in params_before and cells_before, which are reserved.
/// Where it fails, params, size_params and cells hold something in between.
bool BindOthers(const adrt_arg* args, uint32_t arg_count, adrt_launch_plan& plan, Changes* changes,
                adrt_error* error);

/// Lays out scratch and settles what can be settled without reading buffers.
bool SizeLaunch(adrt_launch_plan& plan, adrt_error* error);
/// The same for a plan whose tasks are reserved: no settled size stays so.
bool SizeLaunchAgain(adrt_launch_plan& plan, adrt_error* error);

/// Reserves every task of the plan, nothing settled.
bool PrepareTasks(adrt_launch_plan& plan, adrt_error* error);

/// Whether the kernel itself may change what the parameter holds.
bool MayWrite(const adrt_launch_plan& plan, uint32_t param);

/// Capacity of a stack in a buffer of saved values where nothing says before the launch how many there are.
constexpr uint64_t kNotKnown = UINT64_MAX;
/// Elements of the caller's buffer that a launch saves or reads; false where that is a lower bound, since a
/// task is not sized yet or its number is not known.
bool SavedElements(const adrt_launch_plan& plan, uint32_t param, uint64_t* elements);
/// `others` and the bytes of `elements` elements; UINT64_MAX where that does not fit 64 bits.
uint64_t SavedBytes(const artifact::ParamMeta& param, uint64_t elements, uint64_t others);
/// Says that the buffer is too short; false.
bool RefuseSaved(const adrt_launch_plan& plan, uint32_t param, uint64_t elements, adrt_status status,
                 const char* at_least, adrt_error* error);
/// Says it of a task, "kernel 'k', task 2 (k.ir:3:1): ..."; false.
bool RefuseAt(const adrt_launch_plan& plan, uint32_t task, adrt_status status, artifact::Message message,
              adrt_error* error);
template <class... Parts>
ADC_ALWAYS_INLINE bool RefuseTask(const adrt_launch_plan& plan, uint32_t task, adrt_error* error,
                                  adrt_status status, const Parts&... parts) {
  const artifact::MessagePart list[] = {artifact::MessagePart(parts)...};
  return RefuseAt(plan, task, status, list, error);
}
/// Whether the buffers of saved values are as long as the sizes of a task say, and its promises hold.
bool CheckSavedAndPromises(const adrt_launch_plan& plan, uint32_t task, adrt_error* error);
/// Gives the plan's own scratch places at the start of its heap, and each task its words after that.
bool LayOutBase(adrt_launch_plan& plan, adrt_error* error);

/// Whether the task's size kernel counts the stack's elements.
bool IsCounted(const artifact::TaskMeta& task, const artifact::StackMeta& stack);
/// Whether what was counted of the stacks holds for the segment length that the task has now.
bool CountsFit(const TaskPlan& sizes);
/// Whether what a size kernel counts would take the host more reading than counting is worth.
bool ReadsTooMuch(const adrt_launch_plan& plan, uint32_t task);
/// Whether settling the task looks at what the parameter holds.
bool SizesRead(const adrt_launch_plan& plan, uint32_t task, uint32_t param);
/// Whether running the task's size kernel could say what is open. Not with a cap, which takes its place.
bool CanCount(const adrt_launch_plan& plan, uint32_t task);
/// Whether nothing else says what is open.
bool MustCount(const adrt_launch_plan& plan, uint32_t task);
/// Whether counting is worth it: a settled task's rows would take more than the threshold if every thread
/// took one.
bool WantsCount(const adrt_launch_plan& plan, uint32_t task);
/// Whether the size kernel reads what an earlier task writes, so that the task's turn must come first.
bool CountsLate(const adrt_launch_plan& plan, uint32_t task);
/// Whether counts may not hold any more.
bool MustCountAgain(const adrt_launch_plan& plan, uint32_t task);
/// Counts by running the task's size kernel until nothing grows, and settles the task, with shorter segments
/// where whole tapes leave too few rows. The memory that it reads must be written, the task's scratch in
/// place where it reads that.
bool CountTask(adrt_launch_plan& plan, uint32_t task, adrt_error* error);
/// The same with the segment length that the plan holds. TaskPlan::counts says whether counting came to an
/// end.
bool CountOnce(adrt_launch_plan& plan, uint32_t task, adrt_error* error);
/// Counts that the caller recorded are there: where what they say does not fit the budget the task gets
/// shorter segments, and is to be counted again.
void TakeRecordedSegment(adrt_launch_plan& plan, uint32_t task);
/// The parameter that takes the trip count of an axis; kNoIndex where its extent is an expression.
uint32_t TripsParam(const adrt_launch_plan& plan, uint32_t task, uint32_t axis);
/// Whether nothing has said yet how often axes of the task run: it cannot be settled.
bool LacksTrips(const adrt_launch_plan& plan, uint32_t task);
/// Whether what counts them reads what the kernel may write, so that the task's turn must come first.
bool CountsTripsLate(const adrt_launch_plan& plan, uint32_t task);
/// Whether trip counts may not hold any more.
bool MustCountTripsAgain(const adrt_launch_plan& plan, uint32_t task);
/// Runs the task's trip kernel, on what is in memory now. Counts of size kernels are forgotten.
bool CountTrips(adrt_launch_plan& plan, uint32_t task, adrt_error* error);
/// The number of iterations that the task's trip kernel gives, run on the present contents of memory; the
/// plan goes on with the earlier count.
bool TripsNow(adrt_launch_plan& plan, uint32_t task, uint64_t* total, adrt_error* error);
/// A read or counted value did not hold: the task is to be settled again.
void ForgetSizes(adrt_launch_plan& plan, uint32_t task);
/// Gives back what counting holds.
void ReleaseCounting(adrt_launch_plan& plan);

/// A recording's counts are not taken: rows are those of the worst case, trip counts are missing.
void LeaveCounts(adrt_launch_plan& plan);
/// Counting in the caller's queue is over where it is: the next one begins with trip counts.
void EndCounting(adrt_launch_plan& plan, uint32_t task);

/// Counting in the caller's queue, before the launch: bytes of what is read back of it, 0 where nothing is
/// counted.
uint64_t CountsBytes(const adrt_launch_plan& plan);
/// That the device's driver ended loops of the kernel early, as its code has found: ADRT_ERROR_DRIVER.
adrt_status SayLoopsCut(const adrt_launch_plan& plan, adrt_error* error);
/// Records it: memory is [counts of every task | status block | words and rows].
bool RecordCounting(adrt_launch_plan& plan, void* queue, const Place& memory, adrt_error* error);
/// Whether the plan cannot be settled without what such a recording counts.
bool NeedsCounts(const adrt_launch_plan& plan);
/// Takes CountsBytes bytes that such a recording counted. Tasks that take another round stay open. Refuses
/// the round after the last that contents which stay the same can take.
bool TakeCounts(adrt_launch_plan& plan, const unsigned char* counts, adrt_error* error);

/// Settles one task, with the contents that BoundParam::content gives where `may_read`. Leaves it open,
/// without an error, where that is not enough.
bool SizeTask(adrt_launch_plan& plan, uint32_t task, bool may_read, adrt_error* error);
/// The same with the segment length that the plan holds.
bool SizeTaskAsIs(adrt_launch_plan& plan, uint32_t task, bool may_read, adrt_error* error);
/// The parameter that holds the iterations between checkpoints; kNoIndex where the kernel has none.
uint32_t SegmentParam(const adrt_launch_plan& plan);
/// The number of iterations of a settled task that the present contents of host memory give; false where that
/// takes more than a look.
bool IterationsNow(adrt_launch_plan& plan, uint32_t task, uint64_t* total);
/// Puts the task's segment length into its place among the arguments.
void UseSegment(adrt_launch_plan& plan, uint32_t task);
/// Makes the contents that the task's sizes read visible to the host, then settles it.
bool ReadAndSizeTask(adrt_launch_plan& plan, uint32_t task, adrt_error* error);
/// Sizes every task, with contents where `may_read`; late tasks stay open. Where the budget is too small the
/// error says which budget would do for all of them, or for those that are known. Without contents tasks stay
/// open instead, where others are and LeavesRefusal says so.
bool SizeTasks(adrt_launch_plan& plan, bool may_read, adrt_error* error);
/// The same with the contents of the tasks for which `knows` holds.
bool SizeTasks(adrt_launch_plan& plan, bool (*knows)(const adrt_launch_plan& plan, uint32_t task),
               adrt_error* error);
/// Whether a budget that is too small is said by adrt_plan_resolve or adrt_run where sizes are open until
/// then.
bool LeavesRefusal(const adrt_launch_plan& plan);
/// Adds to an error that names bytes that `task`, which is open, may take more.
void SayAtLeast(const adrt_launch_plan& plan, uint32_t task, adrt_error& error);
/// The first task from `task` on whose rows are known at its turn only; kNoIndex: none.
uint32_t LateFrom(const adrt_launch_plan& plan, uint32_t task);
/// Whether the task's number of iterations depends on contents.
bool ReadsExtents(const adrt_launch_plan& plan, uint32_t task);
/// Whether a task's sizes must be read again at each launch.
bool MustReadAgain(const adrt_launch_plan& plan, uint32_t task);
/// Whether host code may look into the plan's buffers.
bool ReadsInPlace(const adrt_launch_plan& plan);

/// The part of the heap that all tasks settled before the launch need, scratch and words included.
uint64_t HeapBytes(const adrt_launch_plan& plan);
/// The alignment that the heap must have.
uint64_t HeapAlignment(const adrt_launch_plan& plan);

/// The places of a launch's memory.
struct LaunchPlaces {
  Place base;    ///< the heap: scratch, words, rows
  Place rows;    ///< of tasks that are settled at their turn: memory of their own
  Place status;  ///< ADRT_STATUS_BYTES
};
/// Gives scratch its place in the heap. Buffers on which the kernel's size kernels run are found through it.
void PlaceScratch(adrt_launch_plan& plan, const Place& heap);
/// A heap is the launch's: with it scratch loses its place, which says nothing about any later launch. Lives
/// from before a launch is recorded until after.
class ScratchOfLaunch {
 public:
  explicit ScratchOfLaunch(adrt_launch_plan& plan) : plan_(plan) {}
  ScratchOfLaunch(const ScratchOfLaunch&) = delete;
  ScratchOfLaunch& operator=(const ScratchOfLaunch&) = delete;
  ~ScratchOfLaunch() { PlaceScratch(plan_, {}); }

 private:
  adrt_launch_plan& plan_;
};
/// Records that scratch begins as zeros, and the status block unless launches before this one share it.
bool RecordStart(adrt_launch_plan& plan, void* queue, const LaunchPlaces& places, bool clears_status,
                 adrt_error* error);
/// Records one settled task, with what must be cleared before and the barriers around it.
bool RecordTask(adrt_launch_plan& plan, uint32_t task, void* queue, const LaunchPlaces& places,
                adrt_error* error);
/// Whether the device can record the settled task so; before anything is recorded.
bool CanRecordTask(adrt_launch_plan& plan, uint32_t task, const LaunchPlaces& places, adrt_error* error);
/// Whether what a launch writes beside its arguments, the first `heap_bytes` of the heap and the status
/// block, is no argument's memory, nor each other's.
bool IsApart(const adrt_launch_plan& plan, const Place& heap, uint64_t heap_bytes, const Place& status,
             adrt_error* error);
/// Why a task cannot be recorded, for one that is open or late: the missing data, and the call that gives
/// them.
bool RefuseOpen(const adrt_launch_plan& plan, uint32_t task, adrt_error* error);
/// Whether a launch can be recorded: the plan is settled, heap and status block are large enough, aligned and
/// apart, and the device reaches what they and the arguments name.
bool CheckLaunch(adrt_launch_plan& plan, const Place& heap, const Place& status, adrt_error* error);
/// Records a whole launch into the caller's queue, for every adrt_record_* function. The plan must be settled
/// and the heap large enough.
bool RecordLaunch(adrt_launch_plan& plan, void* queue, const Place& heap, const Place& status,
                  adrt_error* error);

/// The plan of the task's adstacks on this target; null where it has none.
const artifact::AdstackPlanMeta* AdstackPlanOf(const adrt_launch_plan& plan, uint32_t task);
const artifact::AdstackPlanMeta* AdstackPlanOf(const artifact::TaskMeta& task, uint32_t target);
/// The task's code on this target; null where there is none.
const artifact::EntryMeta* EntryOf(const adrt_launch_plan& plan, uint32_t task);

/// How many iterations are dealt at once.
uint64_t ChunkOf(const adrt_launch_plan& plan, uint32_t task);

}  // namespace adrt
