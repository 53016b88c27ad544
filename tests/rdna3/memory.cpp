#include "memory.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "machine.h"

namespace adc::rdna3 {

void Garbage::Fill(void* bytes, size_t count) {
  auto* to = static_cast<uint8_t*>(bytes);
  for (size_t at = 0; at < count; at += sizeof(uint64_t)) {
    uint64_t word = Next();
    std::memcpy(to + at, &word, std::min(sizeof word, count - at));
  }
}

uint64_t Memory::Allocate(uint64_t bytes, std::string what, bool readonly) {
  Block block = {next_, bytes, std::move(what), readonly, std::make_unique_for_overwrite<uint8_t[]>(bytes)};
  Garbage(seed_++).Fill(block.data.get(), bytes);
  next_ += (bytes / kSpacing + 2) * kSpacing;
  blocks_.push_back(std::move(block));
  return blocks_.back().address;
}

bool Memory::Free(uint64_t address) {
  auto at = std::find_if(blocks_.begin(), blocks_.end(),
                         [address](const Block& block) { return block.address == address; });
  if (at == blocks_.end()) return false;
  blocks_.erase(at);
  last_ = 0;
  return true;
}

const Memory::Block* Memory::Find(uint64_t address) {
  auto inside = [address](const Block& block) { return address - block.address < block.bytes; };
  if (last_ < blocks_.size() && inside(blocks_[last_])) return &blocks_[last_];
  auto next = std::upper_bound(blocks_.begin(), blocks_.end(), address,
                               [](uint64_t wanted, const Block& block) { return wanted < block.address; });
  if (next == blocks_.begin()) return nullptr;
  last_ = static_cast<size_t>(next - blocks_.begin()) - 1;
  return &blocks_[last_];
}

uint8_t* Memory::At(uint64_t address, uint64_t bytes, bool write) {
  const Block* block = Find(address);
  uint64_t offset = block ? address - block->address : 0;
  if (!block || offset > block->bytes || bytes > block->bytes - offset) {
    char text[256];
    std::snprintf(text, sizeof text, "%llu bytes at %#llx lie in no allocation; the nearest one below is ",
                  static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(address));
    if (!block) throw Fault(std::string(text) + "none");
    throw Fault(text + block->what + ", " + std::to_string(block->bytes) + " bytes, and this is byte " +
                std::to_string(offset) + " of it");
  }
  if (write && block->readonly) throw Fault("a write to " + block->what + ", which is not to be written");
  return block->data.get() + offset;
}

uint8_t* Memory::ForHost(uint64_t address, uint64_t bytes) {
  const Block* block = Find(address);
  uint64_t offset = block ? address - block->address : 0;
  if (!block || offset > block->bytes || bytes > block->bytes - offset) return nullptr;
  return block->data.get() + offset;
}

}  // namespace adc::rdna3
