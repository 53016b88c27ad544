#include "codegen/common/gate.h"

namespace adc::codegen {
namespace {

bool IsIdle(const ir::Function& kernel, ir::Block block) {
  for (ir::Inst inst : kernel[block].insts) {
    if (ir::InfoOf(kernel[inst].op).effect != ir::Effect::Pure && !ir::IsTerminator(kernel[inst].op))
      return false;
  }
  return true;
}

bool ComparesFloat(const ir::Function& kernel, ir::Value condition) {
  ir::Inst compared = kernel.DefiningInst(condition);
  if (!compared.Valid()) return false;
  std::span<const ir::Value> operands = kernel.Operands(compared);
  return !operands.empty() && kernel.TypeOf(operands[0]).IsFloat();
}

}  // namespace

bool HasGate(const ir::Function& kernel, ir::Inst loop) {
  ir::Inst gate;
  for (ir::Inst inst : kernel[kernel[loop].regions[0]].insts) {
    ir::Op op = kernel[inst].op;
    ir::Effect effect = ir::InfoOf(op).effect;
    if (effect == ir::Effect::Pure || effect == ir::Effect::Read || ir::IsTerminator(op)) continue;
    if (op != ir::Op::If || gate.Valid()) return false;
    gate = inst;
  }
  if (!gate.Valid() || !ComparesFloat(kernel, kernel.Operand(gate, 0))) return false;
  return IsIdle(kernel, kernel[gate].regions[0]) != IsIdle(kernel, kernel[gate].regions[1]);
}

}  // namespace adc::codegen
