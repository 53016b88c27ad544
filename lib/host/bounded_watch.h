#pragma once
// The watch over a bounded run (host/bounded_run.h): a thread that looks every 20 milliseconds.

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "host/bounded_run.h"

namespace adc {

// Of the system:
/// Processor time of the process, in seconds.
double ProcessorSeconds();
/// Bytes of memory in use; 0 where the system does not tell.
uint64_t ResidentBytes();
/// Says `text` on standard error, and ends the process with kExitFailed.
[[noreturn]] void EndBoundedRun(const std::string& text);

/// Ends the process where a bound is passed, for as long as it lives.
class BoundedWatch {
 public:
  explicit BoundedWatch(const RunBounds& bounds) : bounds_(bounds), thread_([this] { Look(); }) {}
  ~BoundedWatch();
  BoundedWatch(const BoundedWatch&) = delete;
  BoundedWatch& operator=(const BoundedWatch&) = delete;

 private:
  void Look();

  const RunBounds& bounds_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool over_ = false;
  std::thread thread_;  // the last one: it reads the others
};

}  // namespace adc
