// Constants of the module as values, specialisation constants as parameters.

#include "diag/errors/shader.h"
#include "frontend/spirv/values.h"

namespace adc::frontend::spirv {

Value Values::ZeroOf(Id type) {
  std::vector<ir::Type> leaves;
  types_.Leaves(type, leaves);
  Value value;
  for (ir::Type leaf : leaves) value.parts.push_back(b_.Splat(b_.Zero(leaf.ScalarType()), leaf));
  return value;
}

uint64_t Values::ConstantBits(const Instruction& inst) const {
  uint32_t width = ir::BitWidth(types_.Register(inst.type).scalar);
  uint64_t bits = inst.Number(0, width == 64);
  return width == 16 ? bits & 0xFFFF : bits;
}

/// A constant that is a number: a parameter of the kernel where it can be specialised and no option has.
Value Values::NumberOf(const Instruction& inst) {
  ir::Type type = types_.Register(inst.type);
  for (const SpecConstant& spec : specs_) {
    if (spec.id != inst.result || spec.given || spec.frozen) continue;
    ir::Value& param = spec_params_[inst.result];
    if (!param.Valid()) {
      ir::ShaderBinding binding;
      binding.kind = ir::ShaderBinding::Kind::SpecConstant;
      binding.number = spec.number;
      binding.default_bits = inst.op == spv::OpSpecConstant       ? ConstantBits(inst)
                             : inst.op == spv::OpSpecConstantTrue ? 1
                                                                  : 0;
      param = resources_.AddScalar(spec.name.empty() ? "constant_" + std::to_string(spec.number) : spec.name,
                                   type, binding);
    }
    return {{param}};
  }
  if (type.IsFloat()) {
    auto given = types_.SpecBits(inst.result);
    return {{b_.Bits(type, given ? *given : ConstantBits(inst))}};
  }
  return {{b_.Int(type, types_.Integer(inst.result).value_or(0))}};
}

/// An operation of SPIR-V on specialisation constants.
Value Values::ComputedConstant(const Instruction& inst) {
  if (std::optional<int64_t> known = types_.Integer(inst.result)) {
    bool depends = false;
    for (const SpecConstant& spec : specs_) depends = depends || (!spec.given && !spec.frozen);
    if (!depends) return {{b_.Int(types_.Register(inst.type), *known)}};
  }
  // The operation as an instruction of its own.
  Instruction operation = inst;
  operation.op = static_cast<spv::Op>(inst.At(0));
  operation.operands = inst.operands.subspan(1);
  std::optional<Value> value = Compute(operation);
  if (!value)
    Refuse(diag::E0854, inst.span, "an operation on specialisation constants that kernels do not have",
           "give them values with --spec");
  return std::move(*value);
}

Value Values::ConstantValue(const Instruction& inst, uint32_t depth) {
  if (depth > kDeepest) Refuse(diag::E0852, inst.span, "constants nest deeper than 64 levels");
  Spend(1, inst);
  auto of = [&](Id id) {
    const Instruction* part = binary_.Find(id);
    Require(part != nullptr, inst, "a constant names a part that nothing defines");
    return ConstantValue(*part, depth + 1);
  };
  switch (static_cast<uint32_t>(inst.op)) {
    case spv::OpConstantNull:
    case spv::OpUndef:
      return ZeroOf(inst.type);
    case spv::OpConstantTrue:
    case spv::OpConstantFalse:
    case spv::OpConstant:
    case spv::OpSpecConstantTrue:
    case spv::OpSpecConstantFalse:
    case spv::OpSpecConstant:
      return NumberOf(inst);
    case spv::OpConstantComposite:
    case spv::OpSpecConstantComposite:
      return Composed(inst, of);
    case spv::OpSpecConstantOp:
      return ComputedConstant(inst);
    default:
      Refuse(diag::E0854, inst.span, "a value is used that kernels do not have",
             "docs/shaders.md lists what is taken");
  }
}

}  // namespace adc::frontend::spirv
