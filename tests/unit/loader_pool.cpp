#include <signal.h>

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
