#pragma once
// The log of a launch's memory, for which the environment variable ADRT_TRACE asks.

#include <adrt/adrt_trace.h>

namespace adc::tool {

/// Reads the names of logs in ADRT_TRACE. An exit code, after what is wrong with it was printed.
int ReadTraces(bool* heap);

/// One line to standard error; for adrt_host.trace_heap.
void PrintHeapTrace(void* user, const adrt_heap_trace* told);

}  // namespace adc::tool
