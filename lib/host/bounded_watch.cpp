#include "host/bounded_watch.h"

#include <chrono>

namespace adc {

BoundedWatch::~BoundedWatch() {
  {
    std::lock_guard lock(mutex_);
    over_ = true;
  }
  ended_.notify_one();
  thread_.join();
}

void BoundedWatch::Look() {
  double begin = ProcessorSeconds();
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, std::chrono::milliseconds(20), [this] { return over_; })) {
    if (ProcessorSeconds() - begin > static_cast<double>(bounds_.seconds)) EndBoundedRun(bounds_.too_long);
    if (ResidentBytes() > bounds_.mebibytes << 20) EndBoundedRun(bounds_.too_large);
  }
}

}  // namespace adc
