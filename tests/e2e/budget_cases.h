#pragma once
// Gradients within budgets, from what they take without one down to the least: the same numbers to the bit,
// never more bytes than allowed, and where one block of lanes does not fit, an error that says exactly what
// would do.

#include <algorithm>
#include <random>

#include "../support/within_budget.h"

namespace adc::test {

/// A kernel of budget/loops.ir.
struct BudgetCase {
  const char* name;
  int32_t n;
  bool keeps = true;  ///< it may keep checkpoints
  bool sized = true;  ///< what it takes is known without running anything
};

// With one block of lanes a thread runs ten iterations, and a Vulkan device on the CPU (llvmpipe) leaves a
// thread after 65535 iterations of its loops together.
inline const BudgetCase kBudgetCases[] = {{"whole", 600, false},
                                          {"chosen", 600},
                                          {"squared", 500},
                                          {"nest", 30},
                                          {"gated", 500},
                                          {"beside", 300},
                                          {"tasks", 200},
                                          {"bounded", 600},
                                          {"ragged", 0, true, false},
                                          {"until", 0, true, false},
                                          {"within", 40, true, false}};

inline WithinBudget::Given BudgetArguments(const BudgetCase& one, int64_t size) {
  WithinBudget::Given given;
  given.size = size;
  given.numbers["n"] = {static_cast<double>(one.n)};
  for (int64_t k = 0; k < size; ++k) {
    given.numbers["x"].push_back(0.1 +
                                 0.9 * static_cast<double>((k * 37) % size) / static_cast<double>(size));
    given.numbers["y.adj"].push_back(1.0 + 0.001 * static_cast<double>(k));
    given.numbers["length"].push_back(static_cast<double>((k * 7) % 400));
  }
  return given;
}

/// The launch fits `budget`, and its numbers are those of `whole`.
inline void CheckWithin(WithinBudget& device, const BudgetCase& one, const WithinBudget::Given& given,
                        uint64_t budget, const WithinBudget::Outcome& whole, uint64_t* heap_bytes = nullptr) {
  INFO("a budget of " << budget << " bytes");
  WithinBudget::Outcome cut = device.Run(one.name + std::string(".grad"), given, budget);
  INFO(cut.text);
  REQUIRE(cut.status == ADRT_OK);
  CHECK(cut.heap_bytes <= budget);
  for (const char* buffer : {"x.adj", "y.adj"}) CHECK(cut.buffers.at(buffer) == whole.buffers.at(buffer));
  if (heap_bytes) *heap_bytes = cut.heap_bytes;
}

/// Budgets from `least` bytes on to what the launch takes without one: each runs it, or is refused with bytes
/// that do. Numbers are the same to the bit, but for `sums`, which depend on the order of their terms.
inline void SweepBudgets(WithinBudget& device, const std::string& kernel, const WithinBudget::Given& given,
                         uint64_t least, uint64_t step, const std::string& sums) {
  INFO(kernel);
  WithinBudget::Outcome whole = device.Run(kernel, given, 0);
  INFO(whole.text);
  REQUIRE(whole.status == ADRT_OK);
  uint32_t refused = 0;
  for (uint64_t budget = least; budget <= whole.heap_bytes; budget += step) {
    INFO("a budget of " << budget << " bytes");
    uint64_t enough = budget;
    WithinBudget::Outcome cut = device.Run(kernel, given, budget);
    if (cut.status == ADRT_ERROR_HEAP_TOO_SMALL) {
      ++refused;
      enough = cut.needed_bytes;
      CHECK(enough > budget);
      cut = device.Run(kernel, given, enough);
    }
    INFO(cut.text);
    REQUIRE(cut.status == ADRT_OK);
    CHECK(cut.heap_bytes <= enough);
    for (const auto& [name, bytes] : whole.buffers) {
      if (name != sums) CHECK(cut.buffers.at(name) == bytes);
    }
  }
  CHECK(refused > 0);
}

/// One loop compiled for whole tapes, for segments of a fixed length and of a launch's choice.
inline void CompareWays(WithinBudget& device) {
  const BudgetCase& whole = kBudgetCases[0];
  WithinBudget::Given given = BudgetArguments(whole, 300);
  WithinBudget::Outcome plain = device.Run("whole.grad", given, 0),
                        fixed = device.Run("fixed.grad", given, 0),
                        chosen = device.Run("chosen.grad", given, 0);
  REQUIRE(plain.status == ADRT_OK);
  CHECK(fixed.heap_bytes < plain.heap_bytes / 4);
  CHECK(chosen.heap_bytes >= plain.heap_bytes);
  for (const char* buffer : {"x.adj", "y.adj"}) {
    CHECK(fixed.buffers.at(buffer) == plain.buffers.at(buffer));
    CHECK(chosen.buffers.at(buffer) == plain.buffers.at(buffer));
  }
}

/// Every kernel within budgets. `workers` of a CPU, on which a plan without a device says the same; 0:
/// elsewhere.
inline void CompareBudgets(WithinBudget& device, uint32_t workers) {
  constexpr int64_t kSize = 300;
  CompareWays(device);
  std::mt19937 random(7);
  for (const BudgetCase& one : kBudgetCases) {
    INFO(one.name);
    std::string gradient = one.name + std::string(".grad");
    WithinBudget::Given given = BudgetArguments(one, kSize);
    WithinBudget::Outcome whole = device.Run(gradient, given, 0);
    INFO(whole.text);
    REQUIRE(whole.status == ADRT_OK);
    for (uint64_t segment : whole.segments) CHECK(segment == 0);

    WithinBudget::Outcome refused = device.Run(gradient, given, 1);
    REQUIRE(refused.status == ADRT_ERROR_HEAP_TOO_SMALL);
    uint64_t least = refused.needed_bytes;
    INFO("at least " << least << " of " << whole.heap_bytes << " bytes");
    CHECK(refused.text.find("not fit a budget of 1 bytes") != std::string::npos);
    CHECK((refused.text.find("--checkpoint=auto") != std::string::npos) == !one.keeps);
    WithinBudget::Outcome below = device.Run(gradient, given, least - 1);
    CHECK(below.status == ADRT_ERROR_HEAP_TOO_SMALL);
    CHECK(below.needed_bytes == least);
    CheckWithin(device, one, given, least, whole);

    if (one.sized) CHECK(least < whole.heap_bytes);
    uint64_t most = std::max(whole.heap_bytes, 2 * least);
    uint32_t with_segments = 0;
    for (int turn = 0; turn < 8; ++turn) {
      uint64_t budget = turn == 0 ? whole.heap_bytes : least + random() % (most - least + 1);
      if (budget < least) continue;
      uint64_t heap_bytes = 0;
      CheckWithin(device, one, given, budget, whole, &heap_bytes);
      if (workers == 0 || !one.sized) continue;
      WithinBudget::Outcome said = device.Size(gradient, given, budget, workers);
      INFO(said.text);
      CHECK(said.status == ADRT_OK);
      CHECK(said.heap_bytes == heap_bytes);
      for (uint64_t segment : said.segments) with_segments += segment > 0 ? 1 : 0;
    }
    if (workers > 0 && one.sized) CHECK((with_segments > 0) == one.keeps);
    if (workers > 0 && one.sized) {
      WithinBudget::Outcome said = device.Size(gradient, given, least - 1, workers);
      CHECK(said.status == ADRT_ERROR_HEAP_TOO_SMALL);
      CHECK(said.needed_bytes == least);
    }
  }
}

}  // namespace adc::test
