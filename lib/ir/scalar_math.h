#pragma once
// The value of each scalar operation, as a template over the C++ type that holds the operand. Both constant
// folding (ir/eval.h) and the interpreter compute through these functions, so that there is one definition.
//
// The operation is an ordinary argument: where it is known at compile time the switch folds away. A type is
// bool (i1), a standard integer, Half, float or double. Every function is total: integers wrap, nothing
// traps. Floats are computed in their own precision; Half in float (its fma: in double), rounded once to
// Half.

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <type_traits>

#include "ir/number.h"
#include "ir/op_sets.h"
#include "support/check.h"
#include "support/number.h"

#if defined(__clang__)
#pragma clang fp contract(off)
#endif

namespace adc::ir {

/// A number of type f16.
struct Half {
  uint16_t bits = 0;
  friend bool operator==(Half a, Half b) { return FloatFromHalf(a.bits) == FloatFromHalf(b.bits); }
};

template <class T>
inline constexpr bool kIsHalf = std::is_same_v<T, Half>;
template <class T>
inline constexpr bool kIsFloatType = kIsHalf<T> || std::is_floating_point_v<T>;

/// The register form of a value (ConstantData::bits): integers extended after their type, floats in the low
/// bits.
template <class T>
inline uint64_t ToBits(T value) {
  if constexpr (kIsHalf<T>)
    return value.bits;
  else if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<uint32_t>(value);
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<uint64_t>(value);
  else if constexpr (std::is_signed_v<T>)
    return static_cast<uint64_t>(static_cast<int64_t>(value));
  else
    return static_cast<uint64_t>(value);
}

template <class T>
inline T FromBits(uint64_t bits) {
  if constexpr (kIsHalf<T>)
    return Half{static_cast<uint16_t>(bits)};
  else if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<double>(bits);
  else if constexpr (std::is_same_v<T, bool>)
    return (bits & 1) != 0;
  else
    return static_cast<T>(bits);
}

/// Half computes in float.
inline float Widen(Half value) {
  return FloatFromHalf(value.bits);
}
inline float Widen(float value) {
  return value;
}
inline double Widen(double value) {
  return value;
}
template <class T, class W>
inline T Narrow(W value) {
  if constexpr (kIsHalf<T>)
    return Half{static_cast<uint16_t>(FloatToBits(Scalar::F16, static_cast<double>(value)))};
  else
    return static_cast<T>(value);
}

template <class T>
inline bool Compared(Op op, T a, T b) {
  if constexpr (kIsHalf<T>) {
    return Compared(op, Widen(a), Widen(b));
  } else {
    // clang-format off
    switch (In<CompareOp>(op)) {
      using enum CompareOp;
      case Eq: return a == b;
      case Ne: return a != b;
      case Lt: return a < b;
      case Le: return a <= b;
      case Gt: return a > b;
      case Ge: return a >= b;
    }
    // clang-format on
    ADC_UNREACHABLE("comparison");
  }
}

/// Whether a float is NaN, infinite, finite.
template <class T>
inline bool Classified(Op op, T a) {
  if constexpr (kIsHalf<T>) {
    return Classified(op, Widen(a));
  } else {
    // clang-format off
    switch (In<Classification>(op)) {
      using enum Classification;
      case IsNan: return std::isnan(a);
      case IsInf: return std::isinf(a);
      case IsFinite: return std::isfinite(a);
      case Other: break;
    }
    // clang-format on
    ADC_UNREACHABLE("classification");
  }
}

template <class U>
inline U Reversed(U word) {
  U reversed = 0;
  for (size_t n = 0; n < sizeof(U) * 8; ++n) {
    reversed = static_cast<U>((reversed << 1) | (word & 1));
    word = static_cast<U>(word >> 1);
  }
  return reversed;
}

template <class T>
inline T IntegerUnary(Op op, T a) {
  using U = std::make_unsigned_t<T>;
  auto word = static_cast<U>(a);
  // clang-format off
  switch (In<IntegerUnaryOp>(op)) {
    using enum IntegerUnaryOp;
    case Neg: return static_cast<T>(uint64_t{0} - static_cast<uint64_t>(word));
    case Abs: return a < 0 ? static_cast<T>(uint64_t{0} - static_cast<uint64_t>(word)) : a;
    case Sgn: return static_cast<T>((a > 0) - (a < 0));
    case Not: return static_cast<T>(~static_cast<uint64_t>(word));
    case Popcount: return static_cast<T>(std::popcount(word));
    case Ctz: return static_cast<T>(std::countr_zero(word));
    case BitReverse: return static_cast<T>(Reversed(word));
    case Clz: return static_cast<T>(std::countl_zero(word));
    case StopGradient: return a;
    case Other: break;
  }
  // clang-format on
  ADC_UNREACHABLE("unary operation of integers");
}

/// Quotients and remainders (mod: the operation that is none of the others): by 0 they give 0, the smallest
/// integer by -1 wraps.
template <class T>
inline T IntegerQuotient(Op op, T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    if (b == static_cast<T>(-1)) {
      bool quotient = op == Op::Div || op == Op::FloorDiv || op == Op::CeilDiv;
      return quotient ? IntegerUnary<T>(Op::Neg, a) : static_cast<T>(0);
    }
  }
  auto quotient = static_cast<T>(a / b);
  auto remainder = static_cast<T>(a % b);
  bool below = remainder != 0 && (remainder < 0) != (b < 0);
  if (op == Op::Div) return quotient;
  if (op == Op::Rem) return remainder;
  if (op == Op::FloorDiv) return static_cast<T>(quotient - (below ? 1 : 0));
  if (op == Op::CeilDiv) return static_cast<T>(quotient + (remainder != 0 && !below ? 1 : 0));
  return static_cast<T>(below ? remainder + b : remainder);
}

/// The upper half of the product, from the halves of the operands: 64 bits have no wider type in C++.
template <class T>
inline T UpperProduct(T a, T b) {
  if constexpr (sizeof(T) < 8) {
    using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
    return static_cast<T>((static_cast<Wide>(a) * static_cast<Wide>(b)) >> (sizeof(T) * 8));
  } else {
    auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
    uint64_t x0 = x & UINT32_MAX, x1 = x >> 32, y0 = y & UINT32_MAX, y1 = y >> 32;
    uint64_t middle = x1 * y0 + ((x0 * y0) >> 32);
    uint64_t upper = x1 * y1 + (middle >> 32) + ((x0 * y1 + (middle & UINT32_MAX)) >> 32);
    if (a < 0) upper -= y;
    if (b < 0) upper -= x;
    return static_cast<T>(upper);
  }
}

template <class T>
inline T IntegerBinary(Op op, T a, T b) {
  // The low bits of a result follow from the low bits of the operands.
  using U = std::make_unsigned_t<T>;
  uint64_t x = static_cast<U>(a), y = static_cast<U>(b);
  constexpr uint64_t kMask = sizeof(T) * 8 - 1;
  // clang-format off
  switch (In<IntegerBinaryOp>(op)) {
    using enum IntegerBinaryOp;
    case Add: return static_cast<T>(x + y);
    case Sub: return static_cast<T>(x - y);
    case Mul: return static_cast<T>(x * y);
    case MulHi: return UpperProduct(a, b);
    case Min: return a < b ? a : b;
    case Max: return a > b ? a : b;
    case And: return static_cast<T>(x & y);
    case Or: return static_cast<T>(x | y);
    case Xor: return static_cast<T>(x ^ y);
    case Shl: return static_cast<T>(x << (y & kMask));
    case Shr: return static_cast<T>(a >> (y & kMask));
    case Div: case Rem: case Mod: case FloorDiv: case CeilDiv: return IntegerQuotient(op, a, b);
    case Other: break;
  }
  // clang-format on
  ADC_UNREACHABLE("binary operation of integers");
}

inline bool BoolBinary(Op op, bool a, bool b) {
  // clang-format off
  switch (In<BoolBinaryOp>(op)) {
    using enum BoolBinaryOp;
    case And: return a && b;
    case Or: return a || b;
    case Xor: return a != b;
    case Other: break;
  }
  // clang-format on
  ADC_UNREACHABLE("binary operation of booleans");
}

/// sin(pi a), or its cosine: fmod is exact, and so are the angles that are taken to the first eighth.
template <class F>
inline F TurnedSine(F a, bool is_cosine) {
  if (!std::isfinite(a)) return std::numeric_limits<F>::quiet_NaN();
  constexpr F kPi = std::numbers::pi_v<F>;
  F b = std::fmod(std::fabs(a), F(2));  // in [0, 2)
  bool minus = !is_cosine && std::signbit(a);
  if (b >= 1) minus = !minus, b -= 1;
  // Now in [0, 1): sine as it is, the cosine with the other sign beyond 1/2.
  if (b > F(0.5)) minus = minus != is_cosine, b = 1 - b;
  if (is_cosine ? b == F(0.5) : b == 0) return is_cosine ? F(0) : std::copysign(F(0), a);
  bool as_sine = (b <= F(0.25)) != is_cosine;
  F c = b <= F(0.25) ? b : F(0.5) - b;
  F value = as_sine ? std::sin(kPi * c) : std::cos(kPi * c);
  return minus ? -value : value;
}

/// Independent of the rounding mode that is set: above 2^52 every number is integral.
template <class F>
inline F RoundedToEven(F a) {
  F floor = std::floor(a);
  F rest = a - floor;
  if (!(std::fabs(a) < F(0x1p52))) return a;
  bool up = rest > F(0.5) || (rest == F(0.5) && std::fmod(floor, F(2)) != 0);
  return std::copysign(up ? floor + 1 : floor, a);
}

/// `F` is float or double.
template <class F>
inline F FloatUnary(Op op, F a) {
  // clang-format off
  switch (In<FloatUnaryOp>(op)) {
    using enum FloatUnaryOp;
    case Neg: return -a;
    case Abs: return std::fabs(a);
    case Sgn: return a > 0 ? F(1) : a < 0 ? F(-1) : a;
    case Floor: return std::floor(a);
    case Ceil: return std::ceil(a);
    case Trunc: return std::trunc(a);
    case Round: return RoundedToEven(a);
    case Sqrt: return std::sqrt(a);
    case Rsqrt: return F(1) / std::sqrt(a);
    case Rcp: return F(1) / a;
    case Sin: return std::sin(a);
    case Cos: return std::cos(a);
    case Tan: return std::tan(a);
    case Asin: return std::asin(a);
    case Acos: return std::acos(a);
    case Atan: return std::atan(a);
    case Sinh: return std::sinh(a);
    case Cosh: return std::cosh(a);
    case Tanh: return std::tanh(a);
    case Exp: return std::exp(a);
    case Exp2: return std::exp2(a);
    case Log: return std::log(a);
    case Log2: return std::log2(a);
    case Expm1: return std::expm1(a);
    case Log1p: return std::log1p(a);
    case Cbrt: return std::cbrt(a);
    case Erfc: return std::erfc(a);
    case Asinh: return std::asinh(a);
    case Acosh: return std::acosh(a);
    case Atanh: return std::atanh(a);
    case Exp10: return std::pow(F(10), a);
    case Log10: return std::log10(a);
    case Sinpi: return TurnedSine(a, false);
    case Cospi: return TurnedSine(a, true);
    case Erf: return std::erf(a);
    case StopGradient: return a;
    case Other: break;
  }
  // clang-format on
  ADC_UNREACHABLE("unary operation of floats");
}

/// min and max take the second operand on a tie and where one operand is NaN.
template <class F>
inline F FloatBinary(Op op, F a, F b) {
  // clang-format off
  switch (In<FloatBinaryOp>(op)) {
    using enum FloatBinaryOp;
    case Add: return a + b;
    case Sub: return a - b;
    case Mul: return a * b;
    case Div: return a / b;
    case Min: return a < b ? a : b;
    case Max: return a > b ? a : b;
    case Rem: return std::fmod(a, b);
    case FloorDiv: return std::floor(a / b);
    case Mod: {
      F whole = b * std::floor(a / b);
      return a - whole;
    }
    case Pow: return std::pow(a, b);
    case Hypot: return std::hypot(a, b);
    case Copysign: return std::copysign(a, b);
    case Fdim: return a <= b ? F(0) : a - b;
    case Atan2: return std::atan2(a, b);
    case Other: break;
  }
  // clang-format on
  ADC_UNREACHABLE("binary operation of floats");
}

inline bool BoolUnary(Op op, bool a) {
  // clang-format off
  switch (In<BoolUnaryOp>(op)) {
    using enum BoolUnaryOp;
    case Not: return !a;
    case StopGradient: return a;
    case Other: break;
  }
  // clang-format on
  ADC_UNREACHABLE("unary operation of booleans");
}

template <class T>
inline T ScalarUnary(Op op, T a) {
  if (op == Op::StopGradient) return a;  // with the payload of a NaN, in Half too
  if constexpr (std::is_same_v<T, bool>)
    return BoolUnary(op, a);
  else if constexpr (kIsHalf<T>)
    // The sign bit alone, so that a NaN keeps its payload.
    return op == Op::Neg ? Half{static_cast<uint16_t>(a.bits ^ 0x8000u)}
                         : Narrow<T>(FloatUnary(op, Widen(a)));
  else if constexpr (kIsFloatType<T>)
    return FloatUnary(op, a);
  else
    return IntegerUnary(op, a);
}

template <class T>
inline T ScalarBinary(Op op, T a, T b) {
  if constexpr (std::is_same_v<T, bool>)
    return BoolBinary(op, a, b);
  else if constexpr (kIsHalf<T>)
    return Narrow<T>(FloatBinary(op, Widen(a), Widen(b)));
  else if constexpr (kIsFloatType<T>)
    return FloatBinary(op, a, b);
  else
    return IntegerBinary(op, a, b);
}

template <class T>
inline T ScalarClamp(T value, T low, T high) {
  T raised = Compared(Op::Gt, value, low) ? value : low;
  return Compared(Op::Lt, raised, high) ? raised : high;
}

template <class T>
inline T ScalarFma(T a, T b, T c) {
  if constexpr (kIsHalf<T>) {
    double product = static_cast<double>(Widen(a)) * static_cast<double>(Widen(b));
    return Narrow<T>(product + static_cast<double>(Widen(c)));
  } else {
    return std::fma(a, b, c);
  }
}

/// Value conversion: float to integer truncates and saturates, NaN gives 0; anything to i1 asks whether it is
/// not 0.
template <class To, class From>
inline To ScalarCast(From value) {
  if constexpr (kIsHalf<From> && !kIsHalf<To>) {
    return ScalarCast<To>(Widen(value));
  } else if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != 0;
  } else if constexpr (kIsHalf<To>) {
    return Narrow<To>(static_cast<double>(value));
  } else if constexpr (kIsFloatType<From> && !kIsFloatType<To>) {
    // 2^digits is the first number above the range, and is exact in every float format.
    const From above = std::ldexp(From(1), std::numeric_limits<To>::digits);
    if (std::isnan(value)) return 0;
    if (value >= above) return std::numeric_limits<To>::max();
    if (value <= (std::is_signed_v<To> ? -above : From(0))) return std::numeric_limits<To>::min();
    return static_cast<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

/// Calls `visitor(T())` with the C++ type that holds `scalar`.
template <class Visitor>
inline decltype(auto) VisitScalar(Scalar scalar, Visitor&& visitor) {
  switch (scalar) {
    case Scalar::I1:
      return visitor(bool());
    case Scalar::I8:
      return visitor(int8_t());
    case Scalar::I16:
      return visitor(int16_t());
    case Scalar::I32:
      return visitor(int32_t());
    case Scalar::I64:
      return visitor(int64_t());
    case Scalar::U8:
      return visitor(uint8_t());
    case Scalar::U16:
      return visitor(uint16_t());
    case Scalar::U32:
      return visitor(uint32_t());
    case Scalar::U64:
      return visitor(uint64_t());
    case Scalar::F16:
      return visitor(Half());
    case Scalar::F32:
      return visitor(float());
    case Scalar::F64:
      break;
  }
  return visitor(double());
}

}  // namespace adc::ir
