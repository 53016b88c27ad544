#pragma once
// A host that counts what the loader takes, independently of the loader's own count.

#include <adrt/adrt.h>

#include <cstdint>
#include <cstdlib>

namespace fuzz {

struct HostMemory {
  uint64_t live = 0, peak = 0;

  adrt_host Host() {
    adrt_host host = {};
    host.struct_size = sizeof host;
    host.user = this;
    host.allocate = [](void* user, size_t size, size_t alignment) -> void* {
      HostMemory& own = *static_cast<HostMemory*>(user);
      own.live += size;
      if (own.live > own.peak) own.peak = own.live;
      // Exactly so many bytes, so that a sanitizer sees a read beyond them.
      void* memory = nullptr;
      if (alignment <= alignof(std::max_align_t)) return std::malloc(size);
      return posix_memalign(&memory, alignment, size) == 0 ? memory : nullptr;
    };
    host.release = [](void* user, void* memory, size_t size, size_t) {
      static_cast<HostMemory*>(user)->live -= size;
      std::free(memory);
    };
    return host;
  }
};

}  // namespace fuzz
