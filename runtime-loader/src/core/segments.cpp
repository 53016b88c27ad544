#include "core/errors.h"
#include "core/launch.h"

// Checkpoints: where a task's whole tapes leave too few rows within the budget, its loops run in segments. So
// they do without a budget where a device cannot cache the whole tapes, can cache those of segments, and the
// compiler says that running these again costs less than memory does.
//
// Such a kernel has one parameter of kind `segment`, in which the capacities of its stacks are expressions: 0
// stands for whole tapes, which take one forward run. Any other length S takes two and about n / S + S slots
// for a loop of n iterations, so the choice of the length hardly matters for time, and for memory it is near
// the square root of n. The lengths tried are powers of two, which miss the smallest row by 6 % at most. One
// length serves all loops of a task: a loop that is shorter than it is one segment.
//
// Where expressions say how deep stacks get, all lengths are tried. Where a size kernel counts it, each
// length takes a count: the first one is the square root of the deepest whole tape, and its neighbours are
// tried only where it leaves too few rows. A launch whose counts are recorded by the caller takes that one
// length.

namespace adrt {
namespace {

// With half of the threads, one forward run takes as long as two with all of them; and a launch that lacks
// few rows is not worth them.
constexpr uint64_t kFewRows = 2;
// A row this many times the smallest one says that shorter segments make it no smaller any more.
constexpr uint64_t kFarMore = 4;
constexpr int64_t kLongest = int64_t{1} << 30;
// Of tapes that are this many times as large as the cache most is not found there: the end of a tape is, from
// which it is read.
constexpr uint64_t kFarBeyondCache = 3;
// The length where no trips of a loop are known because counting it whole does not fit either.
constexpr int64_t kFirstGuess = int64_t{1} << 14;

void SetSegment(adrt_launch_plan& plan, uint32_t param, int64_t length) {
  plan.params[param].integer = length;
  plan.params[param].has_integer = true;
  plan.size_params[param].has_scalar = true;
  plan.size_params[param].scalar = length;
  plan.cells[plan.meta().params[param].cell] = static_cast<uint64_t>(length);
}

void Choose(adrt_launch_plan& plan, uint32_t task, int64_t length) {
  SetSegment(plan, SegmentParam(plan), length);
  plan.tasks[task].segment = static_cast<uint64_t>(length);
}

bool SizeWith(adrt_launch_plan& plan, uint32_t task, int64_t length, bool may_read, adrt_error* error) {
  Choose(plan, task, length);
  return SizeTaskAsIs(plan, task, may_read, error);
}

bool HasRows(const adrt_launch_plan& plan, const TaskPlan& sizes) {
  if (!sizes.IsSettled()) return false;
  return plan.MostBytes() == 0 || sizes.threads * kFewRows >= sizes.wanted_threads;
}

// The power of two next to the square root of the longest loop, as far as is known: the deepest stack holds
// one value for each of its iterations, or for each of its segments.
int64_t RootLength(const TaskPlan& sizes) {
  uint64_t iterations = 0;
  for (const artifact::StackPlace& stack : sizes.stacks) {
    if (stack.capacity > iterations) iterations = stack.capacity;
  }
  if (sizes.segment > 0 && artifact::MultiplyOverflows(iterations, sizes.segment, &iterations))
    return kLongest;
  int64_t length = 1;
  while (length < kLongest && static_cast<uint64_t>(length) * static_cast<uint64_t>(length) < iterations)
    length *= 2;
  return length;
}

// Gives a task that is settled with whole tapes segments, where these stay in the device's cache and it is
// far from that. Its requests take none of the launch's steps: `before` are those with which whole tapes
// began.
bool FitCache(adrt_launch_plan& plan, uint32_t task, bool may_read, artifact::Steps before,
              adrt_error* error) {
  TaskPlan& sizes = plan.tasks[task];
  uint64_t cache = plan.MostBytes() == 0 ? CacheBytes(plan) : 0, threads = sizes.threads;
  if (cache == 0 || !plan.meta().tasks[task].cheap_replay || sizes.heap_bytes / kFarBeyondCache <= cache)
    return true;
  artifact::Steps after = *plan.steps;
  adrt_error own = {};
  own.struct_size = sizeof own;
  bool stays = SizeWith(plan, task, RootLength(sizes), may_read, &own) && sizes.IsSettled() &&
               sizes.heap_bytes <= cache && sizes.threads >= threads;
  *plan.steps = stays ? after : before;
  return stays || SizeWith(plan, task, 0, may_read, error);
}

// The search over lengths where each takes a count.
class CountedSearch {
 public:
  CountedSearch(adrt_launch_plan& plan, uint32_t task) : plan_(plan), task_(task), sizes_(plan.tasks[task]) {
    own_.struct_size = sizeof own_;
  }

  bool Run(adrt_error* error) {
    if (!Try(0)) return Report(error);
    if (done_) return true;
    int64_t first = sizes_.counts ? RootLength(sizes_) : kFirstGuess;
    for (int64_t length = first; length <= kLongest; length *= 2) {
      if (!Try(length)) return Report(error);
      if (done_) return true;
      if (!IsBest(length) && smallest_ != UINT64_MAX) break;
    }
    for (int64_t length = first / 2; length > 0; length /= 2) {
      if (!Try(length)) return Report(error);
      if (done_) return true;
      if (row_bytes_ > smallest_) break;
    }
    return last_ == best_ && fits_ ? true : CountWith(best_, error);
  }

 private:
  bool CountWith(int64_t length, adrt_error* error) {
    Choose(plan_, task_, length);
    return CountOnce(plan_, task_, error);
  }

  // False on a failure that another length does not help.
  bool Try(int64_t length) {
    sizes_.row_bytes = UINT64_MAX;
    fits_ = CountWith(length, &own_);
    if (!fits_ && own_.status != ADRT_ERROR_HEAP_TOO_SMALL) return false;
    if (fits_ && !sizes_.IsSettled()) return RefuseOpen(plan_, task_, &own_);
    last_ = length;
    row_bytes_ = fits_ || sizes_.counts ? sizes_.row_bytes : UINT64_MAX;
    done_ = fits_ && HasRows(plan_, sizes_);
    if (row_bytes_ < smallest_) {
      smallest_ = row_bytes_;
      best_ = length;
    }
    return true;
  }
  bool IsBest(int64_t length) const { return best_ == length; }
  bool Report(adrt_error* error) {
    PassOn(own_, error);
    return false;
  }

  adrt_launch_plan& plan_;
  uint32_t task_;
  TaskPlan& sizes_;
  adrt_error own_ = {};
  uint64_t smallest_ = UINT64_MAX, row_bytes_ = UINT64_MAX;
  int64_t best_ = 0, last_ = 0;
  bool fits_ = false, done_ = false;
};

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
  // The counts of a size kernel hold for the length that it was told.
  if (plan.serves || MustCount(plan, task))
    return SizeWith(plan, task, static_cast<int64_t>(sizes.segment), may_read, error);
  adrt_error own = {};
  own.struct_size = sizeof own;
  artifact::Steps before = *plan.steps;
  bool plain = SizeWith(plan, task, 0, may_read, &own);
  bool too_large = !plain && own.status == ADRT_ERROR_HEAP_TOO_SMALL;
  if (!plain && !too_large) return SizeWith(plan, task, 0, may_read, error);
  if (plain && (!sizes.IsSettled() || HasRows(plan, sizes)))
    return !sizes.IsSettled() || FitCache(plan, task, may_read, before, error);
  uint64_t smallest = sizes.row_bytes;
  int64_t best = 0;
  // From long to short: where sizes are maxima over segments, few segments make short work.
  for (int64_t length = kLongest; length > 0; length /= 2) {
    bool fits = SizeWith(plan, task, length, may_read, &own);
    if (!fits && own.status != ADRT_ERROR_HEAP_TOO_SMALL) break;
    // Too long to evaluate: it is counted, and says nothing of its row until then.
    if (fits && !sizes.IsSettled()) return SizeWith(plan, task, 0, may_read, error);
    if (best != 0 && sizes.row_bytes / kFarMore > smallest) break;
    if (sizes.row_bytes >= smallest) continue;
    smallest = sizes.row_bytes;
    best = length;
  }
  return SizeWith(plan, task, best, may_read, error);
}

bool CountTask(adrt_launch_plan& plan, uint32_t task, adrt_error* error) {
  // The counts may tell that more of the task must be counted.
  bool searches = SegmentParam(plan) != artifact::kNoIndex;
  if (!searches || !MustCount(plan, task)) {
    if (!CountOnce(plan, task, error)) return false;
    if (plan.tasks[task].IsSettled()) return true;
    if (!searches || !MustCount(plan, task)) return RefuseOpen(plan, task, error);
  }
  return CountedSearch(plan, task).Run(error) &&
         (plan.tasks[task].IsSettled() || RefuseOpen(plan, task, error));
}

void TakeRecordedSegment(adrt_launch_plan& plan, uint32_t task) {
  TaskPlan& sizes = plan.tasks[task];
  if (SegmentParam(plan) == artifact::kNoIndex || !MustCount(plan, task) || !sizes.counts) return;
  adrt_error own = {};
  own.struct_size = sizeof own;
  bool fits = SizeWith(plan, task, static_cast<int64_t>(sizes.segment), true, &own);
  if (fits ? sizes.segment != 0 || HasRows(plan, sizes) : own.status != ADRT_ERROR_HEAP_TOO_SMALL) return;
  int64_t longer = RootLength(sizes);
  if (static_cast<uint64_t>(longer) <= sizes.segment) return;
  Choose(plan, task, longer);
  sizes.counts = nullptr;
}

}  // namespace adrt
