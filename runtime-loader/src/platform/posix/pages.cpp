// Pages for code, apart from the rest: a loader that maps no images has no call that makes memory executable.

#include <sys/mman.h>

#include "platform/platform.h"

#if defined(__APPLE__)
#include <libkern/OSCacheControl.h>
#endif

namespace adrt::platform {

#if defined(__APPLE__) && defined(__aarch64__)

// One mapping for code and data: such pages can neither be placed nor change what they are for.
unsigned char* ReservePages(uint64_t bytes) {
  void* memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANON | MAP_JIT, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<unsigned char*>(memory);
}

bool Allow(unsigned char* begin, uint64_t bytes, PageUse use) {
  if (use == PageUse::ReadExecute) sys_icache_invalidate(begin, bytes);
  return true;
}

#else

unsigned char* ReservePages(uint64_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANON, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<unsigned char*>(memory);
}

bool Allow(unsigned char* begin, uint64_t bytes, PageUse use) {
  int protection = use == PageUse::ReadWrite ? PROT_READ | PROT_WRITE : PROT_READ;
  if (use == PageUse::ReadExecute) {
    protection = PROT_READ | PROT_EXEC;
#if defined(__APPLE__)
    sys_icache_invalidate(begin, bytes);
#else
    __builtin___clear_cache(reinterpret_cast<char*>(begin), reinterpret_cast<char*>(begin + bytes));
#endif
  }
  return mprotect(begin, bytes, protection) == 0;
}

#endif

}  // namespace adrt::platform
