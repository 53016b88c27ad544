#pragma once
// The parts that the CPU as a device and records for an engine's jobs share: dealing a task's iterations, and
// the queue that a record is while a launch is recorded.

#include <atomic>

#include "core/handles.h"

namespace adrt {

/// A task that is ready to run. The memory to which it points lives as long as it runs.
struct CpuWork {
  void* entry = nullptr;
  const uint64_t* cells = nullptr;    ///< the kernel's arguments
  const uint64_t* adstack = nullptr;  ///< the adstack cells
  unsigned char* heap = nullptr;
  uint32_t* status = nullptr;
  uint64_t total = 0;  ///< iterations
  uint64_t chunk = 0;  ///< of which are taken at once
};

/// Takes iterations from `next` on, in the given row, until there are none.
void RunWork(const CpuWork& work, uint32_t row, std::atomic_ref<uint64_t> next);

/// Calls job(context, i) for each i below `count` on the device's workers, and waits.
bool RunOnWorkers(adrt_device& device, uint32_t count, void (*job)(void* context, uint32_t index),
                  void* context, adrt_error* error);

/// The queue of a CPU: null, and recording is running; or a receiver that notes the work to run.
struct CpuQueue {
  bool (*clear)(CpuQueue& queue, const Place& place, adrt_error* error) = nullptr;
  bool (*launch)(CpuQueue& queue, const LaunchTask& task, adrt_error* error) = nullptr;
};

}  // namespace adrt
