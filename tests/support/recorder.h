#pragma once
// A queue of the test's own, into which the loader records: what an engine has.

#include "on_device.h"

namespace adc::test {

class Recorder {
 public:
  virtual ~Recorder() = default;
  /// adrt_record_size_* and adrt_record_* of the kind; `heap` may be null.
  virtual adrt_status RecordSize(adrt_launch_plan* plan, Region& memory, adrt_error* error) = 0;
  virtual adrt_status RecordLaunch(adrt_launch_plan* plan, Region* heap, Region& status,
                                   adrt_error* error) = 0;
  /// Runs what was recorded, and waits.
  virtual void Submit() = 0;
};

}  // namespace adc::test
