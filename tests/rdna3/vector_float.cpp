// Vector instructions of floats: arithmetic, minima and maxima, rounding to whole numbers, and the functions
// that the hardware approximates.
//
// An approximation is documented by its error, and code that takes it for exact is wrong on some device. So a
// result that is not exact is off here, too: by up to one unit in the last place in f32 and f16, in f64 by up
// to 2^29 of them, as the ISA says of rcp, rsq and sqrt; how far is a function of the result. What the
// hardware flushes (subnormal arguments and results of the functions in f32) is flushed whatever MODE says.

#include <algorithm>

#include "vector.h"

namespace adc::rdna3 {
namespace {

// ------------------------------------------------------------------------------------- minima and maxima

// IEEE 754-2008 minNum and maxNum, with -0 less than +0.
template <class T>
T Least(T a, T b) {
  if (a != a) return b;
  if (b != b) return a;
  if (a == b) return std::signbit(static_cast<float>(a)) ? a : b;
  return a < b ? a : b;
}
template <class T>
T Greatest(T a, T b) {
  if (a != a) return b;
  if (b != b) return a;
  if (a == b) return std::signbit(static_cast<float>(a)) ? b : a;
  return a > b ? a : b;
}
// The sign of a subnormal double is lost in no conversion: only equal numbers are asked.

template <class T>
T Middle(T a, T b, T c) {
  if (a != a || b != b || c != c) return Least(Least(a, b), c);
  T most = Greatest(Greatest(a, b), c);
  if (most == a) return Greatest(b, c);
  return most == b ? Greatest(a, c) : Greatest(a, b);
}

// ------------------------------------------------------------------------------------------ approximations

/// `exact` where f32 has it, else one of the two numbers of f32 around it: neither is off by a whole place.
float NearF32(double exact) {
  float rounded = static_cast<float>(exact);
  if (rounded == exact || std::isnan(exact) || std::isinf(rounded) || IsDenormal(rounded)) return rounded;
  uint32_t bits = std::bit_cast<uint32_t>(rounded);
  if (Garbage(bits).Next() % 2 == 0) return rounded;
  return std::nextafter(rounded, exact > rounded ? INFINITY : -INFINITY);
}
Half NearF16(double exact) {
  Half rounded(exact);
  if (rounded == exact || (rounded.bits & 0x7FFF) >= 0x7BFF || (rounded.bits & 0x7FFF) < 0x0400)
    return rounded;
  if (Garbage(rounded.bits).Next() % 2 == 0) return rounded;
  // Numbers of one sign grow in magnitude with their bits.
  bool grows = std::abs(exact) > std::abs(static_cast<double>(static_cast<float>(rounded)));
  return Half::OfBits(static_cast<uint16_t>(grows ? rounded.bits + 1 : rounded.bits - 1));
}
/// `exact`, off by up to 2^29 places.
double NearF64(double exact) {
  constexpr uint64_t kLow = (uint64_t{1} << 29) - 1;
  auto bits = std::bit_cast<uint64_t>(exact);
  if (!std::isnormal(exact) || (bits & 0xFFFFFFFFFFFFF) == 0) return exact;
  return std::bit_cast<double>(bits ^ (Garbage(bits).Next() & kLow));
}

template <double (*kFunction)(double)>
float ApproximateF32(float x) {
  return Flushed(NearF32(kFunction(Flushed(x))));
}

double Reciprocal(double x) {
  return 1 / x;
}
double ReciprocalRoot(double x) {
  return 1 / std::sqrt(x);
}
double Root(double x) {
  return std::sqrt(x);
}
double Power(double x) {
  return std::exp2(x);
}
double Logarithm(double x) {
  return std::log2(x);
}
// The argument counts turns; 0 from 256 turns on, as the hardware has it.
double Sine(double x) {
  return std::isinf(x) ? NAN : std::fabs(x) > 256 ? 0 : std::sin(x * 6.283185307179586476925);
}
double Cosine(double x) {
  return std::isinf(x) ? NAN : std::fabs(x) > 256 ? 1 : std::cos(x * 6.283185307179586476925);
}

template <double (*kFunction)(double)>
Half ApproximateF16(Half x) {
  return NearF16(kFunction(x));
}

// ------------------------------------------------------------------------------------------ exponents

template <class T>
T Scaled(T x, int32_t exponent) {
  return static_cast<T>(std::ldexp(x, std::clamp(exponent, -5000, 5000)));
}
template <class T>
T Significand(T x) {
  if (!std::isfinite(x)) return x;
  int exponent = 0;
  return std::frexp(x, &exponent);
}
template <class T>
int32_t ExponentOf(T x) {
  if (!std::isfinite(x) || x == 0) return 0;
  int exponent = 0;
  std::frexp(x, &exponent);
  return exponent;
}
template <class T>
T Fraction(T x) {
  // Never 1: the largest number below it.
  return std::min(x - std::floor(x), std::nextafter(T{1}, T{0}));
}
Half HalfFma(Half a, Half b, Half c) {
  return Half(std::fma(double{float{a}}, double{float{b}}, double{float{c}}));
}

constexpr Row kRows[] = {
    {"v_add_f32", EachLane<[](float a, float b) { return a + b; }>},
    {"v_sub_f32", EachLane<[](float a, float b) { return a - b; }>},
    {"v_subrev_f32", EachLane<[](float a, float b) { return b - a; }>},
    {"v_mul_f32", EachLane<[](float a, float b) { return a * b; }>},
    {"v_mul_legacy_f32", EachLane<[](float a, float b) { return a == 0 || b == 0 ? 0.0f : a * b; }>},
    {"v_mul_dx9_zero_f32", EachLane<[](float a, float b) { return a == 0 || b == 0 ? 0.0f : a * b; }>},
    {"v_fma_f32", EachLane<[](float a, float b, float c) { return std::fma(a, b, c); }>},
    {"v_fma_dx9_zero_f32",
     EachLane<[](float a, float b, float c) { return a == 0 || b == 0 ? 0.0f + c : std::fma(a, b, c); }>},
    {"v_fmac_f32", EachLane<[](float a, float b, Old<float> c) { return std::fma(a, b, c.value); }>},
    // The decoder puts the operands of these in the order of fma.
    {"v_fmaak_f32", EachLane<[](float a, float b, float c) { return std::fma(a, b, c); }>},
    {"v_fmamk_f32", EachLane<[](float a, float b, float c) { return std::fma(a, b, c); }>},
    {"v_min_f32", EachLane<[](float a, float b) { return Least(a, b); }>},
    {"v_max_f32", EachLane<[](float a, float b) { return Greatest(a, b); }>},
    {"v_min3_f32", EachLane<[](float a, float b, float c) { return Least(Least(a, b), c); }>},
    {"v_max3_f32", EachLane<[](float a, float b, float c) { return Greatest(Greatest(a, b), c); }>},
    {"v_med3_f32", EachLane<[](float a, float b, float c) { return Middle(a, b, c); }>},
    {"v_minmax_f32", EachLane<[](float a, float b, float c) { return Greatest(Least(a, b), c); }>},
    {"v_maxmin_f32", EachLane<[](float a, float b, float c) { return Least(Greatest(a, b), c); }>},
    {"v_floor_f32", EachLane<[](float a) { return std::floor(a); }>},
    {"v_ceil_f32", EachLane<[](float a) { return std::ceil(a); }>},
    {"v_trunc_f32", EachLane<[](float a) { return std::trunc(a); }>},
    {"v_rndne_f32", EachLane<[](float a) { return std::nearbyint(a); }>},
    {"v_fract_f32", EachLane<[](float a) { return Fraction(a); }>},
    {"v_ldexp_f32", EachLane<[](float a, int32_t e) { return Scaled(a, e); }>},
    {"v_frexp_mant_f32", EachLane<[](float a) { return Significand(a); }>},
    {"v_frexp_exp_i32_f32", EachLane<[](float a) { return ExponentOf(a); }>},
    {"v_rcp_f32", EachLane<[](float a) { return ApproximateF32<Reciprocal>(a); }>},
    {"v_rcp_iflag_f32", EachLane<[](float a) { return ApproximateF32<Reciprocal>(a); }>},
    {"v_rsq_f32", EachLane<[](float a) { return ApproximateF32<ReciprocalRoot>(a); }>},
    {"v_sqrt_f32", EachLane<[](float a) { return ApproximateF32<Root>(a); }>},
    {"v_exp_f32", EachLane<[](float a) { return ApproximateF32<Power>(a); }>},
    {"v_log_f32", EachLane<[](float a) { return ApproximateF32<Logarithm>(a); }>},
    {"v_sin_f32", EachLane<[](float a) { return ApproximateF32<Sine>(a); }>},
    {"v_cos_f32", EachLane<[](float a) { return ApproximateF32<Cosine>(a); }>},

    {"v_add_f64", EachLane<[](double a, double b) { return a + b; }>},
    {"v_mul_f64", EachLane<[](double a, double b) { return a * b; }>},
    {"v_fma_f64", EachLane<[](double a, double b, double c) { return std::fma(a, b, c); }>},
    {"v_min_f64", EachLane<[](double a, double b) { return Least(a, b); }>},
    {"v_max_f64", EachLane<[](double a, double b) { return Greatest(a, b); }>},
    {"v_floor_f64", EachLane<[](double a) { return std::floor(a); }>},
    {"v_ceil_f64", EachLane<[](double a) { return std::ceil(a); }>},
    {"v_trunc_f64", EachLane<[](double a) { return std::trunc(a); }>},
    {"v_rndne_f64", EachLane<[](double a) { return std::nearbyint(a); }>},
    {"v_fract_f64", EachLane<[](double a) { return Fraction(a); }>},
    {"v_ldexp_f64", EachLane<[](double a, int32_t e) { return Scaled(a, e); }>},
    {"v_frexp_mant_f64", EachLane<[](double a) { return Significand(a); }>},
    {"v_frexp_exp_i32_f64", EachLane<[](double a) { return ExponentOf(a); }>},
    {"v_rcp_f64", EachLane<[](double a) { return NearF64(1 / a); }>},
    {"v_rsq_f64", EachLane<[](double a) { return NearF64(1 / std::sqrt(a)); }>},
    {"v_sqrt_f64", EachLane<[](double a) { return NearF64(std::sqrt(a)); }>},

    {"v_add_f16", EachLane<[](Half a, Half b) { return Half(float{a} + float{b}); }>},
    {"v_sub_f16", EachLane<[](Half a, Half b) { return Half(float{a} - float{b}); }>},
    {"v_subrev_f16", EachLane<[](Half a, Half b) { return Half(float{b} - float{a}); }>},
    {"v_mul_f16", EachLane<[](Half a, Half b) { return Half(float{a} * float{b}); }>},
    {"v_fma_f16", EachLane<[](Half a, Half b, Half c) { return HalfFma(a, b, c); }>},
    {"v_fmac_f16", EachLane<[](Half a, Half b, Old<Half> c) { return HalfFma(a, b, c.value); }>},
    {"v_fmaak_f16", EachLane<[](Half a, Half b, Half c) { return HalfFma(a, b, c); }>},
    {"v_fmamk_f16", EachLane<[](Half a, Half b, Half c) { return HalfFma(a, b, c); }>},
    {"v_min_f16", EachLane<[](Half a, Half b) { return Least(a, b); }>},
    {"v_max_f16", EachLane<[](Half a, Half b) { return Greatest(a, b); }>},
    {"v_min3_f16", EachLane<[](Half a, Half b, Half c) { return Least(Least(a, b), c); }>},
    {"v_max3_f16", EachLane<[](Half a, Half b, Half c) { return Greatest(Greatest(a, b), c); }>},
    {"v_med3_f16", EachLane<[](Half a, Half b, Half c) { return Middle(a, b, c); }>},
    {"v_minmax_f16", EachLane<[](Half a, Half b, Half c) { return Greatest(Least(a, b), c); }>},
    {"v_maxmin_f16", EachLane<[](Half a, Half b, Half c) { return Least(Greatest(a, b), c); }>},
    {"v_floor_f16", EachLane<[](Half a) { return Half(std::floor(float{a})); }>},
    {"v_ceil_f16", EachLane<[](Half a) { return Half(std::ceil(float{a})); }>},
    {"v_trunc_f16", EachLane<[](Half a) { return Half(std::trunc(float{a})); }>},
    {"v_rndne_f16", EachLane<[](Half a) { return Half(std::nearbyint(float{a})); }>},
    {"v_fract_f16",
     EachLane<[](Half a) { return Half(std::min(float{a} - std::floor(float{a}), 0x1.FFCp-1f)); }>},
    {"v_ldexp_f16", EachLane<[](Half a, int16_t e) { return Half(std::ldexp(double{float{a}}, e)); }>},
    {"v_frexp_mant_f16", EachLane<[](Half a) { return Half(Significand(float{a})); }>},
    {"v_frexp_exp_i16_f16", EachLane<[](Half a) { return static_cast<int16_t>(ExponentOf(float{a})); }>},
    {"v_rcp_f16", EachLane<[](Half a) { return ApproximateF16<Reciprocal>(a); }>},
    {"v_rsq_f16", EachLane<[](Half a) { return ApproximateF16<ReciprocalRoot>(a); }>},
    {"v_sqrt_f16", EachLane<[](Half a) { return ApproximateF16<Root>(a); }>},
    {"v_exp_f16", EachLane<[](Half a) { return ApproximateF16<Power>(a); }>},
    {"v_log_f16", EachLane<[](Half a) { return ApproximateF16<Logarithm>(a); }>},
    {"v_sin_f16", EachLane<[](Half a) { return ApproximateF16<Sine>(a); }>},
    {"v_cos_f16", EachLane<[](Half a) { return ApproximateF16<Cosine>(a); }>},
};

}  // namespace

std::span<const Row> FloatRows() {
  return kRows;
}

}  // namespace adc::rdna3
