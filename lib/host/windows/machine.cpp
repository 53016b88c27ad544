#include "host/machine.h"

#define WIN32_LEAN_AND_MEAN
// clang-format off: the second needs the first
#include <windows.h>
#include <psapi.h>
// clang-format on

namespace adc {

uint64_t MemoryBytes() {
  MEMORYSTATUSEX status = {};
  status.dwLength = sizeof status;
  return GlobalMemoryStatusEx(&status) ? status.ullTotalPhys : 0;
}

uint64_t PeakBytes() {
  PROCESS_MEMORY_COUNTERS counters = {};
  counters.cb = sizeof counters;
  bool told = GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters);
  return told ? counters.PeakWorkingSetSize : 0;
}

}  // namespace adc
