#pragma once
// Where the lanes of a memory instruction reach: addresses of global, scratch and LDS instructions, and the
// bytes there. Every access is checked.

#include "operands.h"

namespace adc::rdna3 {

enum class Space : uint8_t { Global, Scratch, Flat, Shared };

/// Bytes at `offset` of a stretch that one lane, or a work-group, has for itself.
inline uint8_t* Inside(uint8_t* begin, uint64_t size, uint64_t offset, uint64_t bytes, const char* what) {
  if (offset <= size && bytes <= size - offset) return begin + offset;
  throw Fault(std::to_string(bytes) + " bytes at byte " + std::to_string(static_cast<int64_t>(offset)) +
              " of " + what + ", which has " + std::to_string(size));
}

inline uint8_t* InShared(Wave& wave, uint32_t offset, uint64_t bytes) {
  return Inside(wave.group->shared.data(), wave.group->shared.size(), offset, bytes, "LDS");
}
inline uint8_t* InScratch(Wave& wave, uint32_t lane, uint32_t offset, uint64_t bytes) {
  return Inside(wave.scratch.data() + size_t{lane} * wave.private_bytes, wave.private_bytes, offset, bytes,
                "scratch");
}

/// Global, scratch and flat instructions: source 0 is the address register, or none (kNull), source 2 the
/// scalar one, or none. LDS instructions have an address register and an offset of their own.
template <Space kSpace>
uint8_t* Reach(Wave& wave, const Instruction& i, uint32_t lane, uint64_t bytes, bool write, int32_t offset) {
  const uint16_t vector = i.source[0].code, scalar = i.source[2].code;
  auto low = [&] { return wave.v[VectorNumber(vector)][lane]; };
  if constexpr (kSpace == Space::Shared) {
    return InShared(wave, low() + static_cast<uint32_t>(offset), bytes);
  } else if constexpr (kSpace == Space::Scratch) {
    uint32_t at = static_cast<uint32_t>(offset);
    if (vector != kNull) at += low();
    if (scalar != kNull) at += wave.s[scalar];
    return InScratch(wave, lane, at, bytes);
  } else {
    auto at = static_cast<uint64_t>(int64_t{offset});
    if (scalar != kNull) {
      at += (wave.s[scalar] | static_cast<uint64_t>(wave.s[scalar + 1]) << 32) + low();
    } else {
      at += low() | static_cast<uint64_t>(wave.v[VectorNumber(vector) + 1][lane]) << 32;
    }
    if (kSpace == Space::Flat && at >> 32 == kSharedAperture)
      return InShared(wave, static_cast<uint32_t>(at), bytes);
    if (kSpace == Space::Flat && at >> 32 == kPrivateAperture) {
      return InScratch(wave, lane, static_cast<uint32_t>(at), bytes);
    }
    return wave.memory->At(at, bytes, write);
  }
}

/// How an element of memory becomes registers.
enum class Extension : uint8_t { None, Sign, LowHalf, HighHalf, LowHalfSign, HighHalfSign };

template <Space kSpace, uint32_t kBytes, Extension kExtension>
void LoadAt(Wave& wave, const Instruction& i, uint32_t lane, int32_t offset, uint32_t to) {
  const uint8_t* bytes = Reach<kSpace>(wave, i, lane, kBytes, false, offset);
  if constexpr (kBytes >= 4) {
    for (uint32_t word = 0; word < kBytes / 4; ++word)
      std::memcpy(&wave.v[to + word][lane], bytes + 4 * word, 4);
  } else {
    uint32_t value = 0;
    std::memcpy(&value, bytes, kBytes);
    constexpr bool kSign = kExtension == Extension::Sign || kExtension == Extension::LowHalfSign ||
                           kExtension == Extension::HighHalfSign;
    if (kSign)
      value = static_cast<uint32_t>(static_cast<int32_t>(value << (32 - 8 * kBytes)) >> (32 - 8 * kBytes));
    uint32_t& word = wave.v[to][lane];
    if (kExtension == Extension::LowHalf || kExtension == Extension::LowHalfSign) {
      word = (word & 0xFFFF0000) | (value & 0xFFFF);
    } else if (kExtension == Extension::HighHalf || kExtension == Extension::HighHalfSign) {
      word = (word & 0xFFFF) | value << 16;
    } else {
      word = value;
    }
  }
}

/// All addresses are read before a register is written, as the destination may be the address.
template <Space kSpace, uint32_t kBytes, Extension kExtension>
void Load(Wave& wave, const Instruction& i) {
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    if (wave.Active(lane)) LoadAt<kSpace, kBytes, kExtension>(wave, i, lane, i.offset, i.destination);
  }
}

template <Space kSpace, uint32_t kBytes>
void StoreAt(Wave& wave, const Instruction& i, uint32_t lane, int32_t offset, uint32_t from, bool high) {
  uint8_t* bytes = Reach<kSpace>(wave, i, lane, kBytes, true, offset);
  if constexpr (kBytes >= 4) {
    for (uint32_t word = 0; word < kBytes / 4; ++word)
      std::memcpy(bytes + 4 * word, &wave.v[from + word][lane], 4);
  } else {
    uint32_t value = wave.v[from][lane] >> (high ? 16 : 0);
    std::memcpy(bytes, &value, kBytes);
  }
}
template <Space kSpace, uint32_t kBytes, bool kHigh = false>
void Store(Wave& wave, const Instruction& i) {
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    if (wave.Active(lane))
      StoreAt<kSpace, kBytes>(wave, i, lane, i.offset, VectorNumber(i.source[1].code), kHigh);
  }
}

/// Reads, writes kFunction(old, data), and gives the old value back where the instruction says so. Lanes come
/// one after the other.
template <Space kSpace, class T, auto kFunction>
void Atomic(Wave& wave, const Instruction& i) {
  uint32_t data = VectorNumber(i.source[1].code);
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    if (!wave.Active(lane)) continue;
    uint8_t* bytes = Reach<kSpace>(wave, i, lane, sizeof(T), true, i.offset);
    if (reinterpret_cast<uintptr_t>(bytes) % sizeof(T) != 0)
      throw Fault("an atomic operation that is not aligned");
    constexpr uint32_t kWords = sizeof(T) / 4;
    T old, operands[2] = {};
    std::memcpy(&old, bytes, sizeof old);
    auto operand = [&](uint32_t number) {
      for (uint32_t word = 0; word < kWords; ++word) {
        std::memcpy(reinterpret_cast<uint8_t*>(&operands[number]) + 4 * word,
                    &wave.v[data + number * kWords + word][lane], 4);
      }
    };
    operand(0);
    T result;
    if constexpr (requires { kFunction(old, old, old); }) {
      if (kSpace == Space::Shared) {  // a register of its own
        uint32_t second = VectorNumber(i.source[2].code);
        for (uint32_t word = 0; word < kWords; ++word) {
          std::memcpy(reinterpret_cast<uint8_t*>(&operands[1]) + 4 * word, &wave.v[second + word][lane], 4);
        }
      } else {
        operand(1);
      }
      result = kFunction(old, operands[0], operands[1]);
    } else {
      result = kFunction(old, operands[0]);
    }
    std::memcpy(bytes, &result, sizeof result);
    if (!i.returns) continue;
    for (uint32_t word = 0; word < kWords; ++word) {
      std::memcpy(&wave.v[i.destination + word][lane], reinterpret_cast<const uint8_t*>(&old) + 4 * word, 4);
    }
  }
}

}  // namespace adc::rdna3
