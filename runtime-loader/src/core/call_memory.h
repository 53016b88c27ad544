#pragma once
// Memory out of a block that is there already, and the host's where that is used up. Plans and sizes take
// many small pieces, at every launch, and give them back together.

#include <cstdint>

#include "artifact/memory.h"

namespace adrt {

/// Pieces of a block of another owner. A piece that is given back is only used again when the block goes.
class BlockMemory {
 public:
  explicit BlockMemory(const adc::artifact::Allocator& host) : host_(host) {
    own_.allocate = [](void* user, size_t size, size_t alignment) {
      return static_cast<BlockMemory*>(user)->Allocate(size, alignment);
    };
    own_.release = [](void* user, void* memory, size_t size, size_t alignment) {
      static_cast<BlockMemory*>(user)->Release(memory, size, alignment);
    };
    own_.user = this;
  }
  BlockMemory(const adc::artifact::Allocator& host, void* block, size_t bytes) : BlockMemory(host) {
    GiveBlock(block, bytes);
  }
  BlockMemory(const BlockMemory&) = delete;
  BlockMemory& operator=(const BlockMemory&) = delete;

  /// Once, before anything is taken: `block`, aligned to kAlignment, outlives what is taken.
  void GiveBlock(void* block, size_t bytes) {
    block_ = static_cast<unsigned char*>(block);
    bytes_ = bytes;
  }

  /// Everything that is taken from it must be given back before it goes.
  const adc::artifact::Allocator* allocator() const { return &own_; }

  static constexpr size_t kAlignment = 16;
  /// The bytes that a piece of `size` bytes takes of the block.
  static constexpr size_t Rounded(size_t size) { return (size + kAlignment - 1) & ~(kAlignment - 1); }

 private:
  void* Allocate(size_t size, size_t alignment) {
    if (alignment > kAlignment || size > bytes_ - used_)
      return adc::artifact::Allocate(&host_, size, alignment);
    void* memory = block_ + used_;
    used_ += Rounded(size);
    if (used_ > bytes_) used_ = bytes_;
    return memory;
  }
  void Release(void* memory, size_t size, size_t alignment) {
    uintptr_t from_start = reinterpret_cast<uintptr_t>(memory) - reinterpret_cast<uintptr_t>(block_);
    if (from_start >= bytes_) adc::artifact::Release(&host_, memory, size, alignment);
  }

  const adc::artifact::Allocator& host_;
  adc::artifact::Allocator own_;
  unsigned char* block_ = nullptr;
  size_t bytes_ = 0, used_ = 0;
};

/// For what lives as long as a call: the block is part of the stack. Sizing evaluates expressions at every
/// launch, and most of them are small.
class CallMemory : public BlockMemory {
 public:
  explicit CallMemory(const adc::artifact::Allocator& host) : BlockMemory(host, block_, sizeof block_) {}

 private:
  static constexpr size_t kBlockBytes = 8192;
  alignas(kAlignment) unsigned char block_[kBlockBytes];
};

}  // namespace adrt
