// Partial derivatives, one case per operation. `s` is the adjoint of the result (reverse) or the tangent of
// operand n (forward); every case returns s * d op / d operand n.
//
// Conventions that users rely on: abs'(0) = 0; a tie of min and max goes to the second operand, a tie of
// clamp to the limit; rem and mod have derivatives 1 and -trunc(a/b), -floor(a/b); pow evaluates no logarithm
// unless its exponent is differentiated, d/dx is 0 for y = 0, and d/dy is 0 at x = 0, y > 0; a domain error
// propagates (log(-1) has derivative -1).

#include "autodiff/rules.h"

#include <cmath>
#include <numbers>

#include "ir/number.h"
#include "support/check.h"

namespace adc::autodiff {

using ir::Builder;
using ir::Function;
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
  /// s where `condition` holds, else 0; or the other way round.
  Value Gate(Value condition, bool when_true) {
    Value zero = builder_.Zero(type_);
    return when_true ? builder_.Make(Op::Select, {condition, s_, zero})
                     : builder_.Make(Op::Select, {condition, zero, s_});
  }
  Value PowerByBase();
  Value PowerByExponent();
  Value SquaredRadius() { return Add(Mul(A(), A()), Mul(B(), B())); }
  Value ArcRoot() {
    Value one = Number(1);
    return Unary(Op::Sqrt, Mul(Sub(one, A()), Add(one, A())));
  }

  Builder& builder_;
  std::span<const Value> operands_;
  Value result_;
  Value s_;
  Type type_;
};

Value PartialBuilder::PowerByBase() {
  const Function& function = builder_.function();
  if (function.IsConstant(B())) {
    double exponent = ir::FloatFromBits(type_.scalar, function.ConstantOf(B()).bits);
    if (exponent == 0) return builder_.Zero(type_);
    if (exponent == 1) return s_;
    if (exponent == 2) return Mul(s_, Mul(Number(2), A()));
    return Mul(s_, Mul(B(), builder_.Make(Op::Pow, {A(), Number(exponent - 1)})));
  }
  Value slope = Mul(B(), builder_.Make(Op::Pow, {A(), Sub(B(), Number(1))}));
  Value flat = Compare(Op::Eq, B(), builder_.Zero(type_));
  return Mul(s_, builder_.Make(Op::Select, {flat, builder_.Zero(type_), slope}));
}

Value PartialBuilder::PowerByExponent() {
  Value zero = builder_.Zero(type_);
  Value at_origin = builder_.Make(Op::And, {Compare(Op::Eq, A(), zero), Compare(Op::Gt, B(), zero)});
  Value slope = Mul(result_, Unary(Op::Log, A()));
  return Mul(s_, builder_.Make(Op::Select, {at_origin, zero, slope}));
}

Value PartialBuilder::Build(Op op, uint32_t n) {
  switch (op) {
    case Op::Neg:
      return Neg(s_);
    case Op::Abs:
      return Mul(s_, Unary(Op::Sgn, A()));
    case Op::Sqrt:
      return Mul(s_, Mul(Number(0.5), Unary(Op::Rcp, result_)));
    case Op::Rsqrt:
      return Mul(s_, Mul(Number(-0.5), Mul(result_, Mul(result_, result_))));
    case Op::Rcp:
      return Neg(Mul(s_, Mul(result_, result_)));
    case Op::Sin:
      return Mul(s_, Unary(Op::Cos, A()));
    case Op::Cos:
      return Neg(Mul(s_, Unary(Op::Sin, A())));
    case Op::Tan:
      return Mul(s_, Add(Number(1), Mul(result_, result_)));
    case Op::Asin:
      return Div(s_, ArcRoot());
    case Op::Acos:
      return Neg(Div(s_, ArcRoot()));
    case Op::Atan:
      return Div(s_, Add(Number(1), Mul(A(), A())));
    case Op::Sinh:
      return Mul(s_, Unary(Op::Cosh, A()));
    case Op::Cosh:
      return Mul(s_, Unary(Op::Sinh, A()));
    case Op::Tanh:
      return Mul(s_, Sub(Number(1), Mul(result_, result_)));
    case Op::Exp:
      return Mul(s_, result_);
    case Op::Exp2:
      return Mul(s_, Mul(Number(std::numbers::ln2), result_));
    case Op::Log:
      return Div(s_, A());
    case Op::Log2:
      return Div(Mul(s_, Number(1 / std::numbers::ln2)), A());
    case Op::Erf:
      return Mul(s_, Mul(Number(2 * std::numbers::inv_sqrtpi), Unary(Op::Exp, Neg(Mul(A(), A())))));
    case Op::Add:
      return s_;
    case Op::Sub:
      return n == 0 ? s_ : Neg(s_);
    case Op::Mul:
      return Mul(s_, n == 0 ? B() : A());
    case Op::Div:
      // One division serves both partials.
      return n == 0 ? Div(s_, B()) : Neg(Mul(Div(s_, B()), result_));
    case Op::Rem:
      return n == 0 ? s_ : Neg(Mul(s_, Unary(Op::Trunc, Div(A(), B()))));
    case Op::Mod:
      return n == 0 ? s_ : Neg(Mul(s_, Unary(Op::Floor, Div(A(), B()))));
    case Op::Pow:
      return n == 0 ? PowerByBase() : PowerByExponent();
    case Op::Atan2:
      return n == 0 ? Div(Mul(s_, B()), SquaredRadius()) : Neg(Div(Mul(s_, A()), SquaredRadius()));
    case Op::Min:
      return Gate(Compare(Op::Lt, A(), B()), n == 0);
    case Op::Max:
      return Gate(Compare(Op::Gt, A(), B()), n == 0);
    case Op::Select:
      return n == 0 ? builder_.Zero(type_) : Gate(A(), n == 1);
    case Op::Fma:
      return n == 2 ? s_ : Mul(s_, n == 0 ? B() : A());
    case Op::Clamp: {
      Value above = Compare(Op::Gt, A(), B());
      if (n == 0) return Gate(builder_.Make(Op::And, {above, Compare(Op::Lt, A(), C())}), true);
      if (n == 1) return Gate(builder_.Make(Op::Or, {above, Compare(Op::Ge, B(), C())}), false);
      return Gate(Compare(Op::Lt, builder_.Make(Op::Max, {A(), B()}), C()), false);
    }
#define ADC_NO_PARTIAL(name) case Op::name:
      ADC_NO_PARTIAL(Sgn)
      ADC_NO_PARTIAL(Not)
      ADC_NO_PARTIAL(Floor)
      ADC_NO_PARTIAL(Ceil)
      ADC_NO_PARTIAL(Round)
      ADC_NO_PARTIAL(Trunc)
      ADC_NO_PARTIAL(Popcount)
      ADC_NO_PARTIAL(Clz)
      ADC_NO_PARTIAL(FloorDiv)
      ADC_NO_PARTIAL(And)
      ADC_NO_PARTIAL(Or)
      ADC_NO_PARTIAL(Xor)
      ADC_NO_PARTIAL(Shl)
      ADC_NO_PARTIAL(Shr)
      ADC_NO_PARTIAL(Eq)
      ADC_NO_PARTIAL(Ne)
      ADC_NO_PARTIAL(Lt)
      ADC_NO_PARTIAL(Le)
      ADC_NO_PARTIAL(Gt)
      ADC_NO_PARTIAL(Ge)
      ADC_NO_PARTIAL(Cast)
      ADC_NO_PARTIAL(Bitcast)
      ADC_NO_PARTIAL(StopGradient)
      ADC_NO_PARTIAL(VecMake)
      ADC_NO_PARTIAL(VecGet)
      ADC_NO_PARTIAL(VecSet)
      ADC_NO_PARTIAL(Dot)
      ADC_NO_PARTIAL(Cross)
      ADC_NO_PARTIAL(Norm)
      ADC_NO_PARTIAL(Normalize)
      ADC_NO_PARTIAL(MatMake)
      ADC_NO_PARTIAL(MatGet)
      ADC_NO_PARTIAL(MatMul)
      ADC_NO_PARTIAL(Transpose)
      ADC_NO_PARTIAL(Det)
      ADC_NO_PARTIAL(Inverse)
      ADC_NO_PARTIAL(Outer)
      ADC_NO_PARTIAL(Identity)
      ADC_NO_PARTIAL(Shape)
      ADC_NO_PARTIAL(Load)
      ADC_NO_PARTIAL(Store)
      ADC_NO_PARTIAL(AtomicAdd)
      ADC_NO_PARTIAL(AtomicSub)
      ADC_NO_PARTIAL(AtomicMin)
      ADC_NO_PARTIAL(AtomicMax)
      ADC_NO_PARTIAL(AtomicAnd)
      ADC_NO_PARTIAL(AtomicOr)
      ADC_NO_PARTIAL(AtomicXor)
      ADC_NO_PARTIAL(AtomicExchange)
      ADC_NO_PARTIAL(AtomicCompareExchange)
      ADC_NO_PARTIAL(AddTo)
      ADC_NO_PARTIAL(Alloca)
      ADC_NO_PARTIAL(For)
      ADC_NO_PARTIAL(While)
      ADC_NO_PARTIAL(If)
      ADC_NO_PARTIAL(Parallel)
      ADC_NO_PARTIAL(ParallelOver)
      ADC_NO_PARTIAL(Call)
      ADC_NO_PARTIAL(Yield)
      ADC_NO_PARTIAL(ContinueIf)
      ADC_NO_PARTIAL(Return)
      ADC_NO_PARTIAL(Assert)
      ADC_NO_PARTIAL(Print)
      ADC_NO_PARTIAL(StackNew)
      ADC_NO_PARTIAL(StackPush)
      ADC_NO_PARTIAL(StackPop)
      ADC_NO_PARTIAL(StackTop)
      ADC_NO_PARTIAL(RowClaim)
      ADC_NO_PARTIAL(RowBase)
      ADC_NO_PARTIAL(RowCapacity)
      ADC_NO_PARTIAL(RowLoad)
      ADC_NO_PARTIAL(RowStore)
      ADC_NO_PARTIAL(StatusRaise)
#undef ADC_NO_PARTIAL
      break;
  }
  ADC_UNREACHABLE("partial of an operation that has none");
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
  if (op >= Op::VecMake && op <= Op::Identity) return false;
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
  if (op == Op::Rem || op == Op::Mod) return {static_cast<uint8_t>(second ? 3 : 0), false};
  if (op == Op::Pow) {
    bool linear = function.IsConstant(function.Operand(inst, 1)) && !second &&
                  ir::FloatFromBits(function.TypeOf(function.Operand(inst, 1)).scalar,
                                    function.ConstantOf(function.Operand(inst, 1)).bits) == 1;
    return {static_cast<uint8_t>(linear ? 0 : 3), second};
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
  return PartialBuilder(builder, operands, result, s).Build(op, n);
}

}  // namespace adc::autodiff
