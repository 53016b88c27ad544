#include "ir/eval.h"

#include "ir/scalar_math.h"

namespace adc::ir {
namespace {

/// True when `rule` takes numbers of the kind that `scalar` is.
bool Takes(TypeRule rule, Scalar scalar) {
  if (rule == TypeRule::Classify) return IsFloat(scalar);
  if (rule == TypeRule::Compare) return true;
  if (rule == TypeRule::CompareOrder) return scalar != Scalar::I1;
  return IsFloat(scalar) ? MapsFloats(rule) : IsInteger(scalar) ? MapsIntegers(rule) : MapsBools(rule);
}

uint64_t Cast(Scalar from, Scalar to, uint64_t bits) {
  return VisitScalar(from, [&](auto source) {
    using From = decltype(source);
    return VisitScalar(
        to, [&](auto target) { return ToBits(ScalarCast<decltype(target)>(FromBits<From>(bits))); });
  });
}

uint64_t Bitcast(Scalar from, Scalar to, uint64_t bits) {
  if (to == Scalar::I1) return from == Scalar::I1 ? bits & 1 : (bits != 0 ? 1 : 0);
  uint32_t width = BitWidth(from);
  uint64_t raw = width == 64 ? bits : bits & ((uint64_t{1} << width) - 1);
  return IsFloat(to) ? raw : WrapInteger(to, raw);
}

}  // namespace

std::optional<uint64_t> EvaluateScalar(Op op, std::span<const Type> operand_types, Type result,
                                       std::span<const uint64_t> operands) {
  if (!result.IsScalar() || operand_types.size() != operands.size() || operands.empty()) return std::nullopt;
  for (Type type : operand_types) {
    if (!type.IsScalar()) return std::nullopt;
  }
  const OpInfo& info = InfoOf(op);
  Scalar scalar = operand_types[0].scalar;
  if (op == Op::Cast) return Cast(scalar, result.scalar, operands[0]);
  if (op == Op::Bitcast) return Bitcast(scalar, result.scalar, operands[0]);
  if (op == Op::Select && operands.size() == 3) return (operands[0] & 1) != 0 ? operands[1] : operands[2];
  bool arithmetic = info.form == OpForm::Unary || info.form == OpForm::Binary || info.form == OpForm::Ternary;
  if (!arithmetic || !Takes(info.rule, scalar)) return std::nullopt;
  size_t count = info.form == OpForm::Unary ? 1 : info.form == OpForm::Binary ? 2 : 3;
  if (operands.size() != count) return std::nullopt;
  return VisitScalar(scalar, [&](auto type) -> std::optional<uint64_t> {
    using T = decltype(type);
    T a = FromBits<T>(operands[0]);
    if constexpr (kIsFloatType<T>) {
      if (info.rule == TypeRule::Classify) return ToBits(Classified(op, a));
    }
    if (count == 1) return ToBits(ScalarUnary(op, a));
    T b = FromBits<T>(operands[1]);
    if (IsCompare(op)) return ToBits(Compared(op, a, b));
    if (count == 2) return ToBits(ScalarBinary(op, a, b));
    T c = FromBits<T>(operands[2]);
    switch (In<ScalarTernaryOp>(op)) {
      case ScalarTernaryOp::Clamp:
        return ToBits(ScalarClamp(a, b, c));
      case ScalarTernaryOp::Fma:
        if constexpr (kIsFloatType<T>) return ToBits(ScalarFma(a, b, c));
        break;
      case ScalarTernaryOp::Select:
      case ScalarTernaryOp::Other:
        break;
    }
    return std::nullopt;
  });
}

}  // namespace adc::ir
