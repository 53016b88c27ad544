#include <adrt/adrt.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "../support/hostile_bundles.h"
#include "artifact/budget.h"
#include "fixture.h"

// That opening costs in proportion to the bytes: steps and memory of hostile families are counted while n
// doubles.

namespace {

using namespace adc::artifact;

/// What an open took, by the budget and by the host's own count.
struct Taken {
  adrt_status status = ADRT_OK;
  adrt_error error = {};
  uint64_t steps = 0, raw = 0, memory = 0;
  uint64_t live = 0, peak = 0;
  double nanoseconds = 0;
};

Taken Open(const std::vector<uint8_t>& file, const adrt_limits* limits = nullptr) {
  Taken taken;
  taken.error.struct_size = sizeof taken.error;
  adrt_host host = {};
  host.struct_size = sizeof host;
  host.user = &taken;
  host.limits = limits;
  host.allocate = [](void* user, size_t size, size_t alignment) -> void* {
    Taken& own = *static_cast<Taken*>(user);
    own.live += size;
    own.peak = std::max(own.peak, own.live);
    return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  };
  host.release = [](void* user, void* memory, size_t size, size_t) {
    static_cast<Taken*>(user)->live -= size;
    std::free(memory);
  };
  adrt_bundle* bundle = nullptr;
  auto now = [] { return double(std::clock()) * 1e9 / CLOCKS_PER_SEC; };
  double begin = now();
  taken.status = adrt_bundle_open(&host, file.data(), file.size(), ADRT_BUNDLE_COPY, &bundle, &taken.error);
  taken.nanoseconds = now() - begin;
  if (bundle) {
    adrt_bundle_report report = {};
    report.struct_size = sizeof report;
    CHECK(adrt_bundle_info(bundle, &report, nullptr) == ADRT_OK);
    taken.steps = report.open_steps;
    taken.raw = report.open_raw_bytes;
    taken.memory = report.open_memory_bytes;
    adrt_bundle_release(bundle);
  }
  CHECK(taken.live == 0);
  return taken;
}

adrt_limits Unlimited() {
  adrt_limits limits = {};
  limits.struct_size = sizeof limits;
  limits.open_memory_bytes = limits.open_raw_bytes = limits.open_steps = UINT64_MAX - 1;
  return limits;
}

}  // namespace

TEST_CASE("what an open takes is in proportion to the bytes of the file", "[budget]") {
  bool prints = std::getenv("ADC_PRINT_BUDGETS") != nullptr;
  for (const hostile::Family& family : hostile::kFamilies) {
    INFO(family.name);
    uint64_t steps_before = 0, bytes_before = 0, memory_before = 0;
    for (size_t n : {100u, 200u, 400u, 800u, 1600u}) {
      INFO("n = " << n);
      std::vector<uint8_t> file = family.make(n);
      // Within the defaults, whatever it says; the host's own objects come on top.
      constexpr uint64_t kOwn = 4096;
      Taken taken = Open(file);
      CHECK(taken.peak <= kOpenMemory + kOpenMemoryPerByte * file.size() + kOwn);
      CHECK(taken.raw <= kOpenRaw + kOpenRawPerByte * file.size());
      CHECK(taken.steps <= kOpenSteps + kOpenStepsPerByte * (file.size() + taken.raw));
      CHECK(taken.steps <= kMostOpenSteps + kMostOpenStepsPerByte * file.size());
      // An old bundle is none any more once it has a key that came later.
      if (family.make == hostile::OldCountingTasks) CHECK(taken.status != ADRT_ERROR_MALFORMED);
      if (taken.status == ADRT_ERROR_OVER_LIMIT) CHECK(std::strstr(taken.error.text, "adrt_limits.open_"));
      if (prints) {
        std::printf("%-40s n %5zu, %8zu bytes: status %d, %5.1f steps/B, %5.1f memory/B, %6.2f ns/B\n",
                    family.name, n, file.size(), taken.status, double(taken.steps) / double(file.size()),
                    double(taken.peak) / double(file.size()), taken.nanoseconds / double(file.size()));
      }
      if (taken.status != ADRT_OK) continue;
      CHECK(taken.steps >= file.size());
      CHECK(taken.memory >= taken.peak - kOwn);
      // Where it is taken twice the bytes take little more than twice the steps and the memory.
      if (bytes_before != 0) {
        double grown = double(file.size() + taken.raw) / double(bytes_before);
        CHECK(double(taken.steps) <= 1.3 * grown * double(steps_before));
        CHECK(double(taken.memory) <= 1.6 * grown * double(memory_before));
      }
      steps_before = taken.steps;
      bytes_before = file.size() + taken.raw;
      memory_before = taken.memory;
    }
  }
}

TEST_CASE("what an open takes is in proportion to the file however well it compresses", "[budget]") {
  bool prints = std::getenv("ADC_PRINT_BUDGETS") != nullptr;
  int refused = 0;
  for (const hostile::Family& family : hostile::kFamilies) {
    for (size_t n : {100u, 400u, 1600u, 3200u, 6400u}) {
      INFO(family.name << ", n = " << n);
      std::vector<uint8_t> plain = family.make(n), file = hostile::Compressed(plain, true);
      Taken taken = Open(file);
      CHECK(taken.peak <= kOpenMemory + kOpenMemoryPerByte * file.size() + 4096);
      CHECK(taken.steps <= kMostOpenSteps + kMostOpenStepsPerByte * file.size());
      if (prints) {
        for (int again = 0; again < 8; ++again)
          taken.nanoseconds = std::min(taken.nanoseconds, Open(file).nanoseconds);
        std::printf("%-40s n %5zu, %8zu bytes: status %d, %6.2f of 15 ms and 30 ns/B\n", family.name, n,
                    file.size(), taken.status, taken.nanoseconds / (15e6 + 30.0 * double(file.size())));
      }
      // What the writer makes of the same by itself opens where it does without compression.
      Taken written = Open(hostile::Compressed(plain, false));
      if (Open(plain).status == ADRT_OK) {
        CHECK(written.status != ADRT_ERROR_OVER_LIMIT);
        refused += taken.status == ADRT_ERROR_OVER_LIMIT;
      }
    }
  }
  CHECK(refused > 5);
}

TEST_CASE("what is refused by its cost says which budget would do", "[budget]") {
  std::vector<uint8_t> file = fixture::MakeBundle();
  adrt_limits unlimited = Unlimited();
  Taken whole = Open(file, &unlimited);
  REQUIRE(whole.status == ADRT_OK);
  uint64_t adrt_limits::* budgets[] = {&adrt_limits::open_memory_bytes, &adrt_limits::open_raw_bytes,
                                       &adrt_limits::open_steps};
  const char* names[] = {"open_memory_bytes", "open_raw_bytes", "open_steps"};
  uint64_t needed[] = {whole.memory, whole.raw, whole.steps};
  for (int which = 0; which < 3; ++which) {
    INFO(names[which]);
    REQUIRE(needed[which] > 1);
    adrt_limits limits = Unlimited();
    limits.*budgets[which] = needed[which];
    CHECK(Open(file, &limits).status == ADRT_OK);
    limits.*budgets[which] = needed[which] - 1;
    Taken refused = Open(file, &limits);
    CHECK(refused.status == ADRT_ERROR_OVER_LIMIT);
    CHECK(std::strstr(refused.error.text, names[which]));
    CHECK(refused.error.rule == 4);
  }
}

TEST_CASE("any budget of steps or memory is kept", "[budget]") {
  std::vector<uint8_t> file = fixture::MakeBundle();
  adrt_limits unlimited = Unlimited();
  Taken whole = Open(file, &unlimited);
  for (int part = 0; part < 60; ++part) {
    adrt_limits limits = Unlimited();
    limits.open_steps = whole.steps * uint64_t(part) / 60 + 1;
    Taken by_steps = Open(file, &limits);
    CHECK(by_steps.status == ADRT_ERROR_OVER_LIMIT);
    limits = Unlimited();
    limits.open_memory_bytes = whole.memory * uint64_t(part) / 60 + 1;
    Taken by_memory = Open(file, &limits);
    CHECK(by_memory.status == ADRT_ERROR_OVER_LIMIT);
    CHECK(by_memory.peak <= limits.open_memory_bytes + 4096);
  }
}

TEST_CASE("the fixture's bundle takes less than half of the defaults", "[budget]") {
  std::vector<uint8_t> file = fixture::MakeBundle();
  Taken taken = Open(file);
  REQUIRE(taken.status == ADRT_OK);
  CHECK(2 * taken.memory <= kOpenMemory + kOpenMemoryPerByte * file.size());
  CHECK(2 * taken.raw <= kOpenRaw + kOpenRawPerByte * file.size());
  CHECK(2 * taken.steps <= kOpenSteps + kOpenStepsPerByte * (file.size() + taken.raw));
}
