#pragma once
// The generator of `random`: Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC 2011), written as the paper has
// it. The interpreter computes through it; compiled code gets IR instead (transform/random_expansion.h).

#include <array>
#include <cstdint>

#include "ir/number.h"

namespace adc::ir {

/// Four words of the stream: keyed by `seed`, at counter `counter + 2^64 stream`.
inline std::array<uint32_t, 4> Philox(uint64_t seed, uint64_t counter, uint64_t stream) {
  auto low = [](uint64_t wide) { return static_cast<uint32_t>(wide); };
  auto high = [](uint64_t wide) { return static_cast<uint32_t>(wide >> 32); };
  std::array<uint32_t, 4> c = {low(counter), high(counter), low(stream), high(stream)};
  uint32_t k0 = low(seed), k1 = high(seed);
  for (int round = 0; round < 10; ++round) {
    uint64_t p0 = uint64_t{0xD2511F53} * c[0], p1 = uint64_t{0xCD9E8D57} * c[2];
    c = {high(p1) ^ c[1] ^ k0, low(p1), high(p0) ^ c[3] ^ k1, low(p0)};
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return c;
}

/// Component `number` of a result with components of `scalar`, in register form: words as they are, or their
/// uppermost bits as a number in [0, 1).
inline uint64_t RandomBits(Scalar scalar, const std::array<uint32_t, 4>& words, uint32_t number) {
  if (scalar == Scalar::U64 || scalar == Scalar::F64) {
    uint64_t wide = words[2 * number] | uint64_t{words[2 * number + 1]} << 32;
    return scalar == Scalar::U64 ? wide : FloatToBits(scalar, static_cast<double>(wide >> 11) * 0x1p-53);
  }
  uint32_t word = words[number];
  if (scalar == Scalar::U32) return word;
  bool half = scalar == Scalar::F16;
  return FloatToBits(scalar, half ? (word >> 21) * 0x1p-11 : (word >> 8) * 0x1p-24);
}

}  // namespace adc::ir
