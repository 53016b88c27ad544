// Which function of partials.ir an operation's partial is.
//
// In f16 almost every square overflows or vanishes, so that there whole partials are computed in f32:
// adjoints of f16 values are f32 (AdjointType), tangents are rounded once. Comparisons that choose between
// two forms of one number do not decide (ir/either_side.h).

#include "autodiff/rules.h"

#include <algorithm>
#include <string>

#include "autodiff/partials.h"
#include "ir/number.h"

namespace adc::autodiff {

using ir::Builder, ir::Function, ir::Inst, ir::Op, ir::Scalar, ir::Type, ir::Value;

namespace {

constexpr uint32_t kMostOperands = 3;

/// The end of the name of a power's partial by its base, where the exponent is a constant.
const char* PowerByConstant(double exponent) {
  if (exponent == 0) return ".zero";
  if (exponent == 1) return ".one";
  if (exponent == 2) return ".two";
  return exponent >= 0.5 ? ".large" : ".small";
}

/// The partial of `op` by operand `n`; null where it is zero. `second`: its second operand as a value of
/// `function`, if it has one.
const Partial* PartialOf(const Function& function, Op op, PartialForm form, uint32_t n, Value second,
                         Scalar scalar) {
  if (form == PartialForm::Norm) return Partial::Find(op, n, scalar, ".norm");
  if (form == PartialForm::Unit) return Partial::Find(op, n, scalar, ".unit");
  if (op != Op::Pow || n != 0 || !second.Valid() || !function.IsConstant(second))
    return Partial::Find(op, n, scalar);
  const ir::ConstantData& exponent = function.ConstantOf(second);
  return Partial::Find(op, n, scalar,
                       PowerByConstant(ir::FloatFromBits(exponent.type.scalar, exponent.bits)));
}

/// `v` is a square: which value's; else invalid.
Value RootOfSquare(const Function& function, Value v) {
  Inst inst = function.DefiningInst(v);
  if (!inst.Valid()) return {};
  if (function[inst].op == Op::Mul && function.Operand(inst, 0) == function.Operand(inst, 1))
    return function.Operand(inst, 0);
  if (function[inst].op != Op::Pow || !function.IsConstant(function.Operand(inst, 1))) return {};
  const ir::ConstantData& exponent = function.ConstantOf(function.Operand(inst, 1));
  bool two = ir::FloatFromBits(exponent.type.scalar, exponent.bits) == 2;
  return two ? function.Operand(inst, 0) : Value();
}

/// True where `v` is a sum of squares, whose roots `found` gets.
bool IsSumOfSquares(const Function& function, Value v, std::vector<Value>& found) {
  for (;;) {
    if (Value root = RootOfSquare(function, v); root.Valid()) {
      found.push_back(root);
      return true;
    }
    Inst inst = function.DefiningInst(v);
    if (!inst.Valid()) return false;
    std::span<const Value> operands = function.Operands(inst);
    if (function[inst].op == Op::Fma && operands[0] == operands[1]) {
      found.push_back(operands[0]);
      v = operands[2];
      continue;
    }
    if (function[inst].op != Op::Add) return false;
    // A sum is written from the left; its last summand may be a sum by itself.
    if (!IsSumOfSquares(function, operands[1], found)) return false;
    v = operands[0];
  }
}

bool IsNorm(const Function& function, Value v, std::vector<Value>& components) {
  Inst inst = function.DefiningInst(v);
  return inst.Valid() && function[inst].op == Op::Sqrt &&
         IsSumOfSquares(function, function.Operand(inst, 0), components);
}

}  // namespace

PartialForm FormOfPartials(const Function& function, Inst inst) {
  std::vector<Value> components;
  Op op = function[inst].op;
  if (op == Op::Sqrt && IsNorm(function, function.Result(inst), components)) return PartialForm::Norm;
  if (op != Op::Div || !IsNorm(function, function.Operand(inst, 1), components)) return PartialForm::Plain;
  Value part = function.Operand(inst, 0);
  bool among = std::find(components.begin(), components.end(), part) != components.end();
  return among ? PartialForm::Unit : PartialForm::Plain;
}

bool HasPartials(Op op) {
  if (ir::ClassOf(op) == ir::OpClass::Vector) return false;
  for (uint32_t n = 0; n < kMostOperands; ++n)
    if (Partial::Find(op, n, Scalar::F32) != nullptr) return true;
  return false;
}

PartialReads ReadsOfPartials(const Function& function, Inst inst, uint8_t active) {
  PartialReads reads;
  uint32_t count = function[inst].operand_count;
  PartialForm form = FormOfPartials(function, inst);
  Value second = count > 1 ? function.Operand(inst, 1) : Value();
  for (uint32_t n = 0; n < count; ++n) {
    if (!(active & (1u << n))) continue;
    const Partial* partial = PartialOf(function, function[inst].op, form, n, second, Scalar::F32);
    if (partial == nullptr) continue;
    reads.operands |= partial->operands();
    reads.result |= partial->reads_result();
  }
  // It says which function is written, and costs nothing.
  if (second.Valid() && function.IsConstant(second)) reads.operands |= 2;
  return reads;
}

Value ScaledPartial(Builder& builder, Op op, PartialForm form, uint32_t n, std::span<const Value> operands,
                    Value result, Value s) {
  const Function& function = builder.function();
  Type type = function.TypeOf(s);
  Value second = operands.size() > 1 ? operands[1] : Value();
  const Partial* partial = PartialOf(function, op, form, n, second, type.scalar);
  if (partial == nullptr) return builder.Zero(type);
  if (type.scalar == Scalar::F16) {
    if (!partial->is_computed()) return partial->Write(builder, operands, result, s);
    partial = PartialOf(function, op, form, n, second, Scalar::F32);
  }
  // Operands of f16 meet adjoints of f32.
  auto widened = [&](Value v) { return v.Valid() ? builder.Cast(v, AdjointType(function.TypeOf(v))) : v; };
  std::vector<Value> wide;
  for (Value operand : operands) wide.push_back(widened(operand));
  return builder.Cast(partial->Write(builder, wide, widened(result), widened(s)), type);
}

}  // namespace adc::autodiff
