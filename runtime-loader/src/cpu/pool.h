#pragma once
// A few threads that run numbered jobs together with the thread that asks.

#include <atomic>
#include <cstdint>

#include "core/handles.h"
#include "platform/platform.h"

namespace adrt {

class Pool {
 public:
  Pool() = default;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool();

  /// Starts `thread_count` threads. False with the reason in `error`; the destructor stops the threads that
  /// started.
  bool Start(uint32_t thread_count, const artifact::Allocator* allocator, adrt_error* error);

  /// Whether this is the process that started the threads: after a fork the child has none of them.
  bool IsHere() const { return platform::ProcessNumber() == process_; }

  /// Calls job(context, i) for each i below `count`, here and on at most count - 1 threads, and waits. Calls
  /// from several threads take turns; a job must not call it, and no code may where IsHere() does not hold.
  void Run(uint32_t count, void (*job)(void* context, uint32_t index), void* context);

 private:
  static platform::ThreadResult ThreadMain(void* pool);
  void Serve();
  void Work();
  void WakeSome();
  void Spin(const std::atomic<uint32_t>& word, bool until_zero) const;

  platform::Mutex turn_;  ///< held during one Run
  platform::Mutex mutex_;
  platform::Condition started_;
  platform::Condition finished_;
  Vector<platform::Thread> threads_;
  uint32_t process_ = 0;
  bool spins_ = false;  ///< there is a processor for each thread and the caller
  // Written under mutex_; a thread that spins reads the atomic ones.
  std::atomic<uint32_t> wanted_{0};  ///< threads that are to join the round yet
  std::atomic<uint32_t> busy_{0};    ///< these, and the threads that have not finished it
  uint32_t sleeping_ = 0;            ///< threads that only a call wakes
  uint32_t called_ = 0;              ///< of these, called in this round
  bool stopping_ = false;
  // Written by Run, under mutex_ and while no thread is busy.
  uint32_t count_ = 0;
  void (*job_)(void* context, uint32_t index) = nullptr;
  void* context_ = nullptr;
  std::atomic<uint32_t> next_{0};
};

}  // namespace adrt
