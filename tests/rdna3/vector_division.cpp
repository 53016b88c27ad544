// The three instructions that make an approximate reciprocal a correctly rounded quotient: v_div_scale moves
// operands away from where Newton's steps would meet subnormal numbers, v_div_fmas takes the last step and
// scales back, v_div_fixup decides about zeros, infinities and NaN.
//
// After the pseudo-code of the ISA, with four differences, without which the sequences that LLVM emits would
// not round correctly, as the hardware's do:
//   - where both 1/D and N/D are subnormal, D is scaled down (the text scales it up, out of the range);
//   - "1/D is subnormal" is asked in the operands' own width, also of f32;
//   - v_div_fmas scales by 2^64 or 2^-64 (f64: 2^128, 2^-128), by how large its addend is: that undoes what
//     v_div_scale did to the denominator, or to the numerator; the result is rounded once;
//   - v_div_fixup makes infinity of a NaN that Newton's steps left of finite operands.

#include <cmath>

#include "vector.h"

namespace adc::rdna3 {
namespace {

template <class T>
struct Limits;
template <>
struct Limits<float> {
  static constexpr int kScale = 64, kNearMost = 96, kTiny = 23, kUnderflow = -150, kOne = 127;
};
template <>
struct Limits<double> {
  static constexpr int kScale = 128, kNearMost = 768, kTiny = 53, kUnderflow = -1075, kOne = 1023;
};

template <class T>
WithBit<T> DivisionScale(T value, T denominator, T numerator) {
  constexpr int kScale = Limits<T>::kScale;
  if (denominator == 0 || numerator == 0) return {std::numeric_limits<T>::quiet_NaN(), false};
  bool is_denominator = value == denominator, is_numerator = value == numerator;
  bool small_inverse = IsDenormal(1 / denominator), small_quotient = IsDenormal(numerator / denominator);
  auto scaled = [value](int exponent) { return std::ldexp(value, exponent); };
  if (Exponent(numerator) - Exponent(denominator) >= Limits<T>::kNearMost) {
    return {is_denominator ? scaled(kScale) : value, true};
  }
  if (IsDenormal(denominator)) return {scaled(kScale), false};
  if (small_inverse && small_quotient) return {is_denominator ? scaled(-kScale) : value, true};
  if (small_inverse) return {scaled(-kScale), false};
  if (small_quotient) return {is_numerator ? scaled(kScale) : value, true};
  if (Exponent(numerator) <= Limits<T>::kTiny) return {scaled(kScale), false};
  return {value, false};
}

// fma and then a power of two, rounded once: in a type with more than twice the digits.
float DivisionFma(float a, float b, float c, VccBit scale) {
  if (!scale.value) return std::fma(a, b, c);
  double exact = std::fma(double{a}, double{b}, double{c});
  return static_cast<float>(std::ldexp(exact, Exponent(c) > Limits<float>::kOne ? 64 : -64));
}
double DivisionFma(double a, double b, double c, VccBit scale) {
  if (!scale.value) return std::fma(a, b, c);
#if defined(__x86_64__)
  using Quad = __float128;
#else
  using Quad = long double;
#endif
  Quad exact = static_cast<Quad>(a) * static_cast<Quad>(b) + static_cast<Quad>(c);
  return static_cast<double>(exact *
                             static_cast<Quad>(Exponent(c) > Limits<double>::kOne ? 0x1p128 : 0x1p-128));
}

template <class T>
T DivisionFixup(T quotient, T denominator, T numerator) {
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  T sign = std::signbit(denominator) != std::signbit(numerator) ? T{-1} : T{1};
  if (std::isnan(numerator)) return numerator + 0;
  if (std::isnan(denominator)) return denominator + 0;
  if (denominator == 0 && numerator == 0) return -std::numeric_limits<T>::quiet_NaN();
  if (std::isinf(denominator) && std::isinf(numerator)) return -std::numeric_limits<T>::quiet_NaN();
  if (denominator == 0 || std::isinf(numerator)) return sign * kInfinity;
  if (std::isinf(denominator) || numerator == 0) return sign * 0;
  if (Exponent(numerator) - Exponent(denominator) < Limits<T>::kUnderflow) return sign * 0;
  if (std::isnan(quotient)) return sign * kInfinity;
  return std::copysign(quotient, sign);
}

// The quotient of f16 is computed in f32 and rounded: this decides about the rest.
Half HalfFixup(Half quotient, Half denominator, Half numerator) {
  float fixed = DivisionFixup(float{quotient}, float{denominator}, float{numerator});
  return Half(double{fixed});
}

constexpr Row kRows[] = {
    {"v_div_scale_f32", EachLane<[](float a, float b, float c) { return DivisionScale(a, b, c); }>},
    {"v_div_scale_f64", EachLane<[](double a, double b, double c) { return DivisionScale(a, b, c); }>},
    {"v_div_fmas_f32",
     EachLane<[](float a, float b, float c, VccBit scale) { return DivisionFma(a, b, c, scale); }>},
    {"v_div_fmas_f64",
     EachLane<[](double a, double b, double c, VccBit scale) { return DivisionFma(a, b, c, scale); }>},
    {"v_div_fixup_f32", EachLane<[](float a, float b, float c) { return DivisionFixup(a, b, c); }>},
    {"v_div_fixup_f64", EachLane<[](double a, double b, double c) { return DivisionFixup(a, b, c); }>},
    {"v_div_fixup_f16", EachLane<[](Half a, Half b, Half c) { return HalfFixup(a, b, c); }>},
};

}  // namespace

std::span<const Row> DivisionRows() {
  return kRows;
}

}  // namespace adc::rdna3
