#pragma once
// Derivative rules of the dual numbers, in double. They are written from the definitions of the operations,
// apart from the rules of differentiation, which they check.
//
// Conventions: abs'(0) = 0; on a tie of min, max and clamp the tangent is that of the second operand, of the
// limit; a tangent of zero contributes zero, whatever the slope (0 times infinity does not arise); rem and
// mod have the slopes 1 and minus the integer nearest to (a - r)/b; pow evaluates no logarithm for an
// exponent without tangent, has slope 0 in its base where the exponent is 0 and slope 0 in its exponent where
// the value is 0 and the base not negative; hypot has the slopes 0 at (0, 0), fdim where a is not above b,
// and copysign none in its second operand; domain errors propagate.

#include <cmath>
#include <numbers>

#include "ir/op.h"
#include "ir/scalar_math.h"

namespace adc::interp {

/// `slope` times the tangent `t` of an operand.
template <class Slope>
inline double Along(double t, Slope slope) {
  return t == 0 ? 0.0 : slope() * t;
}

/// Tangent of a unary operation with operand `a`, result `r`, and operand tangent `t`.
inline double UnaryTangent(ir::Op op, double a, double r, double t) {
  using ir::Op;
  if (op == Op::Neg) return -t;
  if (op == Op::Abs) return a > 0 ? t : a < 0 ? -t : a == 0 ? 0.0 : a * t;
  return Along(t, [&]() -> double {
    if (op == Op::Sqrt) return 0.5 / r;
    if (op == Op::Rsqrt) return -0.5 * r / a;
    if (op == Op::Rcp) return -r * r;
    if (op == Op::Sin) return std::cos(a);
    if (op == Op::Cos) return -std::sin(a);
    if (op == Op::Tan) return 1 + r * r;
    if (op == Op::Asin) return 1 / std::sqrt((1 - a) * (1 + a));
    if (op == Op::Acos) return -1 / std::sqrt((1 - a) * (1 + a));
    if (op == Op::Atan) return 1 / std::hypot(1, a) / std::hypot(1, a);
    if (op == Op::Sinh) return std::cosh(a);
    if (op == Op::Cosh) return std::sinh(a);
    if (op == Op::Tanh) return std::fabs(a) < 300 ? 1 / std::cosh(a) / std::cosh(a) : a * 0;
    if (op == Op::Exp) return r;
    if (op == Op::Exp2) return r * std::numbers::ln2;
    if (op == Op::Log) return 1 / a;
    if (op == Op::Log2) return 1 / (a * std::numbers::ln2);
    if (op == Op::Erf) {
      // The upper digits have an exact square; the rest is a small correction of it.
      if (std::fabs(a) > 40) return 0;
      double upper = std::ldexp(std::nearbyint(std::ldexp(a, 20)), -20);
      return 2 * std::numbers::inv_sqrtpi * std::exp(-upper * upper) * std::exp(-(a - upper) * (a + upper));
    }
    if (op == Op::Expm1) return std::exp(a);
    if (op == Op::Log1p) return 1 / (1 + a);
    if (op == Op::Cbrt) return 1 / (3 * r * r);
    if (op == Op::Erfc) return -UnaryTangent(Op::Erf, a, 0, 1);
    if (op == Op::Asinh) return 1 / std::hypot(1, a);
    if (op == Op::Acosh) return 1 / std::sqrt(a - 1) / std::sqrt(a + 1);
    if (op == Op::Atanh) return 1 / ((1 - a) * (1 + a));
    if (op == Op::Exp10) return r * std::numbers::ln10;
    if (op == Op::Log10) return 1 / (a * std::numbers::ln10);
    if (op == Op::Sinpi) return std::numbers::pi * ir::TurnedSine(a, true);
    if (op == Op::Cospi) return -std::numbers::pi * ir::TurnedSine(a, false);
    // sgn, floor, ceil, round, trunc, stop_gradient
    return 0;
  });
}

/// Tangent of a binary operation with operands `a`, `b`, result `r`, and operand tangents `s`, `t`.
inline double BinaryTangent(ir::Op op, double a, double b, double r, double s, double t) {
  using ir::Op;
  if (op == Op::Add) return s + t;
  if (op == Op::Sub) return s - t;
  if (op == Op::Mul) return Along(s, [&] { return b; }) + Along(t, [&] { return a; });
  if (op == Op::Div) return Along(s, [&] { return 1 / b; }) - Along(t, [&] { return r / b; });
  if (op == Op::Min) return a < b ? s : t;
  if (op == Op::Max) return a > b ? s : t;
  if (op == Op::Rem || op == Op::Mod) return s - Along(t, [&] { return std::nearbyint((a - r) / b); });
  if (op == Op::Atan2) {
    // Far away the angle no longer changes, unless both operands are infinite: then it is unknown.
    double radius = std::hypot(a, b);
    auto share = [&](double of) {
      return std::isinf(radius) && std::isfinite(std::fmin(std::fabs(a), std::fabs(b)))
                 ? (std::isnan(a) || std::isnan(b) ? a + b : 0.0)
                 : of / radius / radius;
    };
    return Along(s, [&] { return share(b); }) - Along(t, [&] { return share(a); });
  }
  if (op == Op::Pow) {
    return Along(s, [&] { return b == 0 ? 0.0 : b * std::pow(a, b - 1); }) +
           Along(t, [&] { return r == 0 && a >= 0 ? 0.0 : r * std::log(a); });
  }
  if (op == Op::Hypot)
    return Along(s, [&] { return r == 0 ? 0.0 : a / r; }) + Along(t, [&] { return r == 0 ? 0.0 : b / r; });
  if (op == Op::Copysign) return std::signbit(a) == std::signbit(b) ? s : -s;
  if (op == Op::Fdim) return a <= b ? 0.0 : s - t;
  return 0;  // floordiv
}

}  // namespace adc::interp
