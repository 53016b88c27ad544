#pragma once
// The log of a launch's memory: what the environment variable ADRT_TRACE asks for.

#include <adrt/adrt_trace.h>

namespace adc::tool {

/// What ADRT_TRACE names. An exit code, after what is wrong with it was printed.
int ReadTraces(bool* heap);

/// One line to standard error; for adrt_host.trace_heap.
void PrintHeapTrace(void* user, const adrt_heap_trace* told);

}  // namespace adc::tool
