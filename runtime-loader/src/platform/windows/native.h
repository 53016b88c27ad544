#pragma once
// Threads of Windows; see platform.h. windows.h stays out of the files that include this: a lock and a
// condition variable are one pointer each, which is null at first.

#include <cstdint>

namespace adrt::platform {

inline constexpr const char* kErrorName = " (GetLastError ";
class WritesCode {
 public:
  WritesCode() {}
};

class Mutex {
 public:
  constexpr Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  void Destroy() {}
  void Lock();
  void Unlock();

 private:
  friend class Condition;
  void* native_ = nullptr;  ///< SRWLOCK
};

class Condition {
 public:
  Condition() = default;
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;
  void Destroy() {}
  void Wait(Mutex& mutex);
  void WakeOne();
  void WakeAll();

 private:
  void* native_ = nullptr;  ///< CONDITION_VARIABLE
};

/// A HANDLE.
using Thread = uint64_t;
/// The result of a thread's function.
using ThreadResult = unsigned long;

/// 0, or the system's code where it refuses.
int32_t StartThread(ThreadResult (*main)(void*), void* argument, Thread* thread);
void JoinThread(Thread thread);

class FaultStack {
 public:
  FaultStack();
};

}  // namespace adrt::platform
