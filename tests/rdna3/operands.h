#pragma once
// Operands by type: how many registers a number takes, what a constant means for it, which modifiers it has.
//
// A constant between registers' numbers is one of three things: a small integer, a small float of the
// operand's width, or the word behind the instruction, which is the upper half of an f64, and extended by the
// operand's sign where it is an integer of 64 bits (ISA, "Scalar Inputs: Constants").

#include <type_traits>

#include "instruction.h"
#include "number.h"

namespace adc::rdna3 {

/// 32 bits that are moved, not computed with, and yet may be negated as a float.
struct FloatBits {
  uint32_t bits = 0;
};
/// The lane's bit of a scalar register, which is one of the sources.
struct Bit {
  bool value = false;
};
/// The lane's bit of VCC, which no operand names.
struct VccBit {
  bool value = false;
};
/// The number of the lane.
struct LaneNumber {
  uint32_t value = 0;
};
/// What the destination holds beforehand.
template <class T>
struct Old {
  T value = {};
};
/// A result and the lane's bit of the second, scalar destination.
template <class T>
struct WithBit {
  T value = {};
  bool bit = false;
};
/// An integer that the instruction's clamp bit saturates to T; else the low bits of it.
template <class T>
struct Saturating {
  int64_t value = 0;
};

template <class T>
inline constexpr bool kIsFloat =
    std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, Half>;

/// Whether MODE has denormals of T taken for 0, on the way in or out.
template <class T>
bool FlushesIn(const Wave& wave) {
  return (wave.mode & (std::is_same_v<T, float> ? kModeDenormalsIn32 : kModeDenormalsIn64)) == 0;
}
template <class T>
bool FlushesOut(const Wave& wave) {
  return (wave.mode & (std::is_same_v<T, float> ? kModeDenormalsOut32 : kModeDenormalsOut64)) == 0;
}
template <class T>
T Flushed(T value) {
  if constexpr (std::is_same_v<T, Half>) {
    return IsDenormal(value) ? Half::OfBits(value.bits & 0x8000) : value;
  } else {
    return IsDenormal(value) ? std::copysign(T{0}, value) : value;
  }
}

/// The bits of T in registers.
template <class T>
using BitsOf =
    std::conditional_t<sizeof(T) == 8, uint64_t, std::conditional_t<sizeof(T) == 2, uint16_t, uint32_t>>;

inline constexpr double kSmallFloats[] = {0.5, -0.5, 1, -1, 2, -2, 4, -4};
inline constexpr uint16_t kInverseTwoPi16 = 0x3118;
inline constexpr uint32_t kInverseTwoPi32 = 0x3E22F983;
inline constexpr uint64_t kInverseTwoPi64 = 0x3FC45F306DC9C882;

[[noreturn]] void UnknownScalar(uint16_t code);

/// Bits of a constant as an operand of this type. `code` is none of a register.
template <class T>
BitsOf<T> ConstantBits(uint16_t code, uint32_t literal) {
  using Bits = BitsOf<T>;
  if (code == kLiteral) {
    if constexpr (std::is_same_v<T, double>) return uint64_t{literal} << 32;
    if constexpr (std::is_same_v<T, int64_t>)
      return static_cast<uint64_t>(int64_t{static_cast<int32_t>(literal)});
    return static_cast<Bits>(literal);
  }
  if (code >= kIntegers && code < kNegativeIntegers) return static_cast<Bits>(code - kIntegers);
  if (code >= kNegativeIntegers && code < kNegativeIntegers + 16) {
    return static_cast<Bits>(int64_t{kNegativeIntegers} - 1 - code);
  }
  if (code >= kFloats && code < kFloats + 9) {
    int number = code - kFloats;
    if constexpr (sizeof(T) == 8) {
      return number == 8 ? kInverseTwoPi64 : std::bit_cast<uint64_t>(kSmallFloats[number]);
    } else if constexpr (sizeof(T) == 2) {
      return number == 8 ? kInverseTwoPi16 : Half(kSmallFloats[number]).bits;
    } else {
      return number == 8 ? kInverseTwoPi32
                         : std::bit_cast<uint32_t>(static_cast<float>(kSmallFloats[number]));
    }
  }
  if (sizeof(T) == 8 && code == kSharedBase) return static_cast<Bits>(uint64_t{kSharedAperture} << 32);
  if (sizeof(T) == 8 && code == kPrivateBase) return static_cast<Bits>(uint64_t{kPrivateAperture} << 32);
  UnknownScalar(code);
}

/// Bits of a scalar operand, register or constant.
template <class T>
BitsOf<T> ScalarBits(const Wave& wave, uint16_t code, uint32_t literal) {
  if (code < kScalarRegisters) {
    if constexpr (sizeof(T) == 8) {
      return code == kNull ? 0 : wave.s[code] | static_cast<uint64_t>(wave.s[code + 1]) << 32;
    } else {
      return static_cast<BitsOf<T>>(wave.s[code]);
    }
  }
  if (code == kScc) return wave.scc;
  if (code == kVccIsZero) return wave.s[kVcc] == 0;
  if (code == kExecIsZero) return wave.exec() == 0;
  return ConstantBits<T>(code, literal);
}
template <class T>
T ScalarValue(const Wave& wave, const Instruction& instruction, uint32_t source) {
  return std::bit_cast<T>(ScalarBits<T>(wave, instruction.source[source].code, instruction.literal));
}

inline void SetScalar(Wave& wave, uint16_t code, uint32_t value) {
  if (code == kNull) return;
  if (code >= kScalarRegisters) UnknownScalar(code);
  wave.s[code] = value;
}
inline void SetScalar64(Wave& wave, uint16_t code, uint64_t value) {
  if (code == kNull) return;
  SetScalar(wave, code, static_cast<uint32_t>(value));
  SetScalar(wave, static_cast<uint16_t>(code + 1), static_cast<uint32_t>(value >> 32));
}

/// The number of a VGPR, which the kernel must have asked for.
inline uint32_t VectorNumber(uint16_t code) {
  return code - kVectors;
}

}  // namespace adc::rdna3
