#pragma once
// Deterministic hashing: the same on every machine and in every run.

#include <cstdint>

namespace adc {

constexpr uint64_t HashMix(uint64_t seed, uint64_t word) {
  seed ^= word + 0x9E3779B97F4A7C15ull + (seed << 6) + (seed >> 2);
  seed *= 0xD6E8FEB86659FD93ull;
  return seed ^ (seed >> 32);
}

}  // namespace adc
