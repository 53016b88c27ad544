#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>

#include "cpu/pool.h"

// What the threads of a pool are to the process that they run in. Sanitizers have alternate stacks of their
// own.

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ADC_HAS_SANITIZER 1
#endif
#endif

namespace {

/// How often a thread of this process has given its processor up, to wait for something.
long Waits() {
  rusage usage = {};
  REQUIRE(getrusage(RUSAGE_SELF, &usage) == 0);
  return usage.ru_nvcsw;
}

}  // namespace

TEST_CASE("each job of a pool runs once in each round", "[loader]") {
  constexpr uint32_t kMost = 9;
  adrt::Pool pool;
  REQUIRE(pool.Start(4, nullptr, nullptr));
  struct Round {
    uint64_t runs[kMost] = {};  // no atomics: Run waits for all jobs
  } round;
  uint64_t wanted[kMost] = {};
  for (uint32_t turn = 0; turn < 3000; ++turn) {
    uint32_t count = turn % (kMost + 1);
    pool.Run(
        count, [](void* context, uint32_t index) { ++static_cast<Round*>(context)->runs[index]; }, &round);
    for (uint32_t index = 0; index < count; ++index) ++wanted[index];
    // Some rounds find the threads asleep.
    if (turn % 500 == 0) usleep(1000);
  }
  for (uint32_t index = 0; index < kMost; ++index) CHECK(round.runs[index] == wanted[index]);
}

TEST_CASE("a round wakes no more threads of a pool than it has jobs", "[loader]") {
  constexpr uint32_t kThreads = 40, kRounds = 50;
  adrt::Pool pool;
  REQUIRE(pool.Start(kThreads, nullptr, nullptr));
  std::atomic<uint32_t> here{0};
  auto meet = [](void* context, uint32_t) {
    auto& own = *static_cast<std::atomic<uint32_t>*>(context);
    ++own;
    while (own % 2 != 0) sched_yield();
  };
  // All threads have begun to wait.
  usleep(50000);
  long before = Waits();
  for (uint32_t round = 0; round < kRounds; ++round) {
    pool.Run(2, meet, &here);
    usleep(1000);
  }
  CHECK(here == 2 * kRounds);
  // The thread that a round wakes waits twice at most, for a lock and for the next round; this one waits for
  // it, for a lock and for the time to pass.
  CHECK(Waits() - before < kRounds * kThreads / 2);
}

#ifndef ADC_HAS_SANITIZER
namespace {

struct Seen {
  pthread_t caller = pthread_self();
  std::atomic<uint32_t> on_threads{0}, with_stack{0};
  std::atomic<bool> all_here{false};
};

/// On how many of the pool's threads a signal's handler has a stack of its own, of those that took a job.
void Look(Seen* seen) {
  adrt::Pool pool;
  adrt_error error = {};
  error.struct_size = sizeof error;
  REQUIRE(pool.Start(2, nullptr, &error));
  // Each job waits for the others, so that each thread takes one.
  pool.Run(
      3,
      [](void* context, uint32_t) {
        Seen& own = *static_cast<Seen*>(context);
        stack_t stack = {};
        sigaltstack(nullptr, &stack);
        bool is_caller = pthread_equal(pthread_self(), own.caller) != 0;
        if (!is_caller && (stack.ss_flags & SS_DISABLE) == 0) ++own.with_stack;
        if (!is_caller && ++own.on_threads == 2) own.all_here = true;
        while (!own.all_here) sched_yield();
      },
      seen);
}

void Ignore(int) {}

}  // namespace

TEST_CASE("threads give a stack to the process's handler of faults, and only if it asks for one",
          "[loader]") {
  struct sigaction before = {}, action = {};
  REQUIRE(sigaction(SIGSEGV, nullptr, &before) == 0);
  action.sa_handler = Ignore;
  for (int flags : {0, SA_ONSTACK}) {
    INFO("flags " << flags);
    action.sa_flags = flags;
    REQUIRE(sigaction(SIGSEGV, &action, nullptr) == 0);
    Seen seen;
    Look(&seen);
    CHECK(seen.on_threads == 2);
    CHECK(seen.with_stack == (flags == 0 ? 0 : 2));
    // The handler is the one that was there.
    struct sigaction now = {};
    REQUIRE(sigaction(SIGSEGV, nullptr, &now) == 0);
    CHECK(now.sa_handler == Ignore);
  }
  REQUIRE(sigaction(SIGSEGV, &before, nullptr) == 0);
}

#endif
