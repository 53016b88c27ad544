#include "artifact/sha256.h"

#include <cstring>

#include "artifact/compiler.h"
#include "sha256_x86.h"

namespace adc::artifact {
namespace {

constexpr uint32_t kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t Rotate(uint32_t value, int by) {
  return value >> by | value << (32 - by);
}

// One round. The variables that the standard calls a to h move on by one letter each time; here the letters
// stay where they are, and the next round is called with the names turned, eight rounds for a whole turn.
ADC_ALWAYS_INLINE void Turn(uint32_t a, uint32_t b, uint32_t c, uint32_t& d, uint32_t e, uint32_t f,
                            uint32_t g, uint32_t& h, uint32_t added) {
  uint32_t first = h + (Rotate(e, 6) ^ Rotate(e, 11) ^ Rotate(e, 25)) + (g ^ (e & (f ^ g))) + added;
  d += first;
  h = first + (Rotate(a, 2) ^ Rotate(a, 13) ^ Rotate(a, 22)) + ((a & b) | (c & (a | b)));
}

}  // namespace

void Sha256::Blocks(const uint8_t* blocks, size_t count) {
  if (count > 0 && instructions_ == Instructions::kUnknown)
    instructions_ = HasSha256Instructions() ? Instructions::kThere : Instructions::kNone;
  if (instructions_ == Instructions::kThere) return Sha256Blocks(state_, kRound, blocks, count);
  for (; count > 0; --count, blocks += 64) Block(blocks);
}

void Sha256::Block(const uint8_t* block) {
  uint32_t words[64];
  for (int index = 0; index < 16; ++index) {
    const uint8_t* bytes = block + 4 * index;
    words[index] = uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
  }
  for (int index = 16; index < 64; ++index) {
    uint32_t low = words[index - 15], high = words[index - 2];
    words[index] = words[index - 16] + (Rotate(low, 7) ^ Rotate(low, 18) ^ low >> 3) + words[index - 7] +
                   (Rotate(high, 17) ^ Rotate(high, 19) ^ high >> 10);
  }
  uint32_t a = state_[0], b = state_[1], c = state_[2], d = state_[3];
  uint32_t e = state_[4], f = state_[5], g = state_[6], h = state_[7];
  for (int index = 0; index < 64; index += 8) {
    auto added = [&](int at) { return kRound[index + at] + words[index + at]; };
    Turn(a, b, c, d, e, f, g, h, added(0));
    Turn(h, a, b, c, d, e, f, g, added(1));
    Turn(g, h, a, b, c, d, e, f, added(2));
    Turn(f, g, h, a, b, c, d, e, added(3));
    Turn(e, f, g, h, a, b, c, d, added(4));
    Turn(d, e, f, g, h, a, b, c, added(5));
    Turn(c, d, e, f, g, h, a, b, added(6));
    Turn(b, c, d, e, f, g, h, a, added(7));
  }
  uint32_t result[8] = {a, b, c, d, e, f, g, h};
  for (int index = 0; index < 8; ++index) state_[index] += result[index];
}

void Sha256::Update(const uint8_t* bytes, size_t size) {
  size_t used = size_ % 64;
  size_ += size;
  if (used > 0) {
    size_t taken = size < 64 - used ? size : 64 - used;
    std::memcpy(pending_ + used, bytes, taken);
    bytes += taken;
    size -= taken;
    if (used + taken < 64) return;
    Blocks(pending_, 1);
  }
  Blocks(bytes, size / 64);
  if (size % 64 > 0) std::memcpy(pending_, bytes + size / 64 * 64, size % 64);
}

void Sha256::Finish(uint8_t (&digest)[32]) {
  uint64_t bits = size_ * 8;
  uint8_t padding[72] = {0x80};
  size_t count = 64 - (size_ + 8) % 64;
  for (int index = 0; index < 8; ++index)
    padding[count + static_cast<size_t>(index)] = static_cast<uint8_t>(bits >> (56 - 8 * index));
  Update(padding, count + 8);
  for (int index = 0; index < 32; ++index)
    digest[index] = static_cast<uint8_t>(state_[index / 4] >> (24 - 8 * (index % 4)));
}

}  // namespace adc::artifact
