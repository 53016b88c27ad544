// Result types by rule. One switch over TypeRule without a default: a new rule must say here what it gives.

#include "ir/check.h"

namespace adc::ir {
namespace {

bool IsNumber(Type t) {
  return t.IsRegister() && t.scalar != Scalar::I1;
}

std::optional<Type> Same(std::span<const Type> operands, bool fits) {
  if (!fits) return std::nullopt;
  for (Type t : operands) {
    if (!(t == operands[0])) return std::nullopt;
  }
  return operands[0];
}

/// mul: a scalar may stand on either side of a vector or matrix; div: on the right only.
std::optional<Type> Scaled(Op op, Type a, Type b) {
  if (!IsNumber(a) || !IsNumber(b)) return std::nullopt;
  if (a == b) return a;
  if (a.scalar != b.scalar) return std::nullopt;
  if (b.IsScalar()) return a;
  if (a.IsScalar() && op == Op::Mul) return b;
  return std::nullopt;
}

std::optional<Type> MatrixProduct(Type a, Type b) {
  if (!a.IsFloat() || a.scalar != b.scalar || !b.IsRegister()) return std::nullopt;
  if (a.IsMat() && b.IsMat() && a.columns == b.rows) return Type::Mat(a.scalar, a.rows, b.columns);
  if (a.IsMat() && b.IsVec() && a.columns == b.rows) return Type::Vec(a.scalar, a.rows);
  if (a.IsVec() && b.IsMat() && a.rows == b.rows) return Type::Vec(a.scalar, b.columns);
  return std::nullopt;
}

bool IsSquare(Type t) {
  return t.IsMat() && t.IsFloat() && t.rows == t.columns && t.rows <= 4;
}

}  // namespace

std::optional<Type> ResultType(Op op, std::span<const Type> operands) {
  const OpInfo& info = InfoOf(op);
  size_t given = operands.size();
  uint32_t arity = Arity(info.form);
  bool fits = arity != 0 ? given == arity : info.form == OpForm::Variadic && given != 0;
  if (!fits) return std::nullopt;
  Type a = operands[0];
  Type b = given > 1 ? operands[1] : kNoType;
  Type c = given > 2 ? operands[2] : kNoType;
  switch (info.rule) {
    case TypeRule::SameNumber:
      return Same(operands, IsNumber(a));
    case TypeRule::SameNumberScale:
      return Scaled(op, a, b);
    case TypeRule::SameFloat:
      return Same(operands, a.IsFloat());
    case TypeRule::SameInteger:
      return Same(operands, a.IsInteger());
    case TypeRule::SameBits:
      return Same(operands, a.IsInteger() || a.IsBool());
    case TypeRule::SameAny:
      return Same(operands, a.IsRegister());
    case TypeRule::Compare:
      if (!a.IsRegister() || !(a == b)) return std::nullopt;
      return a.WithScalar(Scalar::I1);
    case TypeRule::CompareOrder:
      if (!IsNumber(a) || !(a == b)) return std::nullopt;
      return a.WithScalar(Scalar::I1);
    case TypeRule::Classify:
      if (!a.IsFloat() || !a.IsRegister()) return std::nullopt;
      return a.WithScalar(Scalar::I1);
    case TypeRule::SelectRule:
      if (!a.IsBool() || !b.IsRegister() || !(b == c)) return std::nullopt;
      if (!a.IsScalar() && !(a == b.WithScalar(Scalar::I1))) return std::nullopt;
      return b;
    case TypeRule::VecMakeRule:
      if (operands.size() < 2 || operands.size() > kMaxVector || !a.IsScalar() || !Same(operands, true))
        return std::nullopt;
      return Type::Vec(a.scalar, static_cast<uint32_t>(operands.size()));
    case TypeRule::VecGetRule:
      if (!a.IsVec() || !b.IsIndex()) return std::nullopt;
      return a.ScalarType();
    case TypeRule::VecSetRule:
      if (!a.IsVec() || !b.IsIndex() || !(c == a.ScalarType())) return std::nullopt;
      return a;
    case TypeRule::DotRule:
      if (!a.IsVec() || !IsNumber(a) || !(a == b)) return std::nullopt;
      return a.ScalarType();
    case TypeRule::CrossRule:
      return Same(operands, a.IsVec() && IsNumber(a) && a.rows == 3);
    case TypeRule::NormRule:
      if (!a.IsVec() || !a.IsFloat()) return std::nullopt;
      return a.ScalarType();
    case TypeRule::NormalizeRule:
      return Same(operands, a.IsVec() && a.IsFloat());
    case TypeRule::MatMakeRule: {
      if (!Same(operands, IsNumber(a)) || a.IsMat()) return std::nullopt;
      auto count = static_cast<uint32_t>(operands.size());
      if (a.IsVec()) {
        if (count < 2 || count > kMaxVector) return std::nullopt;
        return Type::Mat(a.scalar, count, a.rows);
      }
      for (uint32_t n = 2; n <= kMaxVector; ++n) {
        if (n * n == count) return Type::Mat(a.scalar, n, n);
      }
      return std::nullopt;
    }
    case TypeRule::MatGetRule:
      if (!a.IsMat() || !b.IsIndex() || !c.IsIndex()) return std::nullopt;
      return a.ScalarType();
    case TypeRule::MatMulRule:
      return MatrixProduct(a, b);
    case TypeRule::TransposeRule:
      if (!a.IsMat()) return std::nullopt;
      return Type::Mat(a.scalar, a.columns, a.rows);
    case TypeRule::DetRule:
      if (!IsSquare(a)) return std::nullopt;
      return a.ScalarType();
    case TypeRule::InverseRule:
      if (!IsSquare(a)) return std::nullopt;
      return a;
    case TypeRule::OuterRule:
      if (!a.IsVec() || !b.IsVec() || !IsNumber(a) || a.scalar != b.scalar) return std::nullopt;
      return Type::Mat(a.scalar, a.rows, b.rows);
    case TypeRule::CastRule:
    case TypeRule::BitcastRule:
    case TypeRule::IdentityRule:
    case TypeRule::RandomRule:
    case TypeRule::ShapeRule:
    case TypeRule::LoadRule:
    case TypeRule::StoreRule:
    case TypeRule::TexelRule:
    case TypeRule::AtomicRule:
    case TypeRule::AtomicIntegerRule:
    case TypeRule::AtomicCompareRule:
    case TypeRule::AllocaRule:
    case TypeRule::ControlRule:
    case TypeRule::CallRule:
    case TypeRule::TerminatorRule:
    case TypeRule::AssertRule:
    case TypeRule::PrintRule:
    case TypeRule::BarrierRule:
    case TypeRule::StackNewRule:
    case TypeRule::StackPushRule:
    case TypeRule::StackPopRule:
    case TypeRule::RowClaimRule:
    case TypeRule::RowLoadRule:
    case TypeRule::RowStoreRule:
    case TypeRule::StatusRule:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace adc::ir
