#include <cstring>

#include "core/call_memory.h"
#include "core/code.h"
#include "core/errors.h"
#include "core/launch.h"

// From arguments to bytes. A task is settled in one go: its extents give the iterations, these and the
// workers give the threads and their rows, the capacities of its stacks give the bytes of a row, the budget
// may lower the threads. A group with a gate takes a row per thread until its iterations are counted
// (counting.cpp), then at most one for each of them. artifact/adstack_layout.h decides the places of the
// parts, launch_sizing.cpp the order of the tasks.
// Sizes that cannot be known yet (class S2 before buffers may be read) leave the task open; nothing is
// guessed.
//
// A capacity that has an expression is counted instead where evaluating it would take long, and where no
// launch could have what it comes to: a bound that launches may stay below may be as good as infinite
// (`j <= b` of a loop that something else ends, with b the largest number), and what it leaves 64 bits on the
// way to may fit them.
//
// With a cap, stacks of class S2 are not read at all: the rest of the cap after scratch and known stacks is
// divided by the rows, and evenly among the open stacks of a row. A larger cap never gives a stack less:
// while there are fewer rows than threads that could run, each open stack gets the smallest share, and only
// a rest beyond that makes shares larger.

namespace adrt {
namespace {

using artifact::NodeId, artifact::SizeClass;

/// Node evaluations that a capacity takes on the host where a size kernel could count instead: a capacity
/// that depends on data is counted soon, one of scalars and shapes only where it would hold up the plan.
constexpr uint64_t kDataSteps = 1 << 12, kScalarSteps = 1 << 18;
/// At least one in this many of the threads that could run does.
constexpr uint64_t kFewestShare = 4;
/// Workers of a CPU that sum into one buffer faster than one of them.
constexpr uint64_t kFewestSharing = 4;
/// More iterations than this are no program's intent: a bound was computed from an infinity.
constexpr uint64_t kMostCounted = uint64_t{1} << 56;
/// Bytes of rows of groups with gates up to which there is one per iteration.
constexpr uint64_t kManyGatedRows = 64 << 20;
/// Bytes that counting may take whatever the budget, with the fewest threads.
constexpr uint64_t kCountingBytes = 64 << 20;

template <class N>
uint64_t Load(const unsigned char* place) {
  N value;
  std::memcpy(&value, place, sizeof value);
  return value;
}

// One element of an integer buffer.
bool ReadElement(void* user, uint32_t param, std::span<const int64_t> indices, int64_t* value) {
  const adrt_launch_plan& plan = *static_cast<const adrt_launch_plan*>(user);
  const BoundParam& bound = plan.params[param];
  const artifact::ParamMeta& meta = plan.meta().params[param];
  if (!bound.content || indices.size() != meta.rank || !artifact::IsInteger(meta.type)) return false;
  uint64_t position = 0;
  for (uint32_t axis = 0; axis < meta.rank; ++axis) {
    if (indices[axis] < 0 || indices[axis] >= bound.extents[axis]) return false;
    position = position * static_cast<uint64_t>(bound.extents[axis]) + static_cast<uint64_t>(indices[axis]);
  }
  const unsigned char* place = bound.content + position * artifact::ElementSize(meta);
  uint32_t size = artifact::ScalarTypeSize(meta.type);
  uint64_t bits = size == 1   ? Load<uint8_t>(place)
                  : size == 2 ? Load<uint16_t>(place)
                  : size == 4 ? Load<uint32_t>(place)
                              : Load<uint64_t>(place);
  *value = static_cast<int64_t>(bits);
  if (meta.type > artifact::ScalarType::kI64) return *value >= 0;
  uint32_t above = 64 - 8 * size;
  *value = static_cast<int64_t>(bits << above) >> above;
  return true;
}

class TaskSizer {
 public:
  TaskSizer(adrt_launch_plan& plan, uint32_t task, bool may_read, adrt_error* error)
      : plan_(plan),
        number_(task),
        may_read_(may_read),
        meta_(plan.meta().tasks[task]),
        sizes_(plan.tasks[task]),
        adstack_(AdstackPlanOf(plan, task)),
        rules_(plan.rules),
        error_(error) {
    if (adstack_ && adstack_->lanes > 0) rules_.lanes = adstack_->lanes;
  }

  bool Run() {
    bool open = false;
    if (!Begin(&open)) return false;
    if (open) return true;
    if (adstack_ && !CapacitiesOrCounts(&open)) return false;
    if (open) return true;
    sizes_.team_iterations = TeamIterations();
    sizes_.Settle();
    sizes_.is_new = true;
    return true;
  }

  // The extents with the present contents, in few steps.
  bool LookAgain(uint64_t* total) {
    int64_t extents[8];
    uint64_t before = sizes_.total;
    std::memcpy(extents, sizes_.extents, sizeof extents);
    bool open = false, done = Iterations(&open, kDataSteps) && !open;
    *total = sizes_.total;
    sizes_.total = before;
    std::memcpy(sizes_.extents, extents, sizeof extents);
    return done;
  }

 private:
  bool IsOpenUnderCap(const artifact::StackMeta& stack) const {
    return stack.capacity == artifact::kNoNode ||
           plan_.meta().exprs.ClassOf(stack.capacity) == SizeClass::kS2;
  }

  bool Begin(bool* open) {
    sizes_.Reopen(IsLate());
    Forget();
    if (!SpendSteps(plan_, Steps(), error_) || !Iterations(open)) return false;
    if (!*open) sizes_.threads = sizes_.most_threads = Threads();
    return true;
  }

  // An open task says nothing of its earlier sizes.
  void Forget() {
    sizes_.team_iterations = 0;
    sizes_.total = sizes_.threads = sizes_.most_threads = sizes_.wanted_threads = 0;
    std::memset(sizes_.extents, 0, sizeof sizes_.extents);
    sizes_.rows = sizes_.row_bytes = sizes_.heap_bytes = sizes_.counter_bytes = 0;
    sizes_.worst_bytes = sizes_.worst_heap = 0;
    for (artifact::StackPlace& stack : sizes_.stacks) stack = {};
    for (artifact::GroupPlace& group : sizes_.groups) group = {};
  }

  // The steps of settling beside evaluating: a few looks at each axis, group and stack. Stacks that share
  // look for each other.
  uint64_t Steps() const {
    uint64_t steps = 1 + meta_.extents.size() + meta_.size_reads.size() + meta_.count_reads.size();
    if (!adstack_) return steps;
    uint64_t stacks = adstack_->stacks.size(), sharing = 0;
    for (const artifact::StackMeta& stack : adstack_->stacks) sharing += stack.share != artifact::kNoIndex;
    return steps + 4 * (stacks + adstack_->groups.size()) + 3 * sharing * stacks;
  }

  template <class... Parts>
  ADC_ALWAYS_INLINE bool Bad(adrt_status status, const Parts&... parts) {
    const artifact::MessagePart list[] = {artifact::MessagePart(parts)...};
    return BadWith(status, list);
  }
  bool BadWith(adrt_status status, artifact::Message message) {
    return RefuseAt(plan_, number_, status, message, error_);
  }
  bool TooLarge() { return Bad(ADRT_ERROR_SIZE_OVERFLOW, "its size does not fit 64 bits"); }
  template <class... Parts>
  ADC_ALWAYS_INLINE bool HeapTooSmall(uint64_t needed, const Parts&... parts) {
    Bad(ADRT_ERROR_HEAP_TOO_SMALL, parts...);
    if (error_ && error_->struct_size >= sizeof(adrt_error)) error_->needed_bytes = needed;
    return false;
  }

  // Whether the sizes read something that the kernel itself may write, or are counted when the task's turn
  // comes. A cap takes the place of every capacity that would be read or counted, but not of extents.
  bool IsLate() const {
    if (!meta_.trip_kernel.empty() && CountsTripsLate(plan_, number_)) return true;
    if (plan_.cap > 0 && !ReadsExtents(plan_, number_)) return false;
    for (uint32_t param : meta_.size_reads) {
      if (MayWrite(plan_, param)) return true;
    }
    return MustCount(plan_, number_) && CountsLate(plan_, number_);
  }

  // Whether every thread has a row, whatever it meets.
  bool HasUngated() const {
    if (!adstack_) return false;
    // A group is left without rows where the target keeps all of its stacks in private memory.
    for (const artifact::StackMeta& stack : adstack_->stacks) {
      if (stack.storage == artifact::Storage::kRow && adstack_->groups[stack.group].gate.empty()) return true;
    }
    return false;
  }

  // Threads that run at once. Where a GPU's threads have no row, or take one when they pass a gate, there are
  // as many as iterations: those that pass are then spread over the device as evenly as can be. Counting
  // treats all iterations alike, and where the driver says how many blocks run at once, starting more of them
  // takes longer than the counting. The threads of a block that shares memory add up, and each block then
  // adds to a cell where all blocks meet: fewer blocks wait for each other less. A few in turn even out what
  // processors have to do.
  uint64_t Limit() const {
    if (!rules_.is_gpu || HasUngated() || (plan_.serves && ThreadsOfEntry() > 0)) return OwnThreads();
    uint64_t most = plan_.most_workers > 0 ? plan_.most_workers : UINT64_MAX - rules_.lanes;
    uint64_t summing = SumsUp() ? OwnThreads() * plan_.module->device->summing_turns : most;
    return summing < most ? summing : most;
  }
  // Fewer threads of a device count or sum as fast, as long as none of them has more iterations, but for what
  // makes the iterations of each a multiple of four, which run together.
  uint64_t Threads() const {
    uint64_t limit = Limit(), total = sizes_.total;
    if (total <= limit) return total;
    if (!rules_.is_gpu || (!plan_.serves && !SumsUp()) || limit == 0) return limit;
    uint64_t rounds = (total - 1) / limit + 1;
    if (rounds > 2) rounds = (rounds + 3) / 4 * 4;
    return (total - 1) / rounds + 1;
  }
  bool SumsUp() const {
    if (adstack_ || !plan_.module || plan_.module->device->summing_turns == 0) return false;
    const artifact::EntryMeta* entry = EntryOf(plan_, number_);
    return entry && entry->shared_bytes > 0 && !entry->team;
  }
  // As many as the driver says; 0 where it does not.
  uint32_t ThreadsOfEntry() const {
    if (!plan_.module) return 0;
    const adrt_module& module = *plan_.module;
    return module.entry_threads[module.task_begin[plan_.kernel->index] + number_];
  }
  uint64_t OwnThreads() const {
    uint32_t own = ThreadsOfEntry();
    return own > 0 && own < plan_.workers ? own : plan_.workers;
  }

  // How many iterations the threads of a block run together, where there are so few that threads alone would
  // leave most of the device without work, and turns for every thread of a block: one, or, where the code may
  // have the lanes of a wave sum up, one for each lane from the number on at which this is faster, as
  // measured. On a device of wider waves than the code is made for, threads alone are faster from some number
  // on.
  uint32_t TeamIterations() const {
#ifdef ADRT_DEVICES
    constexpr uint64_t kThreadsPerIteration = 8;  // that the device could run
    constexpr uint64_t kManyForLanes = 1024, kManyForThreads = 8192;
    const artifact::EntryMeta* entry = plan_.module ? EntryOf(plan_, number_) : nullptr;
    if (!entry || entry->team_turns == artifact::kNoNode || sizes_.IsLate() || sizes_.total == 0) return 0;
    bool fits = plan_.module->device->wave <= entry->team_lanes;
    bool by_lanes = entry->team_lanes > 0 && sizes_.total > (fits ? kManyForLanes : kManyForThreads);
    if (by_lanes && !fits) return 0;
    if (sizes_.total > OwnThreads() / kThreadsPerIteration) return 0;
    artifact::EvalResult turns = Evaluate(entry->team_turns, kDataSteps);
    if (!turns.ok() || turns.value < int64_t{BlockSize(*entry)}) return 0;
    return by_lanes ? entry->team_lanes : 1;
#else
    return 0;
#endif
  }

  // In at most `limit` steps; 0: as many as the plan has for one size.
  artifact::EvalResult Evaluate(NodeId id, uint64_t limit) const {
    artifact::SizeEnv env;
    env.params = {plan_.size_params.data(), plan_.size_params.size()};
    env.read = may_read_ ? ReadElement : nullptr;
    env.user = &plan_;
    env.budget = limit > 0 && limit < plan_.size_budget ? limit : plan_.size_budget;
    CallMemory memory(plan_.host.allocator);
    env.allocator = memory.allocator();
    return artifact::Evaluate(plan_.meta().exprs, id, env, plan_.steps);
  }

  // A size that is settled, or *open where it would take a read that is not allowed now, or, where there is a
  // limit to the steps, more steps than that.
  bool Value(NodeId id, const char* what, std::string_view place, int64_t* value, bool* open,
             uint64_t limit = 0) {
    if (id == known_ && id != artifact::kNoNode) {
      *value = known_value_;
      return true;
    }
    if (plan_.meta().exprs.ClassOf(id) == SizeClass::kS2 && !may_read_) {
      *open = true;
      return true;
    }
    artifact::EvalResult result = Evaluate(id, limit);
    *value = result.value;
    if (limit > 0 && result.status == artifact::EvalStatus::kBudget && !plan_.steps->exceeded()) {
      *open = true;
      return true;
    }
    switch (result.status) {
      case artifact::EvalStatus::kOk:
        known_ = id;
        known_value_ = result.value;
        return true;
      case artifact::EvalStatus::kOverflow:
        return Bad(ADRT_ERROR_SIZE_OVERFLOW, what, place, " does not fit 64 bits");
      case artifact::EvalStatus::kBudget:
        SpendSteps(plan_, plan_.size_budget, error_);
        return AddPlace(what, place);
      case artifact::EvalStatus::kNeedsDeviceData:
        return Bad(ADRT_ERROR_NEEDS_DEVICE_DATA, what, place, " depends on the content of a buffer");
      case artifact::EvalStatus::kBadOperand:
        return BadOperand(result.where, what, place);
      case artifact::EvalStatus::kOutOfMemory:
        break;
    }
    OutOfMemory(error_);
    return false;
  }

  // Adds the place at which the call ran out of steps; earlier sizes may have taken most of them.
  bool AddPlace(const char* what, std::string_view place) {
    const artifact::MessagePart where[] = {"task ", number_, " (",  meta_.place.view(),
                                           "), ",   what,    place, ": "};
    AddContext(*error_, where);
    return false;
  }

  bool BadOperand(NodeId where, const char* what, std::string_view place) {
    const artifact::SizeExprPool& pool = plan_.meta().exprs;
    std::string_view name = "?";
    if (where < pool.size() && pool[where].param < plan_.meta().params.size()) {
      name = plan_.meta().params[pool[where].param].name.view();
    }
    // Of a number alone: a u64 of 2^63 or more.
    if (where < pool.size() && pool[where].op == artifact::SizeOp::kArg) {
      return Bad(ADRT_ERROR_SIZE_OVERFLOW, what, place, " takes '", name,
                 "', which does not fit 64 bits with a sign");
    }
    return Bad(ADRT_ERROR_ARGUMENT, what, place, " takes a value of '", name,
               "' that does not exist: an index past its extents, or no memory");
  }

  bool Iterations(bool* open, uint64_t limit = 0) {
    if (LacksTrips(plan_, number_)) {
      *open = true;
      return true;
    }
    uint64_t total = 1;
    for (uint32_t axis = 0; axis < meta_.extents.size(); ++axis) {
      int64_t extent = 0;
      if (!Value(meta_.extents[axis], "its number of iterations", "", &extent, open, limit)) return false;
      if (*open) return true;
      sizes_.extents[axis] = extent > 0 ? extent : 0;
    }
    // An empty axis makes it empty, however long the others are.
    for (uint32_t axis = 0; axis < meta_.extents.size(); ++axis) {
      if (sizes_.extents[axis] == 0) total = 0;
    }
    for (uint32_t axis = 0; axis < meta_.extents.size() && total > 0; ++axis) {
      if (artifact::MultiplyOverflows(total, static_cast<uint64_t>(sizes_.extents[axis]), &total))
        return TooLarge();
    }
    if (total > uint64_t{INT64_MAX}) return TooLarge();
    if (!meta_.trip_kernel.empty() && total > kMostCounted) {
      return Bad(ADRT_ERROR_SIZE_OVERFLOW, "its bounds come to ", total,
                 " iterations, too many: the values from which they are computed are wrong");
    }
    sizes_.total = total;
    return true;
  }

  bool CapacitiesOrCounts(bool* open) {
    adrt_error own = {};
    own.struct_size = sizeof own;
    adrt_error* details = error_;
    error_ = &own;
    bool done = Capacities(open);
    error_ = details;
    if (done) return true;
    if (CountInstead(own.status)) return Begin(open) && Capacities(open);
    PassOn(own, error_);
    return false;
  }

  // Whether the stacks of a task that was refused are to be counted, or to share the cap: what expressions
  // say of them is a bound that launches may stay below, or does not fit 64 bits. With checkpoints a budget
  // may hold the tapes of segments.
  bool CountInstead(adrt_status why) {
    bool overflows = why == ADRT_ERROR_SIZE_OVERFLOW;
    bool is_too_much = why == ADRT_ERROR_HEAP_TOO_SMALL && SegmentParam(plan_) == artifact::kNoIndex;
    if (sizes_.by_count || (!overflows && !is_too_much)) return false;
    if (plan_.cap == 0 && !CanCount(plan_, number_)) return false;
    for (const artifact::StackMeta& stack : adstack_->stacks) {
      // With a cap, endless tapes take what is left of it.
      bool is_better = stack.counted && (stack.loose || (overflows && plan_.cap == 0));
      sizes_.by_count = sizes_.by_count || is_better;
    }
    return sizes_.by_count;
  }

  bool Capacities(bool* open) {
    uint32_t open_count = 0;
    sizes_.copied = copies_ = 0;
    for (uint32_t index = 0; index < adstack_->stacks.size(); ++index) {
      const artifact::StackMeta& stack = adstack_->stacks[index];
      artifact::StackPlace& planned = sizes_.stacks[index];
      planned = {};
      sizes_.open[index] = false;
      bool is_data = plan_.meta().exprs.ClassOf(stack.capacity) == SizeClass::kS2;
      // Saved values and promises, which come last, take nothing of the heap.
      bool is_elsewhere = stack.storage >= artifact::Storage::kSaved;
      bool countable = (is_elsewhere ? stack.counted : IsCounted(meta_, stack)) && CanCount(plan_, number_);
      // A size kernel's own stacks go by what it has counted so far.
      bool by_counts = (stack.capacity == artifact::kNoNode && !is_elsewhere) ||
                       (countable && (!stack.loose || sizes_.by_count) && CountsFit(sizes_));
      if (by_counts && TakeCount(stack, &planned)) continue;
      if (is_elsewhere && !IsAsked(stack, countable)) {
        planned.capacity = kNotKnown;
        continue;
      }
      bool is_endless = sizes_.by_count && stack.counted && stack.loose && !is_elsewhere;
      bool is_shared = plan_.cap > 0 && (is_data || is_endless);
      bool is_open = is_shared || stack.capacity == artifact::kNoNode;
      if (is_open || (countable && sizes_.by_count)) {
        sizes_.open[index] = true;
        ++open_count;
        continue;
      }
      // A size for which counting would have to wait for earlier tasks is better evaluated.
      bool may_count = countable && plan_.module && (sizes_.IsLate() || !CountsLate(plan_, number_));
      uint64_t limit = !may_count ? 0 : is_data ? kDataSteps : kScalarSteps;
      int64_t capacity = 0;
      bool waits = false;
      if (!Value(stack.capacity, "the capacity of the adstack at ", stack.place, &capacity, &waits, limit))
        return false;
      if (waits && (!is_data || may_read_)) {
        sizes_.by_count = true;
        // Its size kernel may have run already, for what is beside it.
        if (CountsFit(sizes_) && TakeCount(stack, &planned)) continue;
        sizes_.open[index] = true;
        ++open_count;
        continue;
      }
      if (waits) {
        *open = true;
        return true;
      }
      planned.capacity = capacity > 0 ? static_cast<uint64_t>(capacity) : 0;
      if (stack.param != artifact::kNoIndex && !is_elsewhere) {
        if (plan_.cap > 0) planned.capacity = 0;
        sizes_.copied += planned.capacity;
        ++copies_;
      }
    }
    if (!LayOut()) return false;
    if (open_count > 0 && sizes_.total > 0) {
      if (plan_.cap == 0) {
        if (may_read_ && !CanCount(plan_, number_)) return NeedsCap();
        *open = true;
        return true;
      }
      if (!ShareCap(open_count) || !LayOut()) return false;
    }
    uint64_t most = sizes_.threads;
    FitDevice();
    sizes_.worst_bytes = BytesOf(sizes_.threads);
    sizes_.worst_heap = HeapOf(sizes_.threads);
    if (HasCounts()) {
      by_count_ = true;
      sizes_.threads = most;
      if (CountsFit(sizes_)) TightenLoose();
      if (!LayOut()) return false;
      FitDevice();
    }
    return FitBudget() && Settle();
  }

  // Whether anything is to say before the launch how many values it saves in a buffer of the caller's. A cap
  // is none for these; where nothing says it, the code compares with the buffer's extent.
  bool IsAsked(const artifact::StackMeta& stack, bool countable) const {
    if (plan_.serves || (plan_.cap > 0 && IsOpenUnderCap(stack))) return false;
    return countable || stack.capacity != artifact::kNoNode;
  }

  // Elements that a bound would allow and that were not counted take no memory.
  void TightenLoose() {
    for (uint32_t index = 0; index < adstack_->stacks.size(); ++index) {
      const artifact::StackMeta& stack = adstack_->stacks[index];
      if (!stack.loose || !IsCounted(meta_, stack) || stack.id >= sizes_.counts->size()) continue;
      uint64_t counted = static_cast<uint64_t>((*sizes_.counts)[stack.id]);
      if (counted < sizes_.stacks[index].capacity) sizes_.stacks[index].capacity = counted;
    }
  }

  bool HasCounts() const { return sizes_.counts && plan_.cap == 0; }
  // Gives a stack what was counted for it; false where nothing was.
  bool TakeCount(const artifact::StackMeta& stack, artifact::StackPlace* planned) const {
    if (!HasCounts() || stack.id >= sizes_.counts->size()) return false;
    planned->capacity = static_cast<uint64_t>((*sizes_.counts)[stack.id]);
    return true;
  }

  bool NeedsCap() {
    for (uint32_t index = 0; index < adstack_->stacks.size(); ++index) {
      if (!sizes_.open[index]) continue;
      return Bad(ADRT_ERROR_NEEDS_DEVICE_DATA, "the adstack at ", adstack_->stacks[index].place.view(),
                 " has a size that is known only at run time: give a bound with adrt_plan_with_cap");
    }
    return true;
  }

  bool LayOut() {
    return artifact::PlaceStacks(*adstack_, rules_, Stacks(), Groups(), &sizes_.row_bytes) || TooLarge();
  }
  std::span<artifact::StackPlace> Stacks() { return {sizes_.stacks.data(), sizes_.stacks.size()}; }
  std::span<artifact::GroupPlace> Groups() { return {sizes_.groups.data(), sizes_.groups.size()}; }

  uint64_t Base() const { return sizes_.OwnRows(plan_.own_rows) ? 0 : plan_.base_bytes; }
  // The bytes of the task before its first row.
  uint64_t Fixed() const { return Base() + artifact::CounterBytes(*adstack_, rules_); }

  // Rows of a group that `threads` threads may want, whole blocks. A group with a gate has a block at least,
  // so that a thread that comes there against the count has a last row to report with.
  uint64_t RowsOf(uint32_t group, uint64_t threads) const {
    uint64_t rows = threads, rounded = 0;
    if (by_count_ && artifact::IsClaimed(adstack_->groups[group], rules_) &&
        adstack_->groups[group].counted) {
      size_t element = adstack_->stacks.size() + group;
      uint64_t passes = element < sizes_.counts->size() && (*sizes_.counts)[element] > 0
                            ? static_cast<uint64_t>((*sizes_.counts)[element])
                            : 0;
      if (passes < rows) rows = passes;
      if (rows == 0 && threads > 0) rows = 1;
    }
    return artifact::RoundRows(rows, rules_, &rounded) ? rounded : UINT64_MAX;
  }
  // Bytes of the rows of `threads` threads, or UINT64_MAX.
  uint64_t BytesOf(uint64_t threads) const {
    uint64_t sum = 0, bytes = 0;
    for (uint32_t group = 0; group < sizes_.groups.size(); ++group) {
      if (artifact::MultiplyOverflows(RowsOf(group, threads), sizes_.groups[group].stride, &bytes) ||
          artifact::AddOverflows(sum, bytes, &sum)) {
        return UINT64_MAX;
      }
    }
    return sum;
  }
  // Bytes of a heap that holds them, or UINT64_MAX.
  uint64_t HeapOf(uint64_t threads) {
    uint64_t end = 0;
    for (uint32_t group = 0; group < sizes_.groups.size(); ++group) {
      sizes_.groups[group].rows = RowsOf(group, threads);
      if (sizes_.groups[group].rows == UINT64_MAX) return UINT64_MAX;
    }
    return artifact::PlaceRows(*adstack_, rules_, Base(), Groups(), &end) ? end : UINT64_MAX;
  }
  // As many threads as `available` bytes hold the rows of, whole blocks; at most as many as there are. More
  // threads never take fewer bytes.
  void LowerThreads(uint64_t available) {
    if (BytesOf(sizes_.threads) <= available) return;
    uint64_t fit = 0, too_many = sizes_.threads / rules_.lanes + 1;
    while (too_many - fit > 1) {
      uint64_t middle = fit + (too_many - fit) / 2;
      (BytesOf(middle * rules_.lanes) <= available ? fit : too_many) = middle;
    }
    sizes_.threads = fit * rules_.lanes;
  }
  // Bytes of a heap with one block of rows.
  bool OneBlock(uint64_t row_bytes, uint64_t* bytes) {
    return (!artifact::MultiplyOverflows(row_bytes, uint64_t{rules_.lanes}, bytes) &&
            !artifact::AddOverflows(*bytes, Fixed(), bytes)) ||
           TooLarge();
  }

  // Divides what the cap leaves; a row needs at least 64 bytes per open stack.
  bool ShareCap(uint32_t open_count) {
    uint64_t smallest = 0, rows = 0;
    if (artifact::AddOverflows(sizes_.row_bytes, kCapUnit * open_count, &smallest)) return TooLarge();
    if (!artifact::RoundRows(sizes_.threads, rules_, &rows)) return TooLarge();
    uint64_t available = plan_.cap > Fixed() ? plan_.cap - Fixed() : 0;
    uint64_t fit = available / smallest;
    fit -= fit % rules_.lanes;
    uint64_t wanted = rows;
    if (fit < rows) sizes_.threads = rows = fit;
    if (rows == 0) {
      uint64_t needed = 0;
      if (!OneBlock(smallest, &needed)) return false;
      return HeapTooSmall(needed, "a cap of ", plan_.cap, " bytes is too small, at least ", needed,
                          " are required");
    }
    uint64_t share =
        fit < wanted ? kCapUnit : (available / rows - sizes_.row_bytes) / open_count & ~(kCapUnit - 1);
    for (uint32_t index = 0; index < adstack_->stacks.size(); ++index) {
      if (!sizes_.open[index]) continue;
      sizes_.stacks[index].capacity = artifact::ElementsIn(adstack_->stacks[index], share);
    }
    return true;
  }

  // A tape that is written and read again by threads that run at once is best where the device caches
  // it: fewer threads are faster there, down to a quarter of what could run. Rows of groups with gates are
  // mostly not taken, and may be many as long as they are small.
  void FitDevice() {
    if (!rules_.is_gpu || sizes_.row_bytes == 0 || sizes_.threads == 0) return;
    uint64_t own = OwnThreads() / rules_.lanes * rules_.lanes;
    if (!HasUngated()) {
      uint64_t bytes = BytesOf(own < sizes_.threads ? own : sizes_.threads);
      LowerThreads(bytes > kManyGatedRows ? bytes : kManyGatedRows);
    } else if (uint64_t half = CacheBytes(plan_) / 2; half > 0) {
      uint64_t least = BytesOf(sizes_.threads / kFewestShare);
      LowerThreads(half > least ? half : least);
    }
    if (sizes_.threads == 0) sizes_.threads = sizes_.total < rules_.lanes ? sizes_.total : rules_.lanes;
  }

  bool FitBudget() {
    if (copies_ > 0 && sizes_.copied == 0 && sizes_.threads - 1 < kFewestSharing - 1) sizes_.threads = 1;
    sizes_.wanted_threads = sizes_.threads;
    uint64_t budget = plan_.MostBytes();
    uint64_t available = budget == 0 ? UINT64_MAX : budget > Fixed() ? budget - Fixed() : 0;
    LowerThreads(available);
    if (sizes_.copied > 0 && sizes_.threads <= 1) {
      // A worker that runs alone needs no copies. They are the last stacks.
      for (uint32_t copy = 1; copy <= copies_; ++copy)
        sizes_.stacks[sizes_.stacks.size() - copy].capacity = 0;
      sizes_.copied = 0;
      LayOut();
      sizes_.threads = sizes_.wanted_threads > 0;
      LowerThreads(available);
    }
    if (sizes_.threads > 0 || sizes_.wanted_threads == 0) return true;
    uint64_t needed = 0, with_checkpoints = 0;
    if (!OneBlock(sizes_.row_bytes, &needed)) return false;
    // A counting kernel may go beyond the launch's budget a little, so that the launch can say which budget
    // would do.
    if (plan_.serves && needed <= kCountingBytes) {
      sizes_.threads = sizes_.total < rules_.lanes ? sizes_.total : rules_.lanes;
      return true;
    }
    bool could_checkpoint = plan_.meta().role == artifact::KernelRole::kGrad &&
                            SegmentParam(plan_) == artifact::kNoIndex &&
                            OneBlock(RowOfCheckpoints(), &with_checkpoints);
    if (could_checkpoint && with_checkpoints < needed) {
      return HeapTooSmall(needed, "one row does not fit a budget of ", budget, " bytes, ", needed,
                          " suffice; compiled with --checkpoint=auto about ", with_checkpoints);
    }
    return HeapTooSmall(needed, "one row does not fit a budget of ", budget, " bytes, ", needed, " suffice");
  }

  // About what a row would take if its tapes were of loops that keep checkpoints: a tape of one segment and a
  // value for each segment, at the best length.
  uint64_t RowOfCheckpoints() const {
    uint64_t bytes = 0;
    for (uint32_t index = 0; index < adstack_->stacks.size(); ++index) {
      const artifact::StackMeta& stack = adstack_->stacks[index];
      if (stack.storage != artifact::Storage::kRow) continue;
      uint64_t root = 1, most = sizes_.stacks[index].capacity;
      while (root < most / root) root *= 2;
      uint64_t slots = root < most / 2 ? root + most / root : most, own = 0;
      if (!artifact::StackBytes(stack, slots, &own) || !artifact::AlignUp(own, rules_.stride_unit, &own))
        return UINT64_MAX;
      if (artifact::AddOverflows(bytes, own, &bytes)) return UINT64_MAX;
    }
    return bytes;
  }

  // Offsets in the heap, and the words that the code reads them from.
  bool Settle() {
    uint64_t end = 0;
    sizes_.counters = Base();
    sizes_.counter_bytes = artifact::CounterBytes(*adstack_, rules_);
    sizes_.rows = 0;
    for (uint32_t group = 0; group < sizes_.groups.size(); ++group) {
      uint64_t rows = RowsOf(group, sizes_.threads);
      if (rows == UINT64_MAX) return TooLarge();
      sizes_.groups[group].rows = rows;
      if (rows > sizes_.rows) sizes_.rows = rows;
    }
    if (!artifact::PlaceRows(*adstack_, rules_, Base(), Groups(), &end)) return TooLarge();
    sizes_.heap_bytes = end - Base();
    size_t first = rules_.is_gpu ? plan_.cells.size() : 0;
    artifact::WriteAdstackWords(*adstack_, rules_, Stacks(), Groups(), sizes_.words.data() + first);
    return true;
  }

  adrt_launch_plan& plan_;
  uint32_t number_;
  bool may_read_;
  const artifact::TaskMeta& meta_;
  TaskPlan& sizes_;
  const artifact::AdstackPlanMeta* adstack_;
  artifact::RowRules rules_;
  uint32_t copies_ = 0;               ///< stacks that are copies of buffers that workers sum into
  bool by_count_ = false;             ///< groups with gates take as many rows as iterations were counted
  NodeId known_ = artifact::kNoNode;  ///< evaluated last: stacks of one loop have one capacity
  int64_t known_value_ = 0;
  adrt_error* error_;
};

}  // namespace

bool IterationsNow(adrt_launch_plan& plan, uint32_t task, uint64_t* total) {
  adrt_error passed = {};
  return TaskSizer(plan, task, true, DetailsOf(nullptr, &passed)).LookAgain(total);
}

bool SizeTaskAsIs(adrt_launch_plan& plan, uint32_t task, bool may_read, adrt_error* error) {
  return TaskSizer(plan, task, may_read, error).Run();
}

}  // namespace adrt
