// The guard on the CPU, with one worker and with many, on the loader's pool and on callers' job systems.

#include <thread>

#include "../support/on_cpu.h"
#include "guard_budget.h"
#include "guard_cases.h"
#include "sequence_cases.h"

using namespace adc;
using namespace adc::test;

namespace {

constexpr uint32_t kWorkers[] = {1, 2, 16};

// A job system of five threads that deals jobs one by one.
void FiveThreads(void*, uint32_t count, void (*job)(void*, uint32_t), void* context) {
  std::atomic<uint32_t> next{0};
  std::vector<std::thread> threads;
  for (int number = 0; number < 5; ++number) {
    threads.emplace_back([&] {
      for (uint32_t index = next++; index < count; index = next++) job(context, index);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

adrt_cpu_jobs Jobs(uint32_t workers) {
  adrt_cpu_jobs jobs = {};
  jobs.struct_size = sizeof jobs;
  jobs.worker_count = workers;
  jobs.parallel_for = FiveThreads;
  return jobs;
}

}  // namespace

TEST_CASE("an overflow writes nothing outside of its row", "[guard]") {
  for (const TapeType& type : kTapeTypes) {
    for (bool counted : {false, true}) {
      PassingFile file(TapeKernel(type, counted));
      for (uint32_t workers : kWorkers) {
        OnCpu device(file.path, workers);
        CheckCanaries(device, type, counted, file.path);
      }
    }
  }
}

TEST_CASE("an overflow is one report, and the next launch is clean",
          "[guard][row:O1][row:O2][row:O3][row:O4][row:O6][row:C1]") {
  for (uint32_t workers : kWorkers) {
    OnCpu device(waves_file, workers);
    CheckReport(device);
    CheckStaleCounts(device);
  }
  for (uint32_t workers : {1u, 3u, 7u, 64u, 129u}) {
    adrt_cpu_jobs jobs = Jobs(workers);
    OnCpu device(waves_file, 0, &jobs);
    CheckReport(device);
    CheckStaleCounts(device);
  }
}

TEST_CASE("iterations whose bounds have moved are not run", "[guard]") {
  PassingFile file(moved_kernel);
  for (uint32_t workers : kWorkers) {
    OnCpu device(file.path, workers);
    CheckMovedBounds(device, file.path);
  }
}

TEST_CASE("counting ends where its budget or the caller's patience does", "[guard]") {
  // The longer walk is cut into functions.
  for (int work : {3, 1500}) {
    PassingFile file(WalkKernels(work));
    for (uint32_t workers : kWorkers) {
      OnCpu device(file.path, workers);
      CheckBudget(device, file.path);
    }
  }
}

TEST_CASE("every worker has a row of its own, whatever their number", "[guard]") {
  adrt_cpu_jobs jobs = Jobs(129);
  OnCpu device(waves_file, 0, &jobs);
  CheckClaims(device, {0, 1, 3, 7, 31, 100});
}

TEST_CASE("launches at once know nothing of each other", "[guard]") {
  adrt_cpu_jobs jobs = Jobs(5);
  OnCpu pool(waves_file, 3), own(waves_file, 0, &jobs);
  CheckTwoAtOnce(pool);
  CheckTwoAtOnce(own);
}

TEST_CASE("an overflow, and the process ends with everything held", "[.][exit][row:O5]") {
  OverflowAndLeave(new OnCpu(waves_file, 4));
}

TEST_CASE("what was sized runs, and what changed since is right or reported", "[guard]") {
  uint32_t reported = 0, right = 0;
  for (uint64_t seed = 0; seed < 4; ++seed) {
    constexpr uint32_t kNests = 12;
    std::string text;
    for (uint32_t number = 0; number < kNests; ++number) text += RandomNest(seed, number);
    PassingFile file(text);
    OnCpu device(file.path, 1 + static_cast<uint32_t>(seed));
    CheckRightOrReported(device, file.path, 0, kNests, seed, &reported, &right);
  }
  CHECK(reported > 20);
  CHECK(right > 100);
}

TEST_CASE("whatever came before, a plan is as a fresh one", "[sequence]") {
  CheckSequences([](const std::string& path, Recorder**) { return std::make_unique<OnCpu>(path, 3); }, 40);
}
