// Schedules over launches: every reversed step finds what its own forward step saved, from the right state,
// within the bytes that were said, and with as few launches as can be.

#include <adrt/adrt_rollout.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

namespace {

struct Rollout {
  adrt_rollout* handle = nullptr;
  adrt_status status = ADRT_OK;
  adrt_error error = {};

  Rollout(uint32_t schedule, uint64_t steps, uint64_t state, uint64_t saved, uint64_t budget,
          uint64_t alignment = 1) {
    adrt_rollout_desc desc = {};
    desc.struct_size = sizeof desc;
    desc.schedule = schedule;
    desc.steps = steps;
    desc.state_bytes = state;
    desc.saved_bytes = saved;
    desc.budget_bytes = budget;
    desc.alignment = alignment;
    error.struct_size = sizeof error;
    status = adrt_rollout_create(nullptr, &desc, &handle, &error);
  }
  ~Rollout() { adrt_rollout_release(handle); }
  Rollout(const Rollout&) = delete;
  Rollout& operator=(const Rollout&) = delete;

  adrt_rollout_report Report() const {
    adrt_rollout_report report = {};
    report.struct_size = sizeof report;
    REQUIRE(adrt_rollout_info(handle, &report, nullptr) == ADRT_OK);
    return report;
  }
  adrt_rollout_action Next() const {
    adrt_rollout_action action = {};
    action.struct_size = sizeof action;
    REQUIRE(adrt_rollout_next(handle, &action, nullptr) == ADRT_OK);
    return action;
  }
};

/// Carries the actions out on numbers: the state is the number of the step that comes next, and the arena a
/// list of stretches that hold either a state or what a step saved.
struct Machine {
  struct Piece {
    bool is_state;
    uint64_t step, bytes;
  };
  uint64_t state = 0, forward = 0, reversed, peak = 0;
  bool seeded = false;
  std::map<uint64_t, Piece> arena;

  void Put(uint64_t offset, Piece piece) {
    for (auto at = arena.begin(); at != arena.end();) {
      bool apart = at->first + at->second.bytes <= offset || offset + piece.bytes <= at->first;
      at = apart ? std::next(at) : arena.erase(at);
    }
    arena[offset] = piece;
    peak = std::max(peak, offset + piece.bytes);
  }

  /// Empty where all is right.
  std::string Run(const Rollout& rollout, uint64_t steps, uint64_t state_bytes, uint64_t saved_bytes) {
    reversed = steps;
    for (;;) {
      adrt_rollout_action action = rollout.Next();
      std::string where = " at step " + std::to_string(action.step);
      auto found = arena.find(action.offset);
      switch (action.kind) {
        case ADRT_ROLLOUT_DONE:
          return reversed == 0 ? "" : "ends with steps to be reversed";
        case ADRT_ROLLOUT_FORWARD:
          if (action.step != state) return "runs from the wrong state" + where;
          if (saved_bytes > 0) Put(action.offset, {false, action.step, saved_bytes});
          ++state, ++forward;
          break;
        case ADRT_ROLLOUT_REVERSE:
          if (!seeded || action.step + 1 != reversed) return "reverses out of order" + where;
          if (saved_bytes > 0 &&
              (found == arena.end() || found->second.is_state || found->second.step != action.step))
            return "reverses what nothing saved" + where;
          --reversed;
          break;
        case ADRT_ROLLOUT_STORE:
          if (action.step != state) return "stores the wrong state" + where;
          if (state_bytes > 0) Put(action.offset, {true, state, state_bytes});
          break;
        case ADRT_ROLLOUT_LOAD:
          if (state_bytes > 0 &&
              (found == arena.end() || !found->second.is_state || found->second.step != action.step))
            return "loads what is no state" + where;
          state = action.step;
          break;
        case ADRT_ROLLOUT_SEED:
          if (state != steps || seeded) return "seeds too early or twice";
          seeded = true;
          break;
        default:
          return "an unknown action";
      }
    }
  }
};

/// The fewest runs of segments that are not reversed at once, by trying all.
uint64_t FewestAdvances(uint64_t n, uint64_t copies,
                        std::map<std::pair<uint64_t, uint64_t>, uint64_t>& known) {
  if (n <= 1) return 0;
  auto [entry, fresh] = known.try_emplace({n, copies}, UINT64_MAX);
  if (!fresh) return entry->second;
  uint64_t best = n * (n - 1) / 2;
  for (uint64_t m = 1; copies > 1 && m < n; ++m)
    best = std::min(best, m + FewestAdvances(n - m, copies - 1, known) + FewestAdvances(m, copies, known));
  return known[{n, copies}] = best;
}

}  // namespace

TEST_CASE("every schedule reverses every step from what it saved, within its bytes") {
  uint64_t tried = 0, refused = 0;
  for (uint32_t schedule :
       {ADRT_ROLLOUT_AUTO, ADRT_ROLLOUT_WHOLE, ADRT_ROLLOUT_UNIFORM, ADRT_ROLLOUT_BINOMIAL}) {
    for (uint64_t steps : {0, 1, 2, 3, 5, 7, 10, 16, 33, 100, 257}) {
      for (auto [state, saved] :
           {std::pair<uint64_t, uint64_t>{10, 4}, {4, 10}, {7, 7}, {0, 5}, {5, 0}, {1000, 1}}) {
        for (uint64_t budget : {1, 11, 14, 20, 40, 77, 150, 400, 1400, 3000, 100000}) {
          INFO("schedule " << schedule << ", steps " << steps << ", state " << state << ", saved " << saved
                           << ", budget " << budget);
          Rollout rollout(schedule, steps, state, saved, budget);
          if (rollout.status != ADRT_OK) {
            ++refused;
            REQUIRE(rollout.status == ADRT_ERROR_HEAP_TOO_SMALL);
            REQUIRE(rollout.error.needed_bytes > budget);
            // What is said to do does, and one byte less does not.
            uint64_t needed = rollout.error.needed_bytes;
            CHECK(Rollout(schedule, steps, state, saved, needed).status == ADRT_OK);
            CHECK(Rollout(schedule, steps, state, saved, needed - 1).status == ADRT_ERROR_HEAP_TOO_SMALL);
            continue;
          }
          ++tried;
          adrt_rollout_report report = rollout.Report();
          Machine machine;
          CHECK(machine.Run(rollout, steps, state, saved) == "");
          CHECK(machine.peak == report.peak_bytes);
          CHECK(report.peak_bytes <= budget);
          CHECK(machine.forward == report.forward_steps);
        }
      }
    }
  }
  CHECK(tried > 1000);
  CHECK(refused > 100);
}

TEST_CASE("binomial schedules run as few steps as any schedule of so many copies") {
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> known;
  for (uint64_t steps = 1; steps <= 40; ++steps) {
    for (uint64_t copies = 1; copies < steps && copies <= 12; ++copies) {
      INFO("steps " << steps << ", copies " << copies);
      // What a step saves is as large as the rest of the budget, so that segments are single steps.
      Rollout rollout(ADRT_ROLLOUT_BINOMIAL, steps, 1, 1000, 1000 + copies);
      REQUIRE(rollout.status == ADRT_OK);
      adrt_rollout_report report = rollout.Report();
      CHECK(report.segment == 1);
      CHECK(report.forward_steps == steps + FewestAdvances(steps, copies, known));
    }
  }
}

TEST_CASE("automatic schedules run no more steps than any other in the same budget") {
  for (uint64_t steps : {9, 50, 200}) {
    for (uint64_t budget = 20; budget < 4000; budget = budget * 5 / 4) {
      Rollout best(ADRT_ROLLOUT_AUTO, steps, 13, 5, budget);
      for (uint32_t schedule : {ADRT_ROLLOUT_WHOLE, ADRT_ROLLOUT_UNIFORM, ADRT_ROLLOUT_BINOMIAL}) {
        Rollout other(schedule, steps, 13, 5, budget);
        INFO("steps " << steps << ", budget " << budget << ", schedule " << schedule);
        if (other.status != ADRT_OK) continue;
        REQUIRE(best.status == ADRT_OK);
        CHECK(best.Report().forward_steps <= other.Report().forward_steps);
      }
    }
  }
}

TEST_CASE("long rollouts are scheduled at once, and begin again") {
  Rollout rollout(ADRT_ROLLOUT_AUTO, 1ull << 32, 1 << 20, 1 << 18, 1ull << 30, 256);
  REQUIRE(rollout.status == ADRT_OK);
  CHECK(rollout.Report().peak_bytes <= 1ull << 30);
  Rollout small(ADRT_ROLLOUT_UNIFORM, 12, 1, 1, 0);
  Machine first, second;
  CHECK(first.Run(small, 12, 1, 1) == "");
  REQUIRE(adrt_rollout_restart(small.handle, nullptr) == ADRT_OK);
  CHECK(second.Run(small, 12, 1, 1) == "");
  // Four segments of three steps: three copies and three saved.
  CHECK(small.Report().peak_bytes == 6);
}

TEST_CASE("what is wrong about a rollout is said") {
  CHECK(Rollout(9, 1, 1, 1, 0).status == ADRT_ERROR_ARGUMENT);
  CHECK(Rollout(ADRT_ROLLOUT_AUTO, 1, 1, 1, 0, 3).status == ADRT_ERROR_ARGUMENT);
  CHECK(Rollout(ADRT_ROLLOUT_BINOMIAL, 1, 1, 1, 0).status == ADRT_ERROR_ARGUMENT);
  CHECK(Rollout(ADRT_ROLLOUT_AUTO, (1ull << 32) + 1, 1, 1, 0).status == ADRT_ERROR_OVER_LIMIT);
  CHECK(Rollout(ADRT_ROLLOUT_WHOLE, 1ull << 32, 1, UINT64_MAX / 2, 0).status == ADRT_ERROR_SIZE_OVERFLOW);
  CHECK(adrt_rollout_create(nullptr, nullptr, nullptr, nullptr) == ADRT_ERROR_ARGUMENT);
  CHECK(adrt_rollout_next(nullptr, nullptr, nullptr) == ADRT_ERROR_ARGUMENT);
  CHECK(adrt_rollout_restart(nullptr, nullptr) == ADRT_ERROR_ARGUMENT);
  adrt_rollout_release(nullptr);
}
