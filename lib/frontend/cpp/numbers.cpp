#include "frontend/cpp/numbers.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace adc::frontend {

/// A conversion of numbers, with C++'s meaning where it has one.
Value Numbers::Convert(Value value, Type to) {
  Type from = TypeOf(value);
  if (from == to) return value;
  if (to.IsBool() && to.IsScalar()) return Make(Op::Ne, {value, writer_.Zero(from)});
  return writer_.Cast(value, to);
}

/// An index as the IR takes one.
Value Numbers::Index(Value value) {
  Type type = TypeOf(value);
  if (type.IsIndex()) return value;
  bool wide = type.scalar == Scalar::U32 || type.scalar == Scalar::U64;
  return writer_.Cast(value, wide ? ir::kI64 : ir::kI32);
}

/// The index without a widening that it has been through.
Value Numbers::Narrow(Value index) {
  index = Index(index);
  if (TypeOf(index) == ir::kI32) return index;
  if (std::optional<int64_t> number = function_.IntegerConstant(index)) {
    bool fits = *number >= INT32_MIN && *number <= INT32_MAX;
    return fits ? writer_.I32(static_cast<int32_t>(*number)) : index;
  }
  ir::Inst inst = function_.DefiningInst(index);
  if (!inst.Valid() || function_[inst].op != Op::Cast) return index;
  Value from = function_.Operand(inst, 0);
  return TypeOf(from) == ir::kI32 ? from : index;
}

/// The sum of two indices: of buffers, which may be long, in 64 bits.
Value Numbers::Further(Value a, Value b, bool in_buffer) {
  a = Narrow(a), b = Narrow(b);
  if (function_.IntegerConstant(a) == 0) return b;
  if (function_.IntegerConstant(b) == 0) return a;
  Type type = in_buffer ? ir::kI64 : ir::kI32;
  return Make(Op::Add, {writer_.Cast(a, type), writer_.Cast(b, type)});
}

Value Numbers::ZeroOf(Type type) {
  Value zero = writer_.Zero(type.ScalarType());
  if (type.IsScalar()) return zero;
  return Composed(type, std::vector<Value>(type.Components(), zero));
}

/// A vector or matrix, a matrix row by row.
Value Numbers::Composed(Type type, std::span<const Value> parts) {
  return function_.Result(writer_.Create(type.IsVec() ? Op::VecMake : Op::MatMake, parts, {&type, 1}));
}

/// A number of a vector or matrix.
Value Numbers::PartOf(Value whole, uint32_t n) {
  Type type = TypeOf(whole);
  if (type.IsVec()) return Make(Op::VecGet, {whole, Number(n)});
  return Make(Op::MatGet, {whole, Number(n / type.columns), Number(n % type.columns)});
}

/// `(v + c) - c` of a large c rounds v to a whole number: its derivative is 0, where those of the sum and the
/// difference would be 1.
bool Numbers::Rounds(Value sum, Value less) const {
  Type type = TypeOf(less);
  ir::Inst made = function_.DefiningInst(sum);
  if (!function_.IsConstant(less) || !made.Valid() || function_[made].op != Op::Add) return false;
  std::span<const Value> parts = function_.Operands(made);
  auto same = [&](Value v) {
    return function_.IsConstant(v) && function_.ConstantOf(v).bits == function_.ConstantOf(less).bits;
  };
  if (!same(parts[0]) && !same(parts[1])) return false;
  uint64_t bits = function_.ConstantOf(less).bits;
  if (type == ir::kF32) return std::fabs(std::bit_cast<float>(static_cast<uint32_t>(bits))) >= 0x1p23F;
  return type == ir::kF64 && std::fabs(std::bit_cast<double>(bits)) >= 0x1p52;
}

namespace {

std::optional<Op> OperationOf(clang::BinaryOperatorKind kind) {
  struct Row {
    clang::BinaryOperatorKind kind;
    Op op;
  };
  static constexpr Row kRows[] = {
      {clang::BO_Add, Op::Add}, {clang::BO_Sub, Op::Sub}, {clang::BO_Mul, Op::Mul}, {clang::BO_Div, Op::Div},
      {clang::BO_Rem, Op::Rem}, {clang::BO_Shl, Op::Shl}, {clang::BO_Shr, Op::Shr}, {clang::BO_And, Op::And},
      {clang::BO_Or, Op::Or},   {clang::BO_Xor, Op::Xor}, {clang::BO_LT, Op::Lt},   {clang::BO_GT, Op::Gt},
      {clang::BO_LE, Op::Le},   {clang::BO_GE, Op::Ge},   {clang::BO_EQ, Op::Eq},   {clang::BO_NE, Op::Ne},
  };
  const Row* row = std::ranges::find(kRows, kind, &Row::kind);
  return row != std::end(kRows) ? std::optional(row->op) : std::nullopt;
}

}  // namespace

Value Numbers::Arithmetic(clang::BinaryOperatorKind kind, Value a, Value b, const clang::Expr* at) {
  Type type = TypeOf(a);
  bool shift = kind == clang::BO_Shl || kind == clang::BO_Shr;
  if (shift) b = Convert(b, type);
  if (!(TypeOf(b) == type)) Refuse(at, "the operands have different types");
  std::optional<Op> known = OperationOf(kind);
  if (!known) Refuse(at, "kernels do not have this operator");
  Op op = *known;
  SetPlace(at->getSourceRange());
  bool ordered = op == Op::Lt || op == Op::Gt || op == Op::Le || op == Op::Ge;
  if (type.IsBool() && ordered) {
    a = writer_.Cast(a, ir::kI32);
    b = writer_.Cast(b, ir::kI32);
  }
  bool rounds = op == Op::Sub && Rounds(a, b);
  Value result = Make(op, {a, b});
  return rounds ? Make(Op::StopGradient, {result}) : result;
}

std::optional<Value> Numbers::ConstantValue(const clang::APValue& value, QualType type) {
  std::optional<Type> leaf = ScalarOf(type);
  return leaf ? ConstantValue(value, *leaf) : std::nullopt;
}

std::optional<Value> Numbers::ConstantValue(const clang::APValue& value, Type type) {
  if (value.isInt()) return writer_.Int(type, value.getInt().getExtValue());
  if (!value.isFloat()) return std::nullopt;
  llvm::APInt bits = value.getFloat().bitcastToAPInt();
  return writer_.Bits(type, bits.getZExtValue());
}

/// The value of an expression that Clang can evaluate: a number that reads nothing of the kernel.
std::optional<Value> Numbers::TryConstant(const clang::Expr* expression) {
  if (!ScalarOf(expression->getType()) || expression->isValueDependent()) return std::nullopt;
  clang::Expr::EvalResult result;
  if (!expression->EvaluateAsRValue(result, context_) || result.HasSideEffects) return std::nullopt;
  return ConstantValue(result.Val, expression->getType());
}

}  // namespace adc::frontend
