#include "artifact/memory.h"

namespace adc::artifact {

void* Allocate(const Allocator* allocator, size_t size, size_t alignment) {
  if (allocator && allocator->allocate) {
    void* given = allocator->allocate(allocator->user, size, alignment);
    if (reinterpret_cast<uintptr_t>(given) % alignment == 0) return given;
    Release(allocator, given, size, alignment);  // compiled code goes by the alignment
    return nullptr;
  }
  if (alignment <= alignof(std::max_align_t)) return std::malloc(size);
  void* memory = nullptr;
  return posix_memalign(&memory, alignment, size) == 0 ? memory : nullptr;
}

void Release(const Allocator* allocator, void* memory, size_t size, size_t alignment) {
  if (!memory) return;
  if (allocator && allocator->release) {
    allocator->release(allocator->user, memory, size, alignment);
  } else {
    std::free(memory);
  }
}

}  // namespace adc::artifact
