#pragma once
// Derivative rules of the dual numbers, in double. They are written from the definitions of the operations,
// apart from the rules of differentiation, which they check.
//
// Conventions: abs'(0) = 0; on a tie of min, max and clamp the tangent is that of the second operand, of the
// limit; a tangent of zero contributes zero, whatever the slope (0 times infinity does not arise), which
// makes the derivative of a norm 0 at 0, where no square of a component has a tangent; rem and mod have the
// slopes 1 and minus the integer nearest to (a - r)/b; pow evaluates no logarithm for an exponent without
// tangent, has slope 0 in its base where the exponent is 0 and slope 0 in its exponent where the value is 0
// and the base not negative; hypot has the slopes 0 at (0, 0), fdim where a is not above b, and copysign none
// in its second operand; domain errors propagate.

#include <cmath>
#include <numbers>

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
  if (op == Op::Abs) return a > 0 ? t : a < 0 ? -t : a == 0 || t == 0 ? 0.0 : a * t;
  return Along(t, [&]() -> double {
    // clang-format off
    switch (ir::In<ir::FloatUnaryOp>(op)) {
      using enum ir::FloatUnaryOp;
      case Sqrt: return 0.5 / r;
      case Rsqrt: return -0.5 * r / a;
      case Rcp: return -r * r;
      case Sin: return std::cos(a);
      case Cos: return -std::sin(a);
      case Tan: return 1 + r * r;
      case Asin: return 1 / std::sqrt((1 - a) * (1 + a));
      case Acos: return -1 / std::sqrt((1 - a) * (1 + a));
      case Atan: return 1 / std::hypot(1, a) / std::hypot(1, a);
      case Sinh: return std::cosh(a);
      case Cosh: return std::sinh(a);
      case Tanh: return std::fabs(a) < 300 ? 1 / std::cosh(a) / std::cosh(a) : a * 0;
      case Exp: return r;
      case Exp2: return r * std::numbers::ln2;
      case Log: return 1 / a;
      case Log2: return 1 / (a * std::numbers::ln2);
      case Erf: {
        // The upper digits have an exact square; the rest is a small correction of it.
        if (std::fabs(a) > 40) return 0;
        double upper = std::ldexp(std::nearbyint(std::ldexp(a, 20)), -20);
        return 2 * std::numbers::inv_sqrtpi * std::exp(-upper * upper) * std::exp(-(a - upper) * (a + upper));
      }
      case Expm1: return std::exp(a);
      case Log1p: return 1 / (1 + a);
      case Cbrt: return 1 / (3 * r * r);
      case Erfc: return -UnaryTangent(Op::Erf, a, 0, 1);
      case Asinh: return 1 / std::hypot(1, a);
      case Acosh: return 1 / std::sqrt(a - 1) / std::sqrt(a + 1);
      case Atanh: return 1 / ((1 - a) * (1 + a));
      case Exp10: return r * std::numbers::ln10;
      case Log10: return 1 / (a * std::numbers::ln10);
      case Sinpi: return std::numbers::pi * ir::TurnedSine(a, true);
      case Cospi: return -std::numbers::pi * ir::TurnedSine(a, false);
      case Sgn: case Floor: case Ceil: case Round: case Trunc: case StopGradient: return 0;
      case Neg: case Abs: case Other: break;
    }
    // clang-format on
    ADC_UNREACHABLE("unary operation of floats");
  });
}

/// Tangent of a binary operation with operands `a`, `b`, result `r`, and operand tangents `s`, `t`.
inline double BinaryTangent(ir::Op op, double a, double b, double r, double s, double t) {
  // clang-format off
  switch (ir::In<ir::FloatBinaryOp>(op)) {
    using enum ir::FloatBinaryOp;
    case Add: return s + t;
    case Sub: return s - t;
    case Mul: return Along(s, [&] { return b; }) + Along(t, [&] { return a; });
    case Div: return Along(s, [&] { return 1 / b; }) - Along(t, [&] { return r / b; });
    case Min: return a < b ? s : t;
    case Max: return a > b ? s : t;
    case Rem: case Mod: return s - Along(t, [&] { return std::nearbyint((a - r) / b); });
    case FloorDiv: return 0;
    case Atan2: {
      // Far away the angle no longer changes, unless both operands are infinite: then it is unknown.
      double radius = std::hypot(a, b);
      auto share = [&](double of) {
        return std::isinf(radius) && std::isfinite(std::fmin(std::fabs(a), std::fabs(b)))
                   ? (std::isnan(a) || std::isnan(b) ? a + b : 0.0)
                   : of / radius / radius;
      };
      return Along(s, [&] { return share(b); }) - Along(t, [&] { return share(a); });
    }
    case Pow:
      return Along(s, [&] { return b == 0 ? 0.0 : b * std::pow(a, b - 1); }) +
             Along(t, [&] { return r == 0 && a >= 0 ? 0.0 : r * std::log(a); });
    case Hypot:
      return Along(s, [&] { return r == 0 ? 0.0 : a / r; }) + Along(t, [&] { return r == 0 ? 0.0 : b / r; });
    case Copysign: return std::signbit(a) == std::signbit(b) ? s : -s;
    case Fdim: return a <= b ? 0.0 : s - t;
    case Other: break;
  }
  // clang-format on
  ADC_UNREACHABLE("binary operation of floats");
}

}  // namespace adc::interp
