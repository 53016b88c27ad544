#include "support/machine.h"

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

namespace adc {

uint64_t MemoryBytes() {
  MEMORYSTATUSEX status = {};
  status.dwLength = sizeof status;
  return GlobalMemoryStatusEx(&status) ? status.ullTotalPhys : 0;
}

}  // namespace adc
