#include <adrt/adrt_rollout.h>

#include <algorithm>

#include "core/errors.h"
#include "core/handles.h"
#include "core/host.h"

// Reversing a chain of steps with few copies of the state.
//
// The chain is cut into N segments of L steps, of which the first may be shorter. The values that the steps
// of one segment save are there at once; the state at the beginning of up to C segments is copied. To reverse
// the segments [b, e) from a copy of the state at b, with s copies to be had, this one included:
//
//   s = 1    run to e-1, reverse it, load the copy, run to e-2, ...
//   else     run to b+m, copy, reverse [b+m, e) with s-1 copies, give the copy up, reverse [b, b+m) with s
//
// The fewest segments that run without being reversed at once are t(n, s) = r*n - C(s+r, r-1), n = e - b,
// where r is the least number with C(s+r, s) >= n: how often a segment runs at most (Griewank and Walther,
// Algorithm 799, TOMS 26, 2000). t is convex in n, with the slope r, so the best m is where the sum m +
// t(n-m, s-1) + t(m, s) stops falling, which is searched for by halving.
//
// The walk is a machine with a stack of copies: each call of next moves it to its next action.

namespace adrt {
namespace {

constexpr uint64_t kMostSteps = 1ull << 32;
/// Numbers that are compared only are cut off here.
constexpr uint64_t kMany = 1ull << 62;

/// C(n, k), cut off at kMany.
uint64_t Choose(uint64_t n, uint64_t k) {
  if (k > n) return 0;
  k = std::min(k, n - k);
  uint64_t result = 1;
  for (uint64_t i = 1; i <= k; ++i) {
    // i divides result * (n - k + i); in two parts, so that the product fits wherever the quotient does.
    uint64_t factor = n - k + i, rest = result % i * factor / i;
    if (artifact::MultiplyOverflows(result / i, factor, &result) || result >= kMany) return kMany;
    result += rest;
  }
  return result;
}

/// How often the segments of a chain of `n` run at most, with `copies` of the state: beside the run that
/// saves.
uint64_t Repetitions(uint64_t n, uint64_t copies) {
  if (n <= 1) return 0;
  if (copies == 1) return n - 1;
  uint64_t low = 0, high = 1;  // the answer is in (low, high]
  while (Choose(copies + high, copies) < n) {
    low = high;
    high *= 2;
  }
  while (high - low > 1) {
    uint64_t middle = low + (high - low) / 2;
    (Choose(copies + middle, copies) < n ? low : high) = middle;
  }
  return high;
}

/// The fewest segments that run without being reversed at once; cut off at kMany.
uint64_t Advances(uint64_t n, uint64_t copies) {
  uint64_t r = Repetitions(n, copies);
  if (r == 0) return 0;
  uint64_t runs = 0;
  if (artifact::MultiplyOverflows(r, n, &runs)) return kMany;
  return std::min(runs - Choose(copies + r, r - 1), kMany);
}

/// Where the next copy is best taken: the least m in [1, n) at which the sum stops falling.
uint64_t Split(uint64_t n, uint64_t copies) {
  uint64_t low = 0, high = n - 1;
  while (high - low > 1) {
    uint64_t middle = low + (high - low) / 2;
    bool falls = Repetitions(n - middle, copies - 1) > 1 + Repetitions(middle + 1, copies);
    (falls ? low : high) = middle;
  }
  return high;
}

struct Shape {
  uint64_t segment = 0;   ///< steps
  uint64_t segments = 0;  ///< of which the first may be shorter
  uint64_t copies = 0;
  uint64_t bytes = 0, runs = 0;
};

class Chooser {
 public:
  Chooser(uint64_t steps, uint64_t state, uint64_t saved, uint64_t budget)
      : steps_(steps), state_(state), saved_(saved), budget_(budget) {}

  const Shape& best() const { return best_; }
  bool found() const { return best_.segment > 0; }
  uint64_t least_bytes() const { return least_; }

  void Whole() { Consider(steps_, 0); }

  // Each number of segments and each length of one, up to the root of the steps: the best one is among them.
  void Uniform() {
    ForEachSegment(1ull << 16, [&](uint64_t segment) { Consider(segment, SegmentsOf(segment) - 1); });
  }

  void Binomial() {
    ForEachSegment(64, [&](uint64_t segment) { WithBudget(segment); });
    for (uint64_t segment = 64; segment < steps_; segment += segment / 8) WithBudget(segment);
    if (found()) WithBudget(best_.segment);
  }

 private:
  uint64_t SegmentsOf(uint64_t segment) const { return (steps_ + segment - 1) / segment; }

  template <class Function>
  void ForEachSegment(uint64_t most, Function&& take) const {
    for (uint64_t n = 1; n <= most && n <= steps_; ++n) {
      take(n);
      take((steps_ + n - 1) / n);
    }
  }

  /// As many copies as the budget allows.
  void WithBudget(uint64_t segment) {
    uint64_t most = SegmentsOf(segment) - 1;
    if (most == 0) return Consider(segment, 0);
    uint64_t saved = 0;
    if (artifact::MultiplyOverflows(segment, saved_, &saved)) return;
    uint64_t left = budget_ > saved ? budget_ - saved : 0;
    uint64_t copies = state_ == 0 ? most : std::min(most, left / state_);
    Consider(segment, std::max<uint64_t>(copies, 1));
  }

  void Consider(uint64_t segment, uint64_t copies) {
    Shape shape{segment, SegmentsOf(segment), copies, 0, 0};
    uint64_t saved = 0;
    if (artifact::MultiplyOverflows(segment, saved_, &saved) ||
        artifact::MultiplyOverflows(copies, state_, &shape.bytes) ||
        artifact::AddOverflows(shape.bytes, saved, &shape.bytes))
      return;
    least_ = std::min(least_, shape.bytes);
    if (shape.bytes > budget_) return;
    shape.runs = Runs(shape);
    bool better =
        !found() || shape.runs < best_.runs || (shape.runs == best_.runs && shape.bytes < best_.bytes);
    if (better) best_ = shape;
  }

  /// Launches of the kernel. The first segment, which may be shorter, runs once per copy that is taken from
  /// it.
  uint64_t Runs(const Shape& shape) const {
    uint64_t again = 0;
    if (shape.copies > 0) {
      uint64_t whole = 0;
      if (artifact::MultiplyOverflows(Advances(shape.segments, shape.copies), shape.segment, &whole))
        whole = kMany;
      uint64_t missing = shape.segments * shape.segment - steps_, first = 0;
      for (uint64_t n = shape.segments; n > 1; ++first)
        n = shape.copies == 1 ? n - 1 : Split(n, shape.copies);
      again = whole >= kMany ? kMany : whole - first * missing;
    }
    return steps_ + again;
  }

  uint64_t steps_, state_, saved_, budget_;
  uint64_t least_ = UINT64_MAX;
  Shape best_;
};

}  // namespace
}  // namespace adrt

struct adrt_rollout {
  enum class Phase : uint8_t {
    Decide,   ///< the state is that at the start of segment `current`
    Advance,  ///< to `target`, for no other reason than to get there
    Fill,     ///< the last segment, for what it saves
    Seed,
    Reverse,
    Load,
    Done,
  };

  explicit adrt_rollout(const adrt::Host& given) : host(given), copies(&host.allocator) {}

  adrt::Host host;
  adrt_rollout_desc desc = {};
  adrt::Shape shape;
  uint64_t state_stride = 0, saved_stride = 0;
  Phase phase = Phase::Decide;
  uint64_t current = 0, end = 0, target = 0, step = 0, done = 0;
  adrt::Vector<uint64_t> copies;  ///< segments whose first state is copied, ascending; reserved for all
  uint64_t taken = 0;             ///< of `copies`

  /// The step at which a segment begins; of the one after the last: the number of steps.
  uint64_t BeginOf(uint64_t segment) const {
    return segment == 0 ? 0 : desc.steps - (shape.segments - segment) * shape.segment;
  }
  uint64_t SavedAt(uint64_t segment, uint64_t at) const {
    return shape.copies * state_stride + (at - BeginOf(segment)) * saved_stride;
  }
  void Restart() {
    phase = desc.steps == 0 ? Phase::Seed : Phase::Decide;
    current = target = step = done = taken = 0;
    end = shape.segments;
  }
  adrt_rollout_action Next();
};

adrt_rollout_action adrt_rollout::Next() {
  auto action = [&](uint32_t kind, uint64_t at, uint64_t offset) {
    adrt_rollout_action made = {};
    made.kind = kind;
    made.step = at;
    made.offset = offset;
    ++done;
    return made;
  };
  for (;;) {
    switch (phase) {
      case Phase::Decide:
        step = BeginOf(current);
        if (current + 1 == end) {
          phase = Phase::Fill;
          break;
        }
        if (taken == 0 || copies[taken - 1] != current) {
          copies[taken++] = current;
          return action(ADRT_ROLLOUT_STORE, step, (taken - 1) * state_stride);
        }
        {
          uint64_t free = shape.copies - taken + 1;
          target = free == 1 ? end - 1 : current + adrt::Split(end - current, free);
        }
        phase = Phase::Advance;
        break;
      case Phase::Advance:
        if (step < BeginOf(current + 1)) {
          ++step;
          return action(ADRT_ROLLOUT_FORWARD, step - 1, SavedAt(current, step - 1));
        }
        if (++current == target) phase = Phase::Decide;
        break;
      case Phase::Fill:
        if (step < BeginOf(end)) {
          ++step;
          return action(ADRT_ROLLOUT_FORWARD, step - 1, SavedAt(current, step - 1));
        }
        phase = end == shape.segments ? Phase::Seed : Phase::Reverse;
        break;
      case Phase::Seed:
        phase = desc.steps == 0 ? Phase::Done : Phase::Reverse;
        return action(ADRT_ROLLOUT_SEED, desc.steps, 0);
      case Phase::Reverse:
        if (step > BeginOf(current)) {
          --step;
          return action(ADRT_ROLLOUT_REVERSE, step, SavedAt(current, step));
        }
        end = current;
        phase = end == 0 ? Phase::Done : Phase::Load;
        break;
      case Phase::Load: {
        current = copies[taken - 1];
        uint64_t offset = (taken - 1) * state_stride;
        // The last use of a copy: the next copy may lie there.
        if (current + 1 == end) --taken;
        phase = Phase::Decide;
        return action(ADRT_ROLLOUT_LOAD, BeginOf(current), offset);
      }
      case Phase::Done:
        return {};
    }
  }
}

namespace {

bool Stride(uint64_t bytes, uint64_t alignment, uint64_t* stride) {
  if (adrt::artifact::AddOverflows(bytes, alignment - 1, stride)) return false;
  *stride &= ~(alignment - 1);
  return true;
}

}  // namespace

adrt_status adrt_rollout_create(const adrt_host* host, const adrt_rollout_desc* desc, adrt_rollout** rollout,
                                adrt_error* error) {
  using adrt::Fail;
  if (!desc || !rollout) return Fail(error, ADRT_ERROR_ARGUMENT, "rollout: null argument");
  adrt_rollout_desc wanted = {};
  if (!adrt::CopyDescriptor(desc, &wanted))
    return Fail(error, ADRT_ERROR_ARGUMENT, "rollout: ", adrt::kNotSet);
  if (wanted.alignment == 0) wanted.alignment = 256;
  if ((wanted.alignment & (wanted.alignment - 1)) != 0)
    return Fail(error, ADRT_ERROR_ARGUMENT, "rollout: the alignment ", wanted.alignment,
                " is no power of two");
  if (wanted.schedule > ADRT_ROLLOUT_BINOMIAL)
    return Fail(error, ADRT_ERROR_ARGUMENT, "rollout: no schedule has the number ", wanted.schedule);
  if (wanted.schedule == ADRT_ROLLOUT_BINOMIAL && wanted.budget_bytes == 0)
    return Fail(error, ADRT_ERROR_ARGUMENT,
                "rollout: a binomial schedule is one for a budget, and none is given");
  if (wanted.steps > adrt::kMostSteps)
    return Fail(error, ADRT_ERROR_OVER_LIMIT, "rollout: ", wanted.steps, " steps, and 2^32 are the most");
  uint64_t state = 0, saved = 0;
  if (!Stride(wanted.state_bytes, wanted.alignment, &state) ||
      !Stride(wanted.saved_bytes, wanted.alignment, &saved))
    return Fail(error, ADRT_ERROR_SIZE_OVERFLOW, "rollout: bytes do not fit 64 bits");

  uint64_t budget = wanted.budget_bytes == 0 ? UINT64_MAX : wanted.budget_bytes;
  adrt::Chooser least(wanted.steps, state, saved, 0);  // for what would do
  if (wanted.schedule == ADRT_ROLLOUT_UNIFORM && wanted.budget_bytes == 0) {
    least.Uniform();
    budget = least.least_bytes();
  }
  adrt::Chooser chooser(wanted.steps, state, saved, budget);
  if (wanted.steps > 0) {
    for (adrt::Chooser* one : {&chooser, &least}) {
      bool any = wanted.schedule == ADRT_ROLLOUT_AUTO;
      if (any || wanted.schedule == ADRT_ROLLOUT_WHOLE) one->Whole();
      if ((any && !one->found()) || wanted.schedule == ADRT_ROLLOUT_UNIFORM) one->Uniform();
      if ((any && one->best().segments != 1) || wanted.schedule == ADRT_ROLLOUT_BINOMIAL) one->Binomial();
    }
    if (!chooser.found()) {
      if (least.least_bytes() == UINT64_MAX)
        return Fail(error, ADRT_ERROR_SIZE_OVERFLOW, "rollout: bytes do not fit 64 bits");
      Fail(error, ADRT_ERROR_HEAP_TOO_SMALL, "rollout: no schedule of this kind for ", wanted.steps,
           " steps fits ", wanted.budget_bytes, " bytes; ", least.least_bytes(), " suffice");
      if (error && error->struct_size >= sizeof(adrt_error)) error->needed_bytes = least.least_bytes();
      return ADRT_ERROR_HEAP_TOO_SMALL;
    }
  }
  adrt::Host owner;
  if (!adrt::MakeHost(host, &owner, error)) return ADRT_ERROR_ARGUMENT;
  adrt_rollout* made = adrt::New<adrt_rollout>(owner.allocator, owner);
  if (!made) return adrt::OutOfMemory(error);
  made->desc = wanted;
  made->shape = chooser.best();
  made->state_stride = state;
  made->saved_stride = saved;
  if (!made->copies.TryResize(made->shape.copies)) {
    adrt_rollout_release(made);
    return adrt::OutOfMemory(error);
  }
  made->Restart();
  *rollout = made;
  return ADRT_OK;
}

void adrt_rollout_release(adrt_rollout* rollout) {
  adrt::Alive(__func__, rollout);
  if (rollout) adrt::Delete(rollout->host.allocator, rollout);
}

adrt_status adrt_rollout_info(const adrt_rollout* rollout, adrt_rollout_report* report, adrt_error* error) {
  adrt::Alive(__func__, rollout);
  if (!rollout || !report) return adrt::Fail(error, ADRT_ERROR_ARGUMENT, "rollout_info: null argument");
  const adrt::Shape& shape = rollout->shape;
  adrt_rollout_report made = {};
  made.schedule = shape.segments <= 1                  ? ADRT_ROLLOUT_WHOLE
                  : shape.copies + 1 == shape.segments ? ADRT_ROLLOUT_UNIFORM
                                                       : ADRT_ROLLOUT_BINOMIAL;
  made.peak_bytes = shape.bytes;
  made.segment = shape.segment;
  made.copies = shape.copies;
  made.forward_steps = shape.runs;
  made.done = rollout->done;
  if (!adrt::CopyReport(made, report))
    return adrt::Fail(error, ADRT_ERROR_ARGUMENT, "rollout_info: struct_size is not set");
  return ADRT_OK;
}

adrt_status adrt_rollout_next(adrt_rollout* rollout, adrt_rollout_action* action, adrt_error* error) {
  adrt::Alive(__func__, rollout);
  if (!rollout || !action) return adrt::Fail(error, ADRT_ERROR_ARGUMENT, "rollout_next: null argument");
  if (action->struct_size < sizeof(uint32_t))
    return adrt::Fail(error, ADRT_ERROR_ARGUMENT, "rollout_next: struct_size is not set");
  adrt::CopyReport(rollout->Next(), action);
  return ADRT_OK;
}

adrt_status adrt_rollout_restart(adrt_rollout* rollout, adrt_error* error) {
  adrt::Alive(__func__, rollout);
  if (!rollout) return adrt::Fail(error, ADRT_ERROR_ARGUMENT, "rollout_restart: null argument");
  rollout->Restart();
  return ADRT_OK;
}
