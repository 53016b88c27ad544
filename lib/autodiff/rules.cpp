// Which function of partials.ir an operation's partial is.
//
// In f16 almost every square overflows or vanishes, so that there whole partials are computed in f32:
// adjoints of f16 values are f32 (AdjointType), tangents are rounded once. Comparisons that choose between
// two forms of one number do not decide (ir/either_side.h).

#include "autodiff/rules.h"

#include <string>

#include "autodiff/partials.h"
#include "ir/number.h"

namespace adc::autodiff {

using ir::Builder;
using ir::Function;
using ir::Inst;
using ir::Op;
using ir::Scalar;
using ir::Type;
using ir::Value;

namespace {

constexpr uint32_t kMostOperands = 3;

/// What a power whose exponent is a constant is called, after the name of the partial by its base.
const char* PowerByConstant(double exponent) {
  if (exponent == 0) return ".zero";
  if (exponent == 1) return ".one";
  if (exponent == 2) return ".two";
  return exponent >= 0.5 ? ".large" : ".small";
}

/// The partial of `op` by operand `n`; null where it is zero. `second`: its second operand as a value of
/// `function`, if it has one.
const Partial* PartialOf(const Function& function, Op op, uint32_t n, Value second, Scalar scalar) {
  if (op != Op::Pow || n != 0 || !second.Valid() || !function.IsConstant(second))
    return Partial::Find(op, n, scalar);
  const ir::ConstantData& exponent = function.ConstantOf(second);
  return Partial::Find(op, n, scalar,
                       PowerByConstant(ir::FloatFromBits(exponent.type.scalar, exponent.bits)));
}

}  // namespace

bool HasPartials(Op op) {
  if (ir::ClassOf(op) == ir::OpClass::Vector) return false;
  for (uint32_t n = 0; n < kMostOperands; ++n)
    if (Partial::Find(op, n, Scalar::F32) != nullptr) return true;
  return false;
}

PartialReads ReadsOfPartials(const Function& function, Inst inst, uint8_t active) {
  PartialReads reads;
  uint32_t count = function[inst].operand_count;
  Value second = count > 1 ? function.Operand(inst, 1) : Value();
  for (uint32_t n = 0; n < count; ++n) {
    if (!(active & (1u << n))) continue;
    const Partial* partial = PartialOf(function, function[inst].op, n, second, Scalar::F32);
    if (partial == nullptr) continue;
    reads.operands |= partial->operands();
    reads.result |= partial->reads_result();
  }
  // It says which function is written, and costs nothing.
  if (second.Valid() && function.IsConstant(second)) reads.operands |= 2;
  return reads;
}

Value ScaledPartial(Builder& builder, Op op, uint32_t n, std::span<const Value> operands, Value result,
                    Value s) {
  const Function& function = builder.function();
  Type type = function.TypeOf(s);
  Value second = operands.size() > 1 ? operands[1] : Value();
  const Partial* partial = PartialOf(function, op, n, second, type.scalar);
  if (partial == nullptr) return builder.Zero(type);
  if (type.scalar == Scalar::F16) {
    if (!partial->is_computed()) return partial->Write(builder, operands, result, s);
    partial = PartialOf(function, op, n, second, Scalar::F32);
  }
  // Operands of f16 meet adjoints of f32.
  auto widened = [&](Value v) { return v.Valid() ? builder.Cast(v, AdjointType(function.TypeOf(v))) : v; };
  std::vector<Value> wide;
  for (Value operand : operands) wide.push_back(widened(operand));
  return builder.Cast(partial->Write(builder, wide, widened(result), widened(s)), type);
}

}  // namespace adc::autodiff
