// Gradients within a budget on the CPU.

#include <cstdlib>
#include <mutex>

#include "../support/folders.h"
#include "budget_cases.h"

using namespace adc;
using namespace adc::test;

namespace {

/// An allocator that says how much was taken at most.
struct CountedMemory {
  std::mutex mutex;
  uint64_t taken = 0, most = 0;

  adrt_host Host() {
    adrt_host host = {};
    host.user = this;
    host.allocate = [](void* own, size_t size, size_t alignment) -> void* {
      auto& memory = *static_cast<CountedMemory*>(own);
      std::lock_guard<std::mutex> lock(memory.mutex);
      memory.taken += size;
      memory.most = std::max(memory.most, memory.taken);
      size_t unit = std::max(alignment, sizeof(void*));
      return std::aligned_alloc(unit, (size + unit - 1) / unit * unit);
    };
    host.release = [](void* own, void* block, size_t size, size_t) {
      auto& memory = *static_cast<CountedMemory*>(own);
      std::lock_guard<std::mutex> lock(memory.mutex);
      if (block) memory.taken -= size;
      std::free(block);
    };
    return host;
  }
};

WithinBudget::Open Cpu(uint32_t workers) {
  return [workers](const adrt_host& host, adrt_device** made, adrt_error* error) {
    return adrt_device_open_cpu(&host, workers, made, error);
  };
}

}  // namespace

TEST_CASE("gradients within a budget on the CPU", "[budget]") {
  constexpr uint32_t kWorkers = 3;
  WithinBudget device(adc::test::TestsFolder() + "/budget/loops.ir", "cpu:x86-64", Cpu(kWorkers));
  CompareBudgets(device, kWorkers);
}

// Evaluating a stack of the last task takes too long only for one of the segment lengths, which is tried when
// another stack has been counted already.
TEST_CASE("stacks that are counted from some segment length on", "[budget]") {
  constexpr int64_t kSize = 60;
  WithinBudget device(adc::test::TestsFolder() + "/budget/open.ir", "cpu:x86-64", Cpu(3));
  WithinBudget::Given given;
  given.size = kSize;
  given.numbers["n"] = {11};
  given.numbers["q"] = {9};
  for (int64_t k = 0; k < kSize; ++k) {
    given.numbers["x"].push_back(0.1 + 0.01 * static_cast<double>((k * 37) % kSize));
    given.numbers["c"].push_back(static_cast<double>(k));
    given.numbers["loss.adj"].push_back(1);
  }
  SweepBudgets(device, "mixed.grad", given, 64, 64, "loss");
}

// 64 workers may each come to the longest loop of %length, so that whole tapes take 64 times a gigabyte. One
// iteration is that long, so that the test is not.
TEST_CASE("a tape of 64 GB within 256 MB", "[budget]") {
  constexpr uint32_t kWorkers = 64;
  constexpr int64_t kIterations = 200, kLongest = 125'000'000, kLong = 70;
  constexpr uint64_t kBudget = 256'000'000;
  constexpr double kRate = 1e-8;
  CountedMemory memory;
  {
    WithinBudget device(adc::test::TestsFolder() + "/budget/long_tape.ir", "cpu:x86-64-v3", Cpu(kWorkers),
                        memory.Host());
    WithinBudget::Given given;
    given.size = kIterations;
    given.numbers["c"] = {kRate};
    for (int64_t k = 0; k < kIterations; ++k) {
      given.numbers["x"].push_back(0.5 + 0.01 * static_cast<double>(k));
      given.numbers["y.adj"].push_back(1 + static_cast<double>(k));
      given.numbers["length"].push_back(static_cast<double>(k == kLong ? kLongest : (k * 997) % 20000));
    }
    WithinBudget::Outcome whole = device.Resolve("ragged.grad", given, 0);
    REQUIRE(whole.status == ADRT_OK);
    CHECK(whole.segments[0] == 0);
    CHECK(whole.heap_bytes >= 64'000'000'000);

    WithinBudget::Outcome cut = device.Run("ragged.grad", given, kBudget);
    INFO(cut.text);
    REQUIRE(cut.status == ADRT_OK);
    CHECK(cut.heap_bytes <= kBudget);
    CHECK(cut.segments[0] > 0);
    // The recurrence a / (1 + c a) has the closed form x / (1 + c n x).
    for (int64_t k = 0; k < kIterations; ++k) {
      size_t at = static_cast<size_t>(k);
      double scale = 1 + kRate * given.numbers["length"][at] * given.numbers["x"][at];
      double expected = given.numbers["y.adj"][at] / (scale * scale);
      CHECK(cut.Number("x.adj", at) == Approx(expected).epsilon(1e-9));
      CHECK(cut.Number("y.adj", at) == 0);
    }
  }
  CHECK(memory.most <= kBudget);
  CHECK(memory.taken == 0);
}
