#include "autodiff/strong_zero.h"

#include "ir/either_side.h"

namespace adc::autodiff {

using ir::Function, ir::Inst, ir::Op, ir::Value;

namespace {

Value WithoutSign(const Function& function, Value v) {
  Inst inst = v.Valid() ? function.DefiningInst(v) : Inst();
  return inst.Valid() && function[inst].op == Op::Neg ? function.Operand(inst, 0) : v;
}

}  // namespace

StrongZero::StrongZero(transform::FoldingBuilder& builder, Value s)
    : builder_(builder), s_(WithoutSign(builder.function(), s)) {}

Value StrongZero::Of(Value scaled) {
  Value is_zero = IsZeroFor(scaled);
  return is_zero.Valid() ? MaskedBy(builder_, is_zero, false, scaled) : scaled;
}

Value StrongZero::AddedTo(Value sum, Value scaled) {
  Value is_zero = IsZeroFor(scaled);
  Value more = builder_.Make(Op::Add, {sum, scaled});
  return is_zero.Valid() ? builder_.Make(Op::Select, {is_zero, sum, more}) : more;
}

Value StrongZero::IsZeroFor(Value scaled) {
  const Function& function = builder_.function();
  if (!s_.Valid() || function.IsConstant(s_) || function.IsConstant(scaled)) return {};
  if (WithoutSign(function, scaled) == s_) return {};
  if (!is_zero_.Valid()) {
    Value operands[] = {s_, builder_.Zero(function.TypeOf(s_))};
    is_zero_ = builder_.MakePure(Op::Eq, operands, ir::kI1, ir::kEitherSide);
  }
  return is_zero_;
}

Value MaskedBy(ir::Builder& builder, Value condition, bool wanted, Value v) {
  const Function& function = builder.function();
  // The sign stays outside, where a sum takes it up.
  Inst inst = function.DefiningInst(v);
  if (inst.Valid() && function[inst].op == Op::Neg) {
    Value masked = MaskedBy(builder, condition, wanted, function.Operand(inst, 0));
    return builder.Make(Op::Neg, {masked});
  }
  Value zero = builder.Zero(function.TypeOf(v));
  return wanted ? builder.Make(Op::Select, {condition, v, zero})
                : builder.Make(Op::Select, {condition, zero, v});
}

Value SeedOfStrongZero(const Function& function, Inst inst) {
  if (function[inst].op != Op::Select) return {};
  Inst test = function.DefiningInst(function.Operand(inst, 0));
  if (!test.Valid() || function[test].op != Op::Eq || function[test].attr != ir::kEitherSide) return {};
  Value zero = function.Operand(test, 1);
  bool is_zero =
      function.IsConstant(zero) && function.TypeOf(zero).IsFloat() && function.ConstantOf(zero).bits == 0;
  return is_zero ? function.Operand(test, 0) : Value();
}

}  // namespace adc::autodiff
