#include "codegen/common/questions.h"

#include <algorithm>

namespace adc::codegen {

using ir::Op;

BaseKind BaseOf(const ir::Function& kernel, ir::Inst access) {
  const ir::ValueData& base = kernel[kernel.Operand(access, 0)];
  if (base.type.IsBuffer()) return BaseKind::Buffer;
  if (base.type.IsLayout()) return BaseKind::Layout;
  return base.kind == ir::ValueKind::Global ? BaseKind::Constant : BaseKind::Local;
}

bool IsAtomicUpdate(const ir::Function& kernel, ir::Inst inst) {
  const ir::InstData& data = kernel[inst];
  BaseKind base = BaseOf(kernel, inst);
  if (base != BaseKind::Buffer && base != BaseKind::Layout) return false;
  return ir::IsAtomic(data.op) || (data.op == Op::AddTo && !data.Has(ir::Word::Plain));
}

bool IsOneElement(const ir::Function& kernel, ir::Inst a, ir::Inst b) {
  const ir::InstData &one = kernel[a], &other = kernel[b];
  auto element = [&](ir::Inst inst) { return kernel.Operands(inst).first(1u + kernel[inst].index_count); };
  return one.attr == other.attr && std::ranges::equal(element(a), element(b));
}

uint32_t ParameterComponentOf(const ir::Function& kernel, ir::Inst inst) {
  auto number = [&](uint32_t operand) {
    return static_cast<uint32_t>(*kernel.IntegerConstant(kernel.Operand(inst, operand)));
  };
  if (kernel[inst].op == Op::VecGet) return number(1);
  return number(1) * kernel.TypeOf(kernel.Operand(inst, 0)).columns + number(2);
}

}  // namespace adc::codegen
