#pragma once
// POSIX: threads, and functions that take one call of the system; see platform.h.

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cstddef>
#include <cstdint>

#include "artifact/compiler.h"

namespace adrt::platform {

inline constexpr const char* kErrorName = " (errno ";

#if defined(__APPLE__) && defined(__aarch64__)
/// Pages for code (MAP_JIT) are written or run by a thread, never both: they are written while this lives. So
/// are those of an image's data, which adc's images do not write once they are relocated.
class WritesCode {
 public:
  WritesCode() { pthread_jit_write_protect_np(0); }
  WritesCode(const WritesCode&) = delete;
  WritesCode& operator=(const WritesCode&) = delete;
  ~WritesCode() { pthread_jit_write_protect_np(1); }
};
#else
class WritesCode {
 public:
  WritesCode() {}
};
#endif

class Mutex {
 public:
  constexpr Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  void Destroy() { pthread_mutex_destroy(&native_); }
  void Lock() { pthread_mutex_lock(&native_); }
  void Unlock() { pthread_mutex_unlock(&native_); }

 private:
  friend class Condition;
  pthread_mutex_t native_ = PTHREAD_MUTEX_INITIALIZER;
};

class Condition {
 public:
  Condition() = default;
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;
  void Destroy() { pthread_cond_destroy(&native_); }
  void Wait(Mutex& mutex) { pthread_cond_wait(&native_, &mutex.native_); }
  void WakeOne() { pthread_cond_signal(&native_); }
  void WakeAll() { pthread_cond_broadcast(&native_); }

 private:
  pthread_cond_t native_ = PTHREAD_COND_INITIALIZER;
};

/// A number or a pointer, whatever a system has for it.
using Thread = uint64_t;
/// The result of a thread's function.
using ThreadResult = void*;

/// 0, or the system's code where it refuses.
ADC_ALWAYS_INLINE int32_t StartThread(ThreadResult (*main)(void*), void* argument, Thread* thread) {
  pthread_t native = {};
  int32_t refused = pthread_create(&native, nullptr, main, argument);
  *thread = std::bit_cast<Thread>(native);
  return refused;
}
ADC_ALWAYS_INLINE void JoinThread(Thread thread) {
  pthread_join(std::bit_cast<pthread_t>(thread), nullptr);
}

// No handler is installed here. But one that the process has, to say which crash it was, could not run on a
// stack that is used up: the process would end without a word.
class FaultStack {
 public:
  ADC_ALWAYS_INLINE FaultStack() {
    stack_t given = {};
    gives_ =
        HandlesFaultsElsewhere() && sigaltstack(nullptr, &given) == 0 && (given.ss_flags & SS_DISABLE) != 0;
    given = {};
    given.ss_sp = memory_;
    given.ss_size = sizeof memory_;
    gives_ = gives_ && sigaltstack(&given, nullptr) == 0;
  }
  FaultStack(const FaultStack&) = delete;
  FaultStack& operator=(const FaultStack&) = delete;
  ADC_ALWAYS_INLINE ~FaultStack() {
    stack_t none = {};
    none.ss_flags = SS_DISABLE;
    if (gives_) sigaltstack(&none, nullptr);
  }

 private:
  /// Whether the process handles invalid accesses on alternate stacks, which each thread has to give for
  /// itself.
  ADC_ALWAYS_INLINE static bool HandlesFaultsElsewhere() {
    struct sigaction action = {};
    return sigaction(SIGSEGV, nullptr, &action) == 0 && (action.sa_flags & SA_ONSTACK) != 0;
  }

  static constexpr size_t kBytes = size_t{32} << 10;
  // Overflow happens at the other end of the stack that these bytes lie on.
  alignas(16) char memory_[kBytes];
  bool gives_ = false;
};

ADC_ALWAYS_INLINE uint32_t ProcessNumber() {
  return static_cast<uint32_t>(getpid());
}
ADC_ALWAYS_INLINE int32_t LastError() {
  return errno;
}
ADC_ALWAYS_INLINE uint64_t PageBytes() {
  return static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}
ADC_ALWAYS_INLINE bool CommitPages(unsigned char* begin, uint64_t bytes) {
#if defined(__APPLE__) && defined(__aarch64__)
  return begin && bytes > 0;
#else
  return mprotect(begin, bytes, PROT_READ | PROT_WRITE) == 0;
#endif
}
ADC_ALWAYS_INLINE void ReleasePages(unsigned char* begin, uint64_t bytes) {
  munmap(begin, bytes);
}
ADC_ALWAYS_INLINE void* OpenLibrary(const char* name) {
  return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}
ADC_ALWAYS_INLINE void* FindInLibrary(void* library, const char* name) {
  return dlsym(library, name);
}

}  // namespace adrt::platform
