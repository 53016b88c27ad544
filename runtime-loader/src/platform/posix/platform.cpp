#include "platform/platform.h"

#include <dlfcn.h>
#include <time.h>
#include <unistd.h>

namespace adrt::platform {

uint64_t MonotonicNanoseconds() {
  timespec time = {};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000000u + static_cast<uint64_t>(time.tv_nsec);
}

uint32_t ProcessorCount() {
  long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count < 1 ? 1 : static_cast<uint32_t>(count);
}

const char* LibraryReason() {
  const char* reason = dlerror();
  return reason ? reason : "it is not there";
}

}  // namespace adrt::platform
