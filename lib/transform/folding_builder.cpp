// Folding while building. A rule may look at the instructions that define the operands, never further than
// two steps, so that building stays linear. Each rule states its condition; its result goes through Make
// again, whose operands are then simpler.

#include "transform/folding_builder.h"

#include <cmath>

#include "ir/eval.h"
#include "ir/number.h"
#include "support/check.h"

namespace adc::transform {

using ir::Inst, ir::Op, ir::OpClass, ir::Scalar, ir::Type, ir::Value;

namespace {

/// Operations that every machine computes to the same bits.
bool IsExactEverywhere(Op op, Type result) {
  switch (ir::ClassOf(op)) {
    case OpClass::Compare:
    case OpClass::Bits:
    case OpClass::Convert:
    case OpClass::Composed:
      return true;
    case OpClass::Arithmetic:
      return !result.IsFloat() || ir::Has(op, ir::Exact);
    case OpClass::Function:
    case OpClass::Vector:
    case OpClass::Random:
    case OpClass::Shape:
    case OpClass::Access:
    case OpClass::Atomic:
    case OpClass::Local:
    case OpClass::Control:
    case OpClass::Terminator:
    case OpClass::Check:
    case OpClass::Stack:
    case OpClass::Row:
      return false;
  }
  ADC_UNREACHABLE("class of an operation");
}

/// The power of two 1/number where both are normal numbers of the format; 0 otherwise.
double ExactReciprocal(Scalar scalar, double number) {
  int exponent = 0;
  if (!std::isfinite(number) || std::fabs(std::frexp(number, &exponent)) != 0.5) return 0.0;
  int limit = scalar == Scalar::F16 ? 14 : scalar == Scalar::F32 ? 126 : 1022;
  if (exponent - 1 > limit || exponent - 1 < -limit) return 0.0;
  return 1.0 / number;
}

}  // namespace

Inst FoldingBuilder::Defined(Value v, Op op) const {
  Inst inst = function_.DefiningInst(v);
  return inst.Valid() && function_[inst].op == op ? inst : Inst();
}

bool FoldingBuilder::IsInt(Value v, int64_t number) const {
  if (!function_.IsConstant(v)) return false;
  const ir::ConstantData& constant = function_.ConstantOf(v);
  return !constant.type.IsFloat() &&
         constant.bits == ir::WrapInteger(constant.type.scalar, static_cast<uint64_t>(number));
}

bool FoldingBuilder::IsFloat(Value v, double number) const {
  if (!function_.IsConstant(v)) return false;
  const ir::ConstantData& constant = function_.ConstantOf(v);
  return constant.type.IsFloat() && constant.bits == ir::FloatToBits(constant.type.scalar, number);
}

Value FoldingBuilder::Make(Op op, std::span<const Value> operands) {
  // Literals stand on the right, where both the rules below and the reader look for them.
  if (operands.size() == 2 && function_.IsConstant(operands[0]) && !function_.IsConstant(operands[1]) &&
      (ir::Has(op, ir::Commutes) || ir::IsCompare(op))) {
    Value exchanged[] = {operands[1], operands[0]};
    return Make(ir::IsCompare(op) ? ir::Mirrored(op) : op, exchanged);
  }
  if (Value known = Fold(op, operands); known.Valid()) return known;
  if (emitter_ == nullptr) return Builder::Make(op, operands);
  std::vector<Type> types;
  for (Value v : operands) types.push_back(function_.TypeOf(v));
  std::optional<Type> result = ir::ResultType(op, types);
  ADC_CHECK(result.has_value(), "operands of a built operation do not fit its rule");
  return emitter_->EmitPure(op, operands, *result, ir::kNoAttr, span_);
}

Value FoldingBuilder::MakePure(Op op, std::span<const Value> operands, Type type, uint32_t attr) {
  if (op == Op::Bitcast) {
    if (function_.TypeOf(operands[0]) == type) return operands[0];
    if (function_.IsConstant(operands[0])) {
      if (Value folded = FoldConstants(op, operands, type); folded.Valid()) return folded;
    }
  }
  if (emitter_ != nullptr) return emitter_->EmitPure(op, operands, type, attr, span_);
  Inst inst = Create(op, operands, {&type, 1});
  function_[inst].attr = attr;
  return function_.Result(inst);
}

Value FoldingBuilder::Cast(Value value, Type to) {
  Type from = function_.TypeOf(value);
  if (from == to) return value;
  if (function_.IsConstant(value)) {
    if (Value folded = FoldConstants(Op::Cast, {&value, 1}, to); folded.Valid()) return folded;
  }
  // There and back through a type that holds every value of the first.
  if (Inst inner = Defined(value, Op::Cast); inner.Valid() && from.IsScalar()) {
    Value origin = function_.Operand(inner, 0);
    Type first = function_.TypeOf(origin);
    bool wider = BitWidth(from.scalar) > BitWidth(first.scalar);
    bool integers = first.IsInteger() && from.IsInteger();
    bool floats = first.IsFloat() && from.IsFloat();
    if (first == to && ((integers && BitWidth(from.scalar) >= BitWidth(first.scalar)) || (floats && wider)))
      return origin;
  }
  return MakePure(Op::Cast, {&value, 1}, to, ir::kNoAttr);
}

Value FoldingBuilder::Fold(Op op, std::span<const Value> operands) {
  if (op == Op::VecGet || op == Op::VecMake || op == Op::MatGet || op == Op::MatMake)
    return FoldVector(op, operands);
  bool constants = true;
  for (Value v : operands) {
    if (!function_.TypeOf(v).IsScalar()) return {};
    constants = constants && function_.IsConstant(v);
  }
  if (operands.empty()) return {};
  if (constants) {
    Type types[3];
    if (operands.size() > 3) return {};
    for (size_t n = 0; n < operands.size(); ++n) types[n] = function_.TypeOf(operands[n]);
    std::optional<Type> result = ir::ResultType(op, {types, operands.size()});
    if (!result) return {};
    if (Value folded = FoldConstants(op, operands, *result); folded.Valid()) return folded;
  }
  if (op == Op::Select) return FoldSelect(operands);
  if (op == Op::StopGradient) {
    // Only floats carry derivatives.
    Value v = operands[0];
    bool inert = !function_.TypeOf(v).IsFloat() || Defined(v, Op::StopGradient).Valid();
    return inert ? v : Value();
  }
  if (ir::IsCompare(op)) return FoldCompare(op, operands);
  Type type = function_.TypeOf(operands[0]);
  if (type.IsBool()) return FoldBool(op, operands);
  if (type.IsInteger()) return FoldInteger(op, operands);
  return FoldFloat(op, operands);
}

Value FoldingBuilder::FoldConstants(Op op, std::span<const Value> operands, Type result) {
  if (!result.IsScalar() || operands.size() > 3) return {};
  Type types[3];
  uint64_t bits[3];
  for (size_t n = 0; n < operands.size(); ++n) {
    const ir::ConstantData& constant = function_.ConstantOf(operands[n]);
    types[n] = constant.type;
    bits[n] = constant.bits;
  }
  if (!IsExactEverywhere(op, result)) return {};
  std::optional<uint64_t> value =
      ir::EvaluateScalar(op, {types, operands.size()}, result, {bits, operands.size()});
  if (!value) return {};
  if (result.IsFloat() && std::isnan(ir::FloatFromBits(result.scalar, *value))) return {};
  return Bits(result, *value);
}

Value FoldingBuilder::FoldInteger(Op op, std::span<const Value> operands) {
  Value a = operands[0];
  Type type = function_.TypeOf(a);
  if (op == Op::Neg) {
    if (Inst inner = Defined(a, Op::Neg); inner.Valid()) return function_.Operand(inner, 0);
    if (Inst inner = Defined(a, Op::Sub); inner.Valid())
      return Make(Op::Sub, {function_.Operand(inner, 1), function_.Operand(inner, 0)});
    return {};
  }
  if (op == Op::Not) {
    if (Inst inner = Defined(a, Op::Not); inner.Valid()) return function_.Operand(inner, 0);
    return {};
  }
  if (op == Op::Clamp && operands[1] == operands[2]) return operands[1];
  if (operands.size() != 2) return {};
  Value b = operands[1];
  bool b_constant = function_.IsConstant(b);
  auto constant_of = [&](Value v) { return static_cast<int64_t>(function_.ConstantOf(v).bits); };
  auto sum_of = [&](int64_t x, int64_t y) {
    return Int(type, static_cast<int64_t>(static_cast<uint64_t>(x) + static_cast<uint64_t>(y)));
  };
  if (op == Op::Add) {
    if (IsInt(b, 0)) return a;
    if (b_constant) {
      if (Inst inner = Defined(a, Op::Add);
          inner.Valid() && function_.IsConstant(function_.Operand(inner, 1)))
        return Make(Op::Add, {function_.Operand(inner, 0),
                              sum_of(constant_of(function_.Operand(inner, 1)), constant_of(b))});
      if (Inst inner = Defined(a, Op::Sub);
          inner.Valid() && function_.IsConstant(function_.Operand(inner, 0)))
        return Make(Op::Sub, {sum_of(constant_of(function_.Operand(inner, 0)), constant_of(b)),
                              function_.Operand(inner, 1)});
    }
    if (Inst inner = Defined(a, Op::Sub); inner.Valid() && function_.Operand(inner, 1) == b)
      return function_.Operand(inner, 0);
    if (Inst inner = Defined(b, Op::Sub); inner.Valid() && function_.Operand(inner, 1) == a)
      return function_.Operand(inner, 0);
    if (Inst inner = Defined(b, Op::Neg); inner.Valid())
      return Make(Op::Sub, {a, function_.Operand(inner, 0)});
    return {};
  }
  if (op == Op::Sub) {
    if (IsInt(b, 0)) return a;
    if (a == b) return Int(type, 0);
    if (IsInt(a, 0)) return Make(Op::Neg, {b});
    if (b_constant && IsSigned(type.scalar))
      return Make(Op::Add, {a, Int(type, static_cast<int64_t>(0 - function_.ConstantOf(b).bits))});
    if (Inst inner = Defined(a, Op::Add); inner.Valid()) {
      if (function_.Operand(inner, 0) == b) return function_.Operand(inner, 1);
      if (function_.Operand(inner, 1) == b) return function_.Operand(inner, 0);
    }
    if (Inst inner = Defined(b, Op::Add); inner.Valid() &&
                                          function_.IsConstant(function_.Operand(inner, 1)) &&
                                          function_.Operand(inner, 0) == a)
      return Int(type, static_cast<int64_t>(0 - function_.ConstantOf(function_.Operand(inner, 1)).bits));
    if (Inst inner = Defined(b, Op::Neg); inner.Valid())
      return Make(Op::Add, {a, function_.Operand(inner, 0)});
    return {};
  }
  if (op == Op::Mul) {
    if (IsInt(b, 1)) return a;
    if (IsInt(b, 0)) return b;
    if (IsInt(b, -1) && IsSigned(type.scalar)) return Make(Op::Neg, {a});
    if (b_constant) {
      if (Inst inner = Defined(a, Op::Mul);
          inner.Valid() && function_.IsConstant(function_.Operand(inner, 1))) {
        uint64_t product =
            function_.ConstantOf(function_.Operand(inner, 1)).bits * function_.ConstantOf(b).bits;
        return Make(Op::Mul, {function_.Operand(inner, 0), Int(type, static_cast<int64_t>(product))});
      }
    }
    return {};
  }
  if (op == Op::Div || op == Op::FloorDiv || op == Op::CeilDiv) {
    if (IsInt(b, 1)) return a;
    if (IsInt(a, 0) || IsInt(b, 0)) return Int(type, 0);
    return {};
  }
  if (op == Op::Rem || op == Op::Mod) {
    if (IsInt(b, 1) || IsInt(a, 0) || IsInt(b, 0)) return Int(type, 0);
    return {};
  }
  if (op == Op::Min || op == Op::Max) return a == b ? a : Value();
  if (op == Op::And) {
    if (a == b || IsInt(b, -1)) return a;
    return IsInt(b, 0) ? b : Value();
  }
  if (op == Op::Or) {
    if (a == b || IsInt(b, 0)) return a;
    return IsInt(b, -1) ? b : Value();
  }
  if (op == Op::Xor) {
    if (a == b) return Int(type, 0);
    return IsInt(b, 0) ? a : Value();
  }
  if (op == Op::Shl || op == Op::Shr) {
    if (IsInt(a, 0)) return a;
    bool by_nothing = b_constant && (function_.ConstantOf(b).bits & (BitWidth(type.scalar) - 1)) == 0;
    return by_nothing ? a : Value();
  }
  return {};
}

Value FoldingBuilder::FoldFloat(Op op, std::span<const Value> operands) {
  Value a = operands[0];
  Type type = function_.TypeOf(a);
  bool fast = config_.floats == FloatRules::Fast;
  auto negated = [&](Value v) {
    Inst inner = Defined(v, Op::Neg);
    return inner.Valid() ? function_.Operand(inner, 0) : Value();
  };
  if (operands.size() == 1) {
    if (op == Op::Neg) {
      if (Value inner = negated(a); inner.Valid()) return inner;
      return {};
    }
    if (op == Op::Abs) {
      if (Defined(a, Op::Abs).Valid()) return a;
      if (Value inner = negated(a); inner.Valid()) return Make(Op::Abs, {inner});
      return {};
    }
    if (op == Op::Floor || op == Op::Ceil || op == Op::Round || op == Op::Trunc) {
      bool integral = Defined(a, Op::Floor).Valid() || Defined(a, Op::Ceil).Valid() ||
                      Defined(a, Op::Round).Valid() || Defined(a, Op::Trunc).Valid();
      return integral ? a : Value();
    }
    if (op == Op::Cos || op == Op::Cosh || op == Op::Exp || op == Op::Exp2)
      return IsFloat(a, 0.0) ? Float(type, 1.0) : Value();
    if (op == Op::Sin || op == Op::Tan || op == Op::Sinh || op == Op::Tanh || op == Op::Asin ||
        op == Op::Atan)
      return IsFloat(a, 0.0) ? a : Value();
    if (op == Op::Log || op == Op::Log2) return IsFloat(a, 1.0) ? Zero(type) : Value();
    return {};
  }
  Value b = operands[1];
  if (op == Op::Fma) {
    Value c = operands[2];
    if (IsFloat(b, 1.0)) return Make(Op::Add, {a, c});
    if (IsFloat(a, 1.0)) return Make(Op::Add, {b, c});
    if (IsFloat(c, -0.0) || (fast && IsFloat(c, 0.0))) return Make(Op::Mul, {a, b});
    if (fast && (IsFloat(a, 0.0) || IsFloat(b, 0.0))) return c;
    return {};
  }
  if (operands.size() != 2) return {};
  if (op == Op::Add) {
    if (IsFloat(b, -0.0) || (fast && IsFloat(b, 0.0))) return a;
    if (Value inner = negated(b); inner.Valid()) return Make(Op::Sub, {a, inner});
    if (Value inner = negated(a); inner.Valid()) return Make(Op::Sub, {b, inner});
    return {};
  }
  if (op == Op::Sub) {
    if (IsFloat(b, 0.0) || (fast && IsFloat(b, -0.0))) return a;
    if (IsFloat(a, -0.0) || (fast && IsFloat(a, 0.0))) return Make(Op::Neg, {b});
    if (fast && a == b) return Zero(type);
    if (Value inner = negated(b); inner.Valid()) return Make(Op::Add, {a, inner});
    return {};
  }
  if (op == Op::Mul) {
    if (IsFloat(b, 1.0)) return a;
    if (IsFloat(b, -1.0)) return Make(Op::Neg, {a});
    if (fast && (IsFloat(b, 0.0) || IsFloat(b, -0.0))) return Zero(type);
    Value inner_a = negated(a), inner_b = negated(b);
    if (inner_a.Valid() && inner_b.Valid()) return Make(Op::Mul, {inner_a, inner_b});
    if (inner_a.Valid() && function_.IsConstant(b)) return Make(Op::Mul, {inner_a, Make(Op::Neg, {b})});
    // The sign goes outward, where a sum takes it in.
    if (inner_a.Valid()) return Make(Op::Neg, {Make(Op::Mul, {inner_a, b})});
    if (inner_b.Valid()) return Make(Op::Neg, {Make(Op::Mul, {a, inner_b})});
    return {};
  }
  if (op == Op::Div) {
    if (IsFloat(b, 1.0)) return a;
    if (IsFloat(b, -1.0)) return Make(Op::Neg, {a});
    if (function_.IsConstant(b)) {
      double number = ir::FloatFromBits(type.scalar, function_.ConstantOf(b).bits);
      if (double reciprocal = ExactReciprocal(type.scalar, number); reciprocal != 0.0)
        return Make(Op::Mul, {a, Float(type, reciprocal)});
    }
    return {};
  }
  if (op == Op::Pow) {
    if (IsFloat(b, 1.0)) return a;
    if (IsFloat(b, 2.0)) return Make(Op::Mul, {a, a});
    if (IsFloat(b, 0.0) || IsFloat(b, -0.0)) return Float(type, 1.0);
    return {};
  }
  if ((op == Op::Min || op == Op::Max) && a == b) return a;
  return {};
}

Value FoldingBuilder::FoldBool(Op op, std::span<const Value> operands) {
  Value a = operands[0];
  if (op == Op::Not) {
    Inst inner = function_.DefiningInst(a);
    if (!inner.Valid()) return {};
    Op inner_op = function_[inner].op;
    if (inner_op == Op::Not) return function_.Operand(inner, 0);
    if (!ir::IsCompare(inner_op) || !function_.TypeOf(a).IsScalar()) return {};
    bool no_nan = !function_.TypeOf(function_.Operand(inner, 0)).IsFloat();
    if (!no_nan && inner_op != Op::Eq && inner_op != Op::Ne) return {};
    return Make(ir::Inverted(inner_op), {function_.Operand(inner, 0), function_.Operand(inner, 1)});
  }
  if (operands.size() != 2) return {};
  Value b = operands[1];
  bool opposite = (Defined(a, Op::Not).Valid() && function_.Operand(function_.DefiningInst(a), 0) == b) ||
                  (Defined(b, Op::Not).Valid() && function_.Operand(function_.DefiningInst(b), 0) == a);
  if (op == Op::And) {
    if (a == b || IsInt(b, 1)) return a;
    if (IsInt(b, 0)) return b;
    return opposite ? Int(ir::kI1, 0) : Value();
  }
  if (op == Op::Or) {
    if (a == b || IsInt(b, 0)) return a;
    if (IsInt(b, 1)) return b;
    return opposite ? Int(ir::kI1, 1) : Value();
  }
  if (op == Op::Xor) {
    if (a == b) return Int(ir::kI1, 0);
    if (IsInt(b, 0)) return a;
    if (IsInt(b, 1)) return Make(Op::Not, {a});
  }
  return {};
}

Value FoldingBuilder::FoldCompare(Op op, std::span<const Value> operands) {
  Value a = operands[0], b = operands[1];
  Type type = function_.TypeOf(a);
  if (type.IsBool()) {
    bool equal = op == Op::Eq;
    if (a == b) return Int(ir::kI1, equal ? 1 : 0);
    if (IsInt(b, 1)) return equal ? a : Make(Op::Not, {a});
    if (IsInt(b, 0)) return equal ? Make(Op::Not, {a}) : a;
    return {};
  }
  if (a == b) {
    if (op == Op::Lt || op == Op::Gt) return Int(ir::kI1, 0);
    if (!type.IsFloat()) return Int(ir::kI1, op == Op::Ne ? 0 : 1);
    return {};
  }
  if (IsUnsigned(type.scalar) && IsInt(b, 0)) {
    if (op == Op::Lt) return Int(ir::kI1, 0);
    if (op == Op::Ge) return Int(ir::kI1, 1);
  }
  return {};
}

Value FoldingBuilder::FoldSelect(std::span<const Value> operands) {
  Value condition = operands[0], yes = operands[1], no = operands[2];
  if (yes == no) return yes;
  if (IsInt(condition, 1)) return yes;
  if (IsInt(condition, 0)) return no;
  if (Inst inner = Defined(condition, Op::Not); inner.Valid())
    return Make(Op::Select, {function_.Operand(inner, 0), no, yes});
  if (function_.TypeOf(yes).IsBool()) {
    if (IsInt(yes, 1) && IsInt(no, 0)) return condition;
    if (IsInt(yes, 0) && IsInt(no, 1)) return Make(Op::Not, {condition});
  }
  return {};
}

Value FoldingBuilder::FoldVector(Op op, std::span<const Value> operands) {
  if (op == Op::VecMake || op == Op::MatMake) {
    // All components of one value, in order: that value.
    Inst first = function_.DefiningInst(operands[0]);
    Op get = op == Op::VecMake ? Op::VecGet : Op::MatGet;
    if (!first.Valid() || function_[first].op != get) return {};
    Value whole = function_.Operand(first, 0);
    Type type = function_.TypeOf(whole);
    if (type.Components() != operands.size()) return {};
    if (op == Op::MatMake && type.rows != type.columns) return {};
    for (uint32_t n = 0; n < operands.size(); ++n) {
      Inst part = Defined(operands[n], get);
      if (!part.Valid() || function_.Operand(part, 0) != whole) return {};
      bool in_place = op == Op::VecMake ? IsInt(function_.Operand(part, 1), n)
                                        : IsInt(function_.Operand(part, 1), n / type.columns) &&
                                              IsInt(function_.Operand(part, 2), n % type.columns);
      if (!in_place) return {};
    }
    return whole;
  }
  Op make = op == Op::VecGet ? Op::VecMake : Op::MatMake;
  Inst whole = Defined(operands[0], make);
  if (!whole.Valid()) return {};
  Type type = function_.TypeOf(operands[0]);
  std::optional<int64_t> row = function_.IntegerConstant(operands[1]);
  if (!row || *row < 0 || *row >= type.rows) return {};
  auto position = static_cast<uint32_t>(*row);
  if (op == Op::MatGet) {
    std::optional<int64_t> column = function_.IntegerConstant(operands[2]);
    if (!column || *column < 0 || *column >= type.columns) return {};
    if (function_[whole].operand_count != type.Components()) return {};
    position = position * type.columns + static_cast<uint32_t>(*column);
  }
  return function_.Operand(whole, position);
}

}  // namespace adc::transform
