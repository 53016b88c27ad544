#pragma once
// Numbers of 16 bits, and bits as numbers.

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace adc::rdna3 {

/// binary16. Arithmetic is that of f32, rounded once more, which is exact for +, -, *, / and the square root
/// (Figueroa 1995: 24 >= 2 * 11 + 2).
struct Half {
  uint16_t bits = 0;
  Half() = default;
  static Half OfBits(uint16_t bits) {
    Half half;
    half.bits = bits;
    return half;
  }
  /// Rounded to nearest, ties to even.
  explicit Half(double value);
  operator float() const;
};

inline Half::operator float() const {
  uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16, exponent = bits >> 10 & 0x1F,
           fraction = bits & 0x3FF;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000 | fraction << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  float small = static_cast<float>(fraction) * 0x1p-24f;
  return sign ? -small : small;
}

inline Half::Half(double value) {
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  double size = std::fabs(value);
  if (size != size) {
    bits = sign | 0x7E00;
  } else if (size >= 65520) {
    bits = sign | 0x7C00;
  } else if (size == 0) {
    bits = sign;
  } else {
    // The place of the last bit that counts: 2^-24 for what is subnormal.
    int exponent = 0;
    std::frexp(size, &exponent);
    int last = exponent < -13 ? -24 : exponent - 11;
    auto count = static_cast<uint32_t>(std::nearbyint(std::ldexp(size, -last)));
    // A carry out of the fraction goes into the exponent, as it should.
    bits = static_cast<uint16_t>(
        sign | (last == -24 ? count : (static_cast<uint32_t>(last + 25) << 10) + count - 1024));
  }
}

inline bool IsDenormal(float x) {
  return x != 0 && std::fabs(x) < std::numeric_limits<float>::min();
}
inline bool IsDenormal(double x) {
  return x != 0 && std::fabs(x) < std::numeric_limits<double>::min();
}
inline bool IsDenormal(Half x) {
  return (x.bits & 0x7C00) == 0 && (x.bits & 0x3FF) != 0;
}

/// The biased exponent.
inline int Exponent(float x) {
  return static_cast<int>(std::bit_cast<uint32_t>(x) >> 23 & 0xFF);
}
inline int Exponent(double x) {
  return static_cast<int>(std::bit_cast<uint64_t>(x) >> 52 & 0x7FF);
}
inline int Exponent(Half x) {
  return x.bits >> 10 & 0x1F;
}

}  // namespace adc::rdna3
