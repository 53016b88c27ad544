#include "artifact/memory.h"

#include "platform.h"

namespace adc::artifact {

/// The alignment of whatever the C library gives.
constexpr size_t kAlignedAnyway = alignof(std::max_align_t);

void* Allocate(const Allocator* allocator, size_t size, size_t alignment) {
  if (allocator && allocator->allocate) {
    void* given = allocator->allocate(allocator->user, size, alignment);
    if (reinterpret_cast<uintptr_t>(given) % alignment == 0) return given;
    Release(allocator, given, size, alignment);  // compiled code goes by the alignment
    return nullptr;
  }
  if (alignment <= kAlignedAnyway) return std::malloc(size);
  return AllocateAligned(size, alignment);
}

void Release(const Allocator* allocator, void* memory, size_t size, size_t alignment) {
  if (!memory) return;
  if (allocator && allocator->release) {
    allocator->release(allocator->user, memory, size, alignment);
  } else if (alignment <= kAlignedAnyway) {
    std::free(memory);
  } else {
    ReleaseAligned(memory);
  }
}

bool VectorBytes::Grow(size_t count, size_t each, size_t alignment) {
  size_t grown = Grown(count);
  if (grown > SIZE_MAX / each) return false;
  void* memory = Allocate(allocator_, grown * each, alignment);
  if (!memory) return false;
  if (size_ > 0) std::memcpy(memory, data_, size_ * each);
  Free(each, alignment);
  data_ = memory;
  capacity_ = grown;
  return true;
}

bool VectorBytes::ResizeZeros(size_t count, size_t each, size_t alignment) {
  if (count > capacity_ && !Grow(count, each, alignment)) return false;
  if (count > size_) std::memset(static_cast<char*>(data_) + size_ * each, 0, (count - size_) * each);
  size_ = count;
  return true;
}

void VectorBytes::Free(size_t each, size_t alignment) {
  Release(allocator_, data_, capacity_ * each, alignment);
  data_ = nullptr;
  capacity_ = 0;
}

}  // namespace adc::artifact
