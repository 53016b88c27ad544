#pragma once
// SHA-256 (FIPS 180-4), for content ids and for the keys of the compiler's cache.

#include <cstddef>
#include <cstdint>

namespace adc::artifact {

/// Takes bytes in any number of pieces and gives the 32-byte digest once.
class Sha256 {
 public:
  enum class Instructions : uint8_t { kUnknown, kNone, kThere };

  /// By default the processor's instructions for it where it has some; kNone: without them.
  explicit Sha256(Instructions instructions = Instructions::kUnknown) : instructions_(instructions) {}

  void Update(const uint8_t* bytes, size_t size);
  void Finish(uint8_t (&digest)[32]);

 private:
  void Blocks(const uint8_t* blocks, size_t count);
  void Block(const uint8_t* block);

  uint32_t state_[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  uint8_t pending_[64] = {};
  uint64_t size_ = 0;
  Instructions instructions_;
};

}  // namespace adc::artifact
