#include <cstring>

#include "artifact/bounds_record.h"
#include "artifact/cpu_abi.h"
#include "artifact/gpu_abi.h"
#include "core/errors.h"
#include "core/launch.h"

// The report of a status block, in words. A launch leaves at most one report, however many threads had one
// (artifact/cpu_abi.h).
//
// A capacity is never smaller than what the launch that it was computed for needs, so that an overflow has
// one cause: the size was computed from other data than the launch met. The text says which contents these
// are, and the remedy; a caller that gave a cap is told to raise it.

namespace adrt {
namespace {

static_assert(ADRT_BOUNDS_CHANGED + 1 == ADRT_STATUS_CODES);

constexpr bool AllDiffer() {
  constexpr uint32_t kCodes[] = {ADRT_CPU_OK,
                                 ADRT_CPU_ADSTACK_OVERFLOW,
                                 ADRT_CPU_ASSERTION,
                                 ADRT_CPU_INDEX_OUT_OF_BOUNDS,
                                 ADRT_CPU_WRITE_PROMISE_BROKEN,
                                 ADRT_GPU_ROWS_EXHAUSTED,
                                 ADRT_CPU_BOUNDS_MOVED,
                                 ADRT_GPU_LOOPS_CUT,
                                 ADRT_BOUNDS_CHANGED};
  static_assert(sizeof kCodes / sizeof kCodes[0] == ADRT_STATUS_CODES);
  uint32_t seen = 0;
  for (uint32_t code : kCodes) {
    if (code >= ADRT_STATUS_CODES || (seen >> code & 1)) return false;
    seen |= 1u << code;
  }
  return true;
}
static_assert(AllDiffer(), "a status code says one thing");

struct Report {
  uint32_t code, task, index, source;
  uint64_t needed, iteration;
};

uint64_t Pair(const uint32_t* words) {
  return uint64_t{words[1]} << 32 | words[0];
}

Report ReadReport(const void* status) {
  uint32_t words[ADRT_CPU_STATUS_WORDS];
  std::memcpy(words, status, sizeof words);
  Report report = {words[ADRT_CPU_STATUS_CODE],          words[ADRT_CPU_STATUS_TASK],
                   words[ADRT_CPU_STATUS_INDEX],         words[ADRT_CPU_STATUS_SOURCE],
                   Pair(words + ADRT_CPU_STATUS_NEEDED), Pair(words + ADRT_CPU_STATUS_ITERATION)};
  // Unless the source names the report's place, others may have raised the word. Of a promise the number is
  // not how much was needed.
  uint64_t source = report.code | uint64_t{report.task} << ADRT_CPU_STATUS_SOURCE_TASK |
                    (uint64_t{report.index} + 1) << ADRT_CPU_STATUS_SOURCE_INDEX;
  uint64_t most = words[ADRT_CPU_STATUS_MOST];
  bool amount = report.code != ADRT_CPU_WRITE_PROMISE_BROKEN;
  if (amount && report.source == source && most > report.needed) report.needed = most;
  return report;
}

// Whether the expression reads the parameter's content. An expression that is large beyond use is taken to.
bool ReadsContent(const artifact::SizeExprPool& pool, artifact::NodeId id, uint32_t param, uint32_t* steps) {
  constexpr uint32_t kMostSteps = 4096;
  if (id >= pool.size()) return false;
  if (++*steps > kMostSteps) return true;
  const artifact::SizeNode& node = pool[id];
  if (node.op == artifact::SizeOp::kRead && node.param == param) return true;
  for (artifact::NodeId operand : node.operands) {
    if (ReadsContent(pool, operand, param, steps)) return true;
  }
  if (node.op != artifact::SizeOp::kRead) return false;
  for (artifact::NodeId operand : pool.ReadIndices(node)) {
    if (ReadsContent(pool, operand, param, steps)) return true;
  }
  return false;
}

// The parameters whose contents something depends on, as a list in words.
class Contents {
 public:
  explicit Contents(const adrt_launch_plan& plan) : plan_(plan), writer_(text_, sizeof text_) {}

  // Those of a stack's capacity; of what a size kernel counts where no expression gives it.
  void AddCapacity(uint32_t task, artifact::NodeId capacity) {
    if (capacity == artifact::kNoNode) return AddCounted(task);
    AddRead(task, capacity);
  }
  // Those of an expression.
  void AddRead(uint32_t task, artifact::NodeId expression) {
    const artifact::KernelMeta& meta = plan_.meta();
    for (uint32_t param : meta.tasks[task].size_reads) {
      uint32_t steps = 0;
      if (ReadsContent(meta.exprs, expression, param, &steps)) Add(param);
    }
  }
  // Of what a trip kernel counts.
  void AddTrips(uint32_t task) {
    for (uint32_t param : plan_.meta().tasks[task].trip_reads) Add(param);
  }
  void AddCounted(uint32_t task) {
    for (uint32_t param : plan_.meta().tasks[task].count_reads) Add(param);
  }

  bool empty() const { return count_ == 0; }
  // "'a', 'b' and 2 more", with "the content of" before.
  const char* text() {
    constexpr uint32_t kNamed = 3;
    if (count_ > kNamed) {
      writer_ << " and " << count_ - kNamed << " more";
      count_ = kNamed;
    }
    return text_;
  }
  // The action of the caller that makes sizes follow contents.
  const char* remedy() const {
    return versioned_ ? "give it another content_version when it is written, or 0 to size at every launch"
                      : "size again (adrt_plan_resolve, or adrt_run) after what writes it";
  }

 private:
  void Add(uint32_t param) {
    constexpr uint32_t kNamed = 3;
    for (uint32_t n = 0; n < kNamed && n < count_; ++n) {
      if (named_[n] == param) return;
    }
    if (count_ < kNamed) named_[count_] = param;
    versioned_ = versioned_ || plan_.params[param].content_version != 0;
    if (count_++ >= kNamed) return;
    writer_ << (count_ > 1 ? ", '" : "the content of '") << plan_.meta().params[param].name.view() << "'";
  }

  const adrt_launch_plan& plan_;
  char text_[160] = {};
  artifact::TextWriter writer_;
  uint32_t named_[3] = {};
  uint32_t count_ = 0;
  bool versioned_ = false;
};

constexpr char kChanged[] = "What that is computed from has changed between sizing and launch: ";

// Bytes of a heap in which the stack could have `needed` elements, or the cap that gives it as many; 0
// where that cannot be said. The launch's other sizes stay what they are.
uint64_t BytesFor(const adrt_launch_plan& plan, const Report& report, bool capped) {
  const artifact::AdstackPlanMeta& adstack = *AdstackPlanOf(plan, report.task);
  const TaskPlan& sizes = plan.tasks[report.task];
  artifact::RowRules rules = plan.rules;
  if (adstack.lanes > 0) rules.lanes = adstack.lanes;
  if (adstack.stacks[report.index].storage != artifact::Storage::kRow) return 0;
  Vector<artifact::StackPlace> stacks(&plan.host.allocator);
  Vector<artifact::GroupPlace> groups(&plan.host.allocator);
  if (!stacks.TryResize(sizes.stacks.size()) || !groups.TryResize(sizes.groups.size())) return 0;
  uint64_t rows = 0, row_bytes = 0, share = 0, end = 0, base = sizes.OwnRows(false) ? 0 : plan.base_bytes;
  for (uint32_t index = 0; index < stacks.size(); ++index) {
    stacks[index] = sizes.stacks[index];
    if (index == report.index) stacks[index].capacity = report.needed;
  }
  if (capped) {
    // Open stacks get even shares, of all threads.
    if (!artifact::RoundRows(sizes.most_threads, rules, &rows) ||
        !artifact::StackBytes(adstack.stacks[report.index], report.needed, &share) ||
        !artifact::AlignUp(share, kCapUnit, &share))
      return 0;
    for (uint32_t index = 0; index < stacks.size(); ++index) {
      if (sizes.open[index]) stacks[index].capacity = artifact::ElementsIn(adstack.stacks[index], share);
    }
  }
  if (!artifact::PlaceStacks(adstack, rules, {stacks.data(), stacks.size()}, {groups.data(), groups.size()},
                             &row_bytes))
    return 0;
  for (uint32_t group = 0; group < groups.size(); ++group)
    groups[group].rows = capped ? rows : sizes.groups[group].rows;
  if (!artifact::PlaceRows(adstack, rules, base, {groups.data(), groups.size()}, &end)) return 0;
  uint64_t others = HeapBytes(plan);
  return !capped && others > end ? others : end;
}

// The text of a task's report, after its place and time.
adrt_status SayWith(const adrt_launch_plan& plan, const Report& report, adrt_status status, adrt_error* error,
                    artifact::Message message) {
  const artifact::MessagePart prefix[] = {
      plan.meta(),     ", task ",        report.task, " (", plan.meta().tasks[report.task].place.view(),
      "), iteration ", report.iteration, ": "};
  RefuseWith(error, status, prefix, message);
  return status;
}
template <class... Parts>
ADC_ALWAYS_INLINE adrt_status Say(const adrt_launch_plan& plan, const Report& report, adrt_status status,
                                  adrt_error* error, const Parts&... parts) {
  const artifact::MessagePart list[] = {artifact::MessagePart(parts)...};
  return SayWith(plan, report, status, error, list);
}

adrt_status SayOverflow(const adrt_launch_plan& plan, const Report& report, adrt_error* error) {
  const artifact::AdstackPlanMeta* adstack = AdstackPlanOf(plan, report.task);
  const TaskPlan& sizes = plan.tasks[report.task];
  bool known = adstack && report.index < adstack->stacks.size() && report.index < sizes.stacks.size();
  if (!known) {
    return Say(plan, report, ADRT_ERROR_ADSTACK_OVERFLOW, error,
               "an adstack that the plan does not know would have needed ", report.needed, " elements");
  }
  const artifact::StackMeta& stack = adstack->stacks[report.index];
  if (stack.storage == artifact::Storage::kSaved) {
    RefuseSaved(plan, stack.param, report.needed, ADRT_ERROR_ADSTACK_OVERFLOW, "at least ", error);
    return ADRT_ERROR_ADSTACK_OVERFLOW;
  }
  Contents contents(plan);
  contents.AddCapacity(report.task, stack.capacity);
  bool capped = plan.cap > 0 && sizes.open[report.index];
  // Where only running tells, or pushes are counted, a thread stops at the first that does not fit.
  bool only_first = stack.capacity == artifact::kNoNode || stack.addressing == artifact::Addressing::kCounted;
  const char *at_least = only_first ? "at least " : "", *of = "", *remedy = "";
  const char* cause;
  if (capped) {
    cause = "Raise the cap of adrt_plan_with_cap";
  } else if (contents.empty()) {
    cause =
        "That depends on shapes and by-value arguments alone: the launch's heap or words were overwritten, "
        "or "
        "this is a defect";
  } else {
    cause = kChanged;
    of = contents.text();
    remedy = contents.remedy();
  }
  uint64_t bytes = BytesFor(plan, report, capped);
  artifact::MessagePart nothing = "", number = bytes;
  Say(plan, report, ADRT_ERROR_ADSTACK_OVERFLOW, error, "the adstack at ", stack.place.view(),
      " would have needed ", at_least, report.needed, " elements and has ",
      sizes.stacks[report.index].capacity,
      bytes == 0 ? ""
      : capped   ? "; it takes a cap of "
                 : "; it takes a heap of ",
      bytes == 0 ? "" : at_least, bytes == 0 ? nothing : number, bytes == 0 ? ". " : " bytes. ", cause, of,
      *remedy != 0 ? ": " : "", remedy);
  if (error && error->struct_size >= sizeof(adrt_error)) error->needed_bytes = bytes;
  return ADRT_ERROR_ADSTACK_OVERFLOW;
}

adrt_status SayRows(const adrt_launch_plan& plan, const Report& report, adrt_error* error) {
  const artifact::AdstackPlanMeta* adstack = AdstackPlanOf(plan, report.task);
  const TaskPlan& sizes = plan.tasks[report.task];
  bool known = adstack && report.index < adstack->groups.size() && report.index < sizes.groups.size();
  uint64_t rows = known ? sizes.groups[report.index].rows : 0;
  uint64_t needed = report.needed > rows ? report.needed : rows + 1;
  uint64_t others = HeapBytes(plan), worst = others > sizes.worst_heap ? others : sizes.worst_heap;
  Contents contents(plan);
  if (sizes.counts) contents.AddCounted(report.task);
  const char *how = " rows it has. ", *of = "", *remedy = "plan again";
  if (sizes.counts) {
    how = " rows that were counted. What decides at the gate has changed since: ";
    of = contents.empty() ? "what the kernel computes" : contents.text();
    remedy = contents.remedy();
  }
  Say(plan, report, ADRT_ERROR_ROWS_EXHAUSTED, error, needed, " threads passed the gate at ",
      known ? adstack->groups[report.index].gate.view() : "?", ", more than the ", rows, how, of,
      *of != 0 ? ": " : "", remedy, ". A row for every thread takes a heap of ", worst, " bytes");
  if (error && error->struct_size >= sizeof(adrt_error)) error->needed_bytes = worst;
  return ADRT_ERROR_ROWS_EXHAUSTED;
}

// The bounds of a parallel loop give another number of iterations than the launch was made for.
adrt_status SayMoved(const adrt_launch_plan& plan, const Report& report, adrt_error* error) {
  const artifact::KernelMeta& meta = plan.meta();
  Contents contents(plan);
  for (artifact::NodeId extent : meta.tasks[report.task].extents) contents.AddRead(report.task, extent);
  contents.AddTrips(report.task);
  bool known = !contents.empty();
  const char* of = known ? contents.text() : "what bounds it";
  RefuseTask(plan, report.task, error, ADRT_ERROR_ADSTACK_OVERFLOW, "the launch was made for ",
             plan.tasks[report.task].total, " iterations, and its bounds come to ", report.needed,
             " now, so that not all of it ran. ", kChanged, of, ": ", contents.remedy());
  return ADRT_ERROR_ADSTACK_OVERFLOW;
}

// Whether a bounds kernel reports, and not the code of a task.
bool IsOfRecord(const adrt_launch_plan& plan, const Report& report) {
  constexpr uint16_t kOwnCode = 5;  // the minor version since which it has one
  if (plan.meta().bounds == artifact::kNoIndex) return false;
  if (report.code == ADRT_BOUNDS_CHANGED) return true;
  return plan.bundle->index.minor < kOwnCode && report.code == ADRT_BOUNDS_CHANGED_TO_1_4 &&
         report.source == ADRT_BOUNDS_CHANGED_TO_1_4;
}

adrt_status SayBounds(const adrt_launch_plan& plan, const Report& report, adrt_error* error) {
  const artifact::KernelMeta& meta = plan.meta();
  const Vector<artifact::CheckMeta>& loops = plan.bundle->metadata.kernels[meta.bounds].asserts;
  if (report.index >= loops.size()) {
    return Fail(error, ADRT_ERROR_ARGUMENT, meta, ": the bounds record was not written by a launch of '",
                meta.of.view(), "'");
  }
  const artifact::CheckMeta& loop = loops[report.index];
  static_assert(int{ADRT_BOUNDS_STATUS_NOW} == int{ADRT_CPU_STATUS_NEEDED} &&
                int{ADRT_BOUNDS_STATUS_THEN} == int{ADRT_CPU_STATUS_ITERATION});
  bool same = report.needed == report.iteration;
  return Fail(error, ADRT_ERROR_BOUNDS_CHANGED, meta, ": the ", loop.text.view(), " at ", loop.place.view(),
              " made ", report.iteration, " trips in '", meta.of.view(), "' and would make ", report.needed,
              same ? " now, from elsewhere or in other iterations" : " now",
              ": what bounds it was changed in between. Restore it, or run '", meta.of.view(), "' again");
}

// The text is a sentence, and in bundles of older compilers the name of the memory.
adrt_status SayPromise(const adrt_launch_plan& plan, const Report& report, std::string_view place,
                       std::string_view text, adrt_error* error) {
  const char* rest = text.find(' ') < text.size() ? "" : " is not written as it is promised";
  bool known = report.needed > 0;
  artifact::MessagePart nothing = "", other = report.needed - 1;
  return Fail(error, ADRT_ERROR_WRITE_PROMISE, plan.meta(), ", iteration ", report.iteration, ", ", place,
              ": ", text, rest, known ? "; the other one is iteration " : "", known ? other : nothing);
}

}  // namespace

adrt_status SayLoopsCut(const adrt_launch_plan& plan, adrt_error* error) {
  return Fail(error, ADRT_ERROR_DRIVER, plan.meta(), ": the driver of '",
              plan.module ? plan.module->device->label : "?",
              "' has ended loops early, after 65,535 iterations in all of a thread: results are wrong. Run "
              "elsewhere, or give a thread less to do");
}

}  // namespace adrt

adrt_status adrt_status_read(const adrt_launch_plan* plan, const void* status, adrt_error* error) {
  adrt::Alive(__func__, plan);
  using adrt::Fail;
  if (!plan || !status) return Fail(error, ADRT_ERROR_ARGUMENT, "status_read: null argument");
  adrt::Report report = adrt::ReadReport(status);
  if (report.code == ADRT_CPU_OK) return ADRT_OK;
  const adc::artifact::KernelMeta& meta = plan->meta();
  if (adrt::IsOfRecord(*plan, report)) return adrt::SayBounds(*plan, report, error);
  if (report.code >= ADRT_BOUNDS_CHANGED || report.task >= meta.tasks.size()) {
    return Fail(error, ADRT_ERROR_ARGUMENT, "status_read: not a status block of kernel '", meta.name.view(),
                "'");
  }
  if (report.code == ADRT_CPU_ADSTACK_OVERFLOW) return adrt::SayOverflow(*plan, report, error);
  if (report.code == ADRT_GPU_ROWS_EXHAUSTED) return adrt::SayRows(*plan, report, error);
  if (report.code == ADRT_CPU_BOUNDS_MOVED) return adrt::SayMoved(*plan, report, error);
  if (report.code == ADRT_GPU_LOOPS_CUT) return adrt::SayLoopsCut(*plan, error);
  const adrt::Vector<adc::artifact::CheckMeta>& table =
      report.code == ADRT_CPU_ASSERTION ? meta.asserts : meta.accesses;
  std::string_view place = report.index < table.size() ? table[report.index].place.view() : "?";
  std::string_view text = report.index < table.size() ? table[report.index].text.view() : "?";
  if (report.code == ADRT_CPU_WRITE_PROMISE_BROKEN)
    return adrt::SayPromise(*plan, report, place, text, error);
  bool index = report.code == ADRT_CPU_INDEX_OUT_OF_BOUNDS;
  return Fail(error, index ? ADRT_ERROR_INDEX_OUT_OF_BOUNDS : ADRT_ERROR_ASSERTION, meta, ", iteration ",
              report.iteration, ", ", place, index ? ": an index into '" : ": assertion failed: ", text,
              index ? "' is out of bounds" : "");
}
