#pragma once
// The format asks this of the operating system: memory at addresses of an alignment beyond that of the C
// library's memory.

#include <cstdlib>

#if defined(_WIN32)
#include <malloc.h>
#endif

namespace adc::artifact {

/// Null where it is refused. `alignment` is a power of two, at least that of a pointer.
inline void* AllocateAligned(size_t size, size_t alignment) {
#if defined(_WIN32)
  return _aligned_malloc(size, alignment);
#else
  void* memory = nullptr;
  return posix_memalign(&memory, alignment, size) == 0 ? memory : nullptr;
#endif
}

inline void ReleaseAligned(void* memory) {
#if defined(_WIN32)
  _aligned_free(memory);
#else
  std::free(memory);
#endif
}

}  // namespace adc::artifact
