#pragma once
// Telling the host what a launch takes of memory (adrt_host.trace_heap).

#include <adrt/adrt_trace.h>

#include "core/launch.h"

namespace adrt {

/// Of one task, or of the launch as a whole (ADRT_TRACE_LAUNCH). Only where the host wants to be told.
void TellHeap(adrt_launch_plan& plan, uint32_t task, adrt_status status, uint64_t held_before, uint64_t held);

/// The same, or nothing.
inline void TraceHeap(adrt_launch_plan& plan, uint32_t task, adrt_status status, uint64_t held_before,
                      uint64_t held) {
  if (plan.host.trace_heap) TellHeap(plan, task, status, held_before, held);
}

}  // namespace adrt
