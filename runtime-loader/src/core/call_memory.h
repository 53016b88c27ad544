#pragma once
// Memory for what lives as long as a call: some of the stack, and the host's where that is used up. Sizing
// evaluates expressions at every launch, and most of them are small.

#include <cstdint>

#include "artifact/memory.h"

namespace adrt {

class CallMemory {
 public:
  explicit CallMemory(const adc::artifact::Allocator& host) : host_(host) {
    own_.allocate = [](void* user, size_t size, size_t alignment) {
      return static_cast<CallMemory*>(user)->Allocate(size, alignment);
    };
    own_.release = [](void* user, void* memory, size_t size, size_t alignment) {
      static_cast<CallMemory*>(user)->Release(memory, size, alignment);
    };
    own_.user = this;
  }
  CallMemory(const CallMemory&) = delete;
  CallMemory& operator=(const CallMemory&) = delete;

  /// Everything that is taken from it must be given back before it goes.
  const adc::artifact::Allocator* allocator() const { return &own_; }

 private:
  static constexpr size_t kRoom = 8192, kAlignment = 16;

  void* Allocate(size_t size, size_t alignment) {
    if (alignment > kAlignment || size > kRoom - used_)
      return adc::artifact::Allocate(&host_, size, alignment);
    void* memory = room_ + used_;
    used_ += (size + kAlignment - 1) & ~(kAlignment - 1);
    if (used_ > kRoom) used_ = kRoom;
    return memory;
  }
  void Release(void* memory, size_t size, size_t alignment) {
    uintptr_t from_start = reinterpret_cast<uintptr_t>(memory) - reinterpret_cast<uintptr_t>(room_);
    if (from_start >= kRoom) adc::artifact::Release(&host_, memory, size, alignment);
  }

  const adc::artifact::Allocator& host_;
  adc::artifact::Allocator own_;
  size_t used_ = 0;
  alignas(kAlignment) unsigned char room_[kRoom];
};

}  // namespace adrt
