#pragma once
// Runs work whose cost is known only from running it, as a library's work on a user's text. Beyond a bound
// the process reports the bound, and ends.

#include <cstdint>
#include <functional>
#include <string>

namespace adc {

struct RunBounds {
  uint64_t seconds = 0;    ///< of processor time of the process
  uint64_t mebibytes = 0;  ///< of memory in use
  /// The messages on standard error before the process ends with kExitFailed.
  std::string too_long, too_large, too_deep;
};

/// Runs `work` on a thread with a stack of a gibibyte, or of what the system gives, and returns when it has
/// ended. Time and memory are looked at 50 times a second. One at a time in a process.
void RunBounded(const RunBounds& bounds, const std::function<void()>& work);

/// Runs `work` on a thread with as large a stack, without bounds, and returns when it has ended: for
/// libraries that go into a user's text as deep as it is long. Any number at a time.
void RunDeep(const std::function<void()>& work);

/// For the handler of a signal: whether `address` lies in the guard below the stack of a bounded run. Then it
/// has printed `too_deep`.
bool SayTooDeep(uintptr_t address);

}  // namespace adc
