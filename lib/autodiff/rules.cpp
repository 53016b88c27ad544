// Partial derivatives, one case per operation. `s` is the adjoint of the result (reverse) or the tangent of
// operand n (forward); every case returns s * d op / d operand n.
//
// Conventions that users rely on: abs'(0) = 0; a tie of min and max goes to the second operand, a tie of
// clamp to the limit; of several operands that could have given the value exactly one has the derivative, NaN
// included; rem and mod have derivatives 1 and minus the quotient that the value was made with; pow evaluates
// no logarithm unless its exponent is differentiated, d/dx is 0 for y = 0, and d/dy is 0 where the value is 0
// and the base not negative; hypot has derivatives 0 at (0, 0); a domain error propagates (log(-1) has
// derivative -1).
//
// A derivative is as accurate as the value is: what is squared on the way must not overflow or vanish where
// the result does neither, and nothing is subtracted that agrees in its leading digits.
//
//   rsqrt'  s * r * r * r    from the left: every partial product lies between s and the result
//   atan2'  s * b / (a^2 + b^2) = s / (b + a*(a/b)) for |b| >= |a|   (Smith's complex division)
//   tanh'   1 - r^2 where r^2 < 1/2, else 4*v / (1 + v)^2 with v = exp(-2|a|)
//   erf'    exp(-a^2), corrected by the rounding error of a^2, which exp would magnify by a^2
//   rem'    the quotient is (a - r) / b, rounded: it belongs to the r that was computed; trunc(a/b) need not
//
// In f16 almost every square overflows or vanishes, so that there whole partials are computed in f32:
// adjoints of f16 values are f32 (AdjointType), tangents are rounded once. Comparisons that choose between
// two forms of one number do not decide (analysis::kEitherSide).

#include "autodiff/rules.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "analysis/decisions.h"
#include "ir/number.h"
#include "support/check.h"

namespace adc::autodiff {

using ir::ArithmeticOp;
using ir::Builder;
using ir::Function;
using ir::FunctionOp;
using ir::Inst;
using ir::Op;
using ir::Type;
using ir::Value;

namespace {

class PartialBuilder {
 public:
  PartialBuilder(Builder& builder, std::span<const Value> operands, Value result, Value s)
      : builder_(builder), operands_(operands), result_(result), s_(s), type_(builder.function().TypeOf(s)) {}

  Value Build(Op op, uint32_t n);

 private:
  Value OfArithmetic(Op op, uint32_t n);
  Value OfFunction(Op op, uint32_t n);
  Value A() const { return operands_[0]; }
  Value B() const { return operands_[1]; }
  Value C() const { return operands_[2]; }
  Value Number(double value) { return builder_.Float(type_, value); }
  Value Add(Value a, Value b) { return builder_.Make(Op::Add, {a, b}); }
  Value Sub(Value a, Value b) { return builder_.Make(Op::Sub, {a, b}); }
  Value Mul(Value a, Value b) { return builder_.Make(Op::Mul, {a, b}); }
  Value Div(Value a, Value b) { return builder_.Make(Op::Div, {a, b}); }
  Value Neg(Value a) { return builder_.Make(Op::Neg, {a}); }
  Value Unary(Op op, Value a) { return builder_.Make(op, {a}); }
  Value Compare(Op op, Value a, Value b) { return builder_.Make(op, {a, b}); }
  Value Choose(Value condition, Value a, Value b) { return builder_.Make(Op::Select, {condition, a, b}); }
  /// A comparison, or an absolute value, of which both outcomes lead to the same number up to rounding.
  Value EitherSide(Op op, std::initializer_list<Value> operands) {
    Type type = ir::IsCompare(op) ? ir::kI1 : type_;
    Inst inst = builder_.Create(op, {operands.begin(), operands.size()}, {&type, 1});
    builder_.function()[inst].attr = analysis::kEitherSide;
    return builder_.function().Result(inst);
  }
  double OfFormat(double half, double single, double wide) const {
    return type_.scalar == ir::Scalar::F16 ? half : type_.scalar == ir::Scalar::F32 ? single : wide;
  }
  /// s where `condition` holds, else 0; or the other way round.
  Value Gate(Value condition, bool when_true) {
    Value zero = builder_.Zero(type_);
    return when_true ? builder_.Make(Op::Select, {condition, s_, zero})
                     : builder_.Make(Op::Select, {condition, zero, s_});
  }
  Value PowerByBase();
  Value PowerByExponent();
  Value Quotient() { return Unary(Op::Round, Div(Sub(A(), result_), B())); }
  Value ArcTangent();
  Value ArcTangent2(uint32_t n);
  Value HyperbolicTangent();
  Value ErrorFunction();
  Value Limit(uint32_t n);
  Value ArcRoot() { return Unary(Op::Sqrt, OneMinusSquare()); }
  Value OneMinusSquare();
  Value Radius(Value leg);

  Builder& builder_;
  std::span<const Value> operands_;
  Value result_;
  Value s_;
  Type type_;
};

/// From this exponent on `b - 1` is exact. Below, the digits that it loses would be magnified by the
/// logarithm of the base, and a power that is divided by its base neither overflows nor vanishes where the
/// quotient does not.
constexpr double kExactBelowOne = 0.5;

Value PartialBuilder::PowerByBase() {
  const Function& function = builder_.function();
  Value zero = builder_.Zero(type_), infinity = Number(std::numeric_limits<double>::infinity());
  auto lowered = [&](Value less) { return Mul(B(), builder_.Make(Op::Pow, {A(), less})); };
  auto divided = [&] {
    Value inside = Choose(EitherSide(Op::Eq, {A(), infinity}), zero, Div(Mul(B(), result_), A()));
    return Choose(EitherSide(Op::Eq, {A(), zero}), Mul(B(), infinity), inside);
  };
  if (function.IsConstant(B())) {
    double exponent = ir::FloatFromBits(type_.scalar, function.ConstantOf(B()).bits);
    if (exponent == 0) return zero;
    if (exponent == 1) return s_;
    if (exponent == 2) return Mul(s_, Mul(Number(2), A()));
    return Mul(s_, exponent >= kExactBelowOne ? lowered(Number(exponent - 1)) : divided());
  }
  Value is_exact = EitherSide(Op::Ge, {B(), Number(kExactBelowOne)});
  Value slope = Choose(is_exact, lowered(Sub(B(), Number(1))), divided());
  return Mul(s_, Choose(Compare(Op::Eq, B(), zero), zero, slope));
}

Value PartialBuilder::PowerByExponent() {
  Value zero = builder_.Zero(type_);
  Value vanishes = builder_.Make(Op::And, {Compare(Op::Eq, result_, zero), Compare(Op::Ge, A(), zero)});
  Value slope = Mul(result_, Unary(Op::Log, A()));
  return Mul(s_, Choose(vanishes, zero, slope));
}

/// 1 - a^2: factors near the ends, where the square would cancel; near 0, where 1 - a and 1 + a forget a, the
/// square, of which second derivatives are made.
Value PartialBuilder::OneMinusSquare() {
  Value one = Number(1);
  Value square = Mul(A(), A());
  Value near = EitherSide(Op::Lt, {square, Number(0.25)});
  return Choose(near, Sub(one, square), Mul(Sub(one, A()), Add(one, A())));
}

/// s times the share of a leg in the hypotenuse; 0 at (0, 0).
Value PartialBuilder::Radius(Value leg) {
  Value zero = builder_.Zero(type_);
  Value vanishes = Compare(Op::Eq, result_, zero);
  return Mul(s_, Choose(vanishes, zero, Div(leg, Choose(vanishes, Number(1), result_))));
}

/// s / (1 + a^2). Large operands are scaled by a power of two that takes their square into the range; the 1
/// is below the last digit there.
Value PartialBuilder::ArcTangent() {
  Value one = Number(1), zero = builder_.Zero(type_);
  Value square = Mul(A(), A());
  Value near = EitherSide(Op::Lt, {square, Number(OfFormat(0x1p14, 0x1p64, 0x1p512))});
  Value scale = Choose(near, one, Number(OfFormat(0x1p-9, 0x1p-65, 0x1p-513)));
  Value scaled = Mul(A(), scale);
  Value radius = Add(Choose(near, one, zero), Mul(scaled, scaled));
  return Mul(Div(Mul(s_, scale), radius), scale);
}

Value PartialBuilder::ArcTangent2(uint32_t n) {
  // With p the larger of a and b and q the other one: p + q*(q/p) = (a^2 + b^2) / p.
  Value by_b = EitherSide(Op::Ge, {EitherSide(Op::Abs, {B()}), EitherSide(Op::Abs, {A()})});
  Value p = Choose(by_b, B(), A()), q = Choose(by_b, A(), B());
  Value ratio = Div(q, p);
  Value share = Div(s_, Add(p, Mul(q, ratio)));
  Value other = Mul(share, ratio);
  return n == 0 ? Choose(by_b, share, other) : Neg(Choose(by_b, other, share));
}

Value PartialBuilder::HyperbolicTangent() {
  Value one = Number(1);
  Value square = Mul(result_, result_);
  Value v = Unary(Op::Exp, Mul(Number(-2), EitherSide(Op::Abs, {A()})));
  Value sum = Add(one, v);
  Value tail = Div(Mul(Number(4), v), Mul(sum, sum));
  return Mul(s_, Choose(EitherSide(Op::Lt, {square, Number(0.5)}), Sub(one, square), tail));
}

Value PartialBuilder::ErrorFunction() {
  Value square = Mul(A(), A());
  Value lost = builder_.Make(Op::Fma, {A(), A(), Neg(square)});
  // Beyond this square exp gives 0, and the error of an infinite one is none.
  Value counts = EitherSide(Op::Lt, {square, Number(OfFormat(0x1p6, 0x1p8, 0x1p10))});
  Value rest = Choose(counts, Sub(Number(1), lost), Number(1));
  return Mul(s_, Mul(Number(2 * std::numbers::inv_sqrtpi), Mul(Unary(Op::Exp, Neg(square)), rest)));
}

/// Of a clamp: the operand that the value was taken from, and no other.
Value PartialBuilder::Limit(uint32_t n) {
  Value above = Compare(Op::Gt, A(), B());
  Value zero = builder_.Zero(type_);
  if (n == 0) return Gate(builder_.Make(Op::And, {above, Compare(Op::Lt, A(), C())}), true);
  if (n == 1) return Choose(above, zero, Gate(Compare(Op::Lt, B(), C()), true));
  return Gate(Compare(Op::Lt, Choose(above, A(), B()), C()), false);
}

Value PartialBuilder::Build(Op op, uint32_t n) {
  return ir::ClassOf(op) == ir::OpClass::Function ? OfFunction(op, n) : OfArithmetic(op, n);
}

Value PartialBuilder::OfArithmetic(Op op, uint32_t n) {
  ADC_CHECK(ir::ClassOf(op) == ir::OpClass::Arithmetic, "partial of an operation that has none");
  switch (ir::In<ArithmeticOp>(op)) {
    case ArithmeticOp::Neg:
      return Neg(s_);
    case ArithmeticOp::Abs:
      // 0 at 0, whatever s is.
      return Choose(Compare(Op::Eq, A(), builder_.Zero(type_)), builder_.Zero(type_),
                    Mul(s_, Unary(Op::Sgn, A())));
    case ArithmeticOp::Sqrt:
      return Mul(s_, Mul(Number(0.5), Unary(Op::Rcp, result_)));
    case ArithmeticOp::Rsqrt:
      return Mul(Mul(Mul(Mul(Number(-0.5), s_), result_), result_), result_);
    case ArithmeticOp::Rcp:
      return Neg(Mul(Mul(s_, result_), result_));
    case ArithmeticOp::Add:
      return s_;
    case ArithmeticOp::Sub:
      return n == 0 ? s_ : Neg(s_);
    case ArithmeticOp::Mul:
      return Mul(s_, n == 0 ? B() : A());
    case ArithmeticOp::Div:
      // One division serves both partials.
      return n == 0 ? Div(s_, B()) : Neg(Mul(Div(s_, B()), result_));
    case ArithmeticOp::Rem:
    case ArithmeticOp::Mod:
      return n == 0 ? s_ : Neg(Mul(s_, Quotient()));
    case ArithmeticOp::Min:
      return Gate(Compare(Op::Lt, A(), B()), n == 0);
    case ArithmeticOp::Max:
      return Gate(Compare(Op::Gt, A(), B()), n == 0);
    case ArithmeticOp::Select:
      return n == 0 ? builder_.Zero(type_) : Gate(A(), n == 1);
    case ArithmeticOp::Fma:
      return n == 2 ? s_ : Mul(s_, n == 0 ? B() : A());
    case ArithmeticOp::Clamp:
      return Limit(n);
    case ArithmeticOp::Sgn:
    case ArithmeticOp::Floor:
    case ArithmeticOp::Ceil:
    case ArithmeticOp::Round:
    case ArithmeticOp::Trunc:
    case ArithmeticOp::FloorDiv:
      break;
  }
  ADC_UNREACHABLE("partial of an operation that has none");
}

Value PartialBuilder::OfFunction(Op op, uint32_t n) {
  switch (ir::In<FunctionOp>(op)) {
    case FunctionOp::Sin:
      return Mul(s_, Unary(Op::Cos, A()));
    case FunctionOp::Cos:
      return Neg(Mul(s_, Unary(Op::Sin, A())));
    case FunctionOp::Tan:
      return Add(s_, Mul(Mul(s_, result_), result_));
    case FunctionOp::Asin:
      return Div(s_, ArcRoot());
    case FunctionOp::Acos:
      return Neg(Div(s_, ArcRoot()));
    case FunctionOp::Atan:
      return ArcTangent();
    case FunctionOp::Sinh:
      return Mul(s_, Unary(Op::Cosh, A()));
    case FunctionOp::Cosh:
      return Mul(s_, Unary(Op::Sinh, A()));
    case FunctionOp::Tanh:
      return HyperbolicTangent();
    case FunctionOp::Exp:
      return Mul(s_, result_);
    case FunctionOp::Exp2:
      return Mul(s_, Mul(Number(std::numbers::ln2), result_));
    case FunctionOp::Log:
      return Div(s_, A());
    case FunctionOp::Log2:
      return Div(Mul(s_, Number(1 / std::numbers::ln2)), A());
    case FunctionOp::Erf:
      return ErrorFunction();
    case FunctionOp::Expm1:
      // Not (r + 1), which forgets what is small against 1.
      return Mul(s_, Unary(Op::Exp, A()));
    case FunctionOp::Log1p:
      return Div(s_, Add(Number(1), A()));
    case FunctionOp::Cbrt:
      return Mul(s_, Unary(Op::Rcp, Mul(Number(3), Mul(result_, result_))));
    case FunctionOp::Erfc:
      return Neg(ErrorFunction());
    case FunctionOp::Asinh:
      return Div(s_, builder_.Make(Op::Hypot, {Number(1), A()}));
    case FunctionOp::Acosh:
      return Div(Div(s_, Unary(Op::Sqrt, Sub(A(), Number(1)))), Unary(Op::Sqrt, Add(A(), Number(1))));
    case FunctionOp::Atanh:
      return Div(s_, OneMinusSquare());
    case FunctionOp::Exp10:
      return Mul(s_, Mul(Number(std::numbers::ln10), result_));
    case FunctionOp::Log10:
      return Div(Mul(s_, Number(1 / std::numbers::ln10)), A());
    case FunctionOp::Sinpi:
      return Mul(s_, Mul(Number(std::numbers::pi), Unary(Op::Cospi, A())));
    case FunctionOp::Cospi:
      return Neg(Mul(s_, Mul(Number(std::numbers::pi), Unary(Op::Sinpi, A()))));
    case FunctionOp::Hypot:
      return Radius(n == 0 ? A() : B());
    case FunctionOp::Pow:
      return n == 0 ? PowerByBase() : PowerByExponent();
    case FunctionOp::Atan2:
      return ArcTangent2(n);
  }
  ADC_UNREACHABLE("function");
}

/// True where the partial is more than s, one of the operands times s, or a choice.
bool IsComputed(Op op) {
  return op != Op::Neg && op != Op::Abs && op != Op::Add && op != Op::Sub && op != Op::Mul && op != Op::Fma &&
         op != Op::Min && op != Op::Max && op != Op::Select && op != Op::Clamp;
}

}  // namespace

bool HasPartials(Op op) {
  switch (ir::InfoOf(op).form) {
    case ir::OpForm::Unary:
    case ir::OpForm::Binary:
    case ir::OpForm::Ternary:
      break;
    case ir::OpForm::Nullary:
    case ir::OpForm::Variadic:
    case ir::OpForm::RandomForm:
    case ir::OpForm::Convert:
    case ir::OpForm::ShapeForm:
    case ir::OpForm::Access:
    case ir::OpForm::AllocaForm:
    case ir::OpForm::Control:
    case ir::OpForm::CallForm:
    case ir::OpForm::Terminator:
    case ir::OpForm::AssertForm:
    case ir::OpForm::PrintForm:
    case ir::OpForm::StackNewForm:
    case ir::OpForm::StackForm:
    case ir::OpForm::RowForm:
    case ir::OpForm::RowAccess:
    case ir::OpForm::StatusForm:
      return false;
  }
  if (ir::ClassOf(op) == ir::OpClass::Vector) return false;
  ir::Derivative derivative = ir::InfoOf(op).derivative;
  return derivative == ir::Derivative::Linear || derivative == ir::Derivative::NeedsOperands ||
         derivative == ir::Derivative::NeedsResult || derivative == ir::Derivative::NeedsBoth;
}

PartialReads ReadsOfPartials(const Function& function, Inst inst, uint8_t active) {
  // Operations whose partial reads less than the table's derivative class says; the rest follow the class.
  Op op = function[inst].op;
  bool first = active & 1, second = active & 2;
  if (op == Op::Mul || op == Op::Fma)
    return {static_cast<uint8_t>((first ? 2 : 0) | (second ? 1 : 0)), false};
  if (op == Op::Div) return {2, second};
  if (op == Op::Rsqrt) return {0, true};
  if (op == Op::Rem || op == Op::Mod) return {static_cast<uint8_t>(second ? 3 : 0), second};
  if (op == Op::Pow) {
    Value power = function.Operand(inst, 1);
    if (second || !function.IsConstant(power)) return {3, true};
    double exponent = ir::FloatFromBits(function.TypeOf(power).scalar, function.ConstantOf(power).bits);
    return {static_cast<uint8_t>(exponent == 1 ? 0 : 3), exponent < kExactBelowOne};
  }
  if (op == Op::Select) return {1, false};
  if (op == Op::Clamp) return {7, false};
  uint8_t all = static_cast<uint8_t>((1u << function[inst].operand_count) - 1);
  switch (ir::InfoOf(op).derivative) {
    case ir::Derivative::NeedsOperands:
      return {all, false};
    case ir::Derivative::NeedsResult:
      return {0, true};
    case ir::Derivative::NeedsBoth:
      return {all, true};
    case ir::Derivative::None:
    case ir::Derivative::Zero:
    case ir::Derivative::Linear:
    case ir::Derivative::Memory:
    case ir::Derivative::Control:
    case ir::Derivative::NotDifferentiable:
      break;
  }
  return {};
}

Value ScaledPartial(Builder& builder, Op op, uint32_t n, std::span<const Value> operands, Value result,
                    Value s) {
  const Function& function = builder.function();
  Type type = function.TypeOf(s);
  if (type.scalar == ir::Scalar::F16 && !IsComputed(op))
    return PartialBuilder(builder, operands, result, s).Build(op, n);
  auto widened = [&](Value v) { return v.Valid() ? builder.Cast(v, AdjointType(function.TypeOf(v))) : v; };
  std::vector<Value> wide;
  for (Value operand : operands) wide.push_back(widened(operand));
  Value partial = PartialBuilder(builder, wide, widened(result), widened(s)).Build(op, n);
  return builder.Cast(partial, type);
}

}  // namespace adc::autodiff
