#include "product/task_uses.h"

#include "analysis/memory.h"
#include "analysis/tasks.h"
#include "ir/op.h"

namespace adc::product {

namespace {

/// Adds what one instruction does, without those inside of it.
void AddUse(const ir::Function& kernel, ir::Inst inst, std::vector<ParamUse>& uses) {
  if (kernel[inst].operand_count == 0) return;
  ir::Value memory = kernel.Operand(inst, 0);
  if (!kernel.IsParameter(memory)) return;
  uint32_t param = kernel[memory].number;
  ir::Op op = kernel[inst].op;
  if (op == ir::Op::Shape) {
    bool narrow = kernel.TypeOf(kernel.Result(inst)).Is(ir::Scalar::I32);
    if (narrow && kernel.TypeOf(memory).IsBuffer())
      uses[param].shape_as_i32 |= uint32_t{1} << kernel[inst].attr;
    return;
  }
  uses[param].reads = uses[param].reads || analysis::ReadsMemory(op);
  uses[param].writes = uses[param].writes || analysis::WritesMemory(op);
}

void AddAll(const ir::Function& kernel, ir::Inst inst, std::vector<ParamUse>& uses) {
  AddUse(kernel, inst, uses);
  for (ir::Block region : kernel[inst].regions) {
    if (!region.Valid()) continue;
    for (ir::Inst inner : kernel[region].insts) AddAll(kernel, inner, uses);
  }
}

}  // namespace

std::vector<ParamUse> UsesOf(const ir::Function& kernel) {
  std::vector<ParamUse> uses(kernel.Params().size());
  for (uint32_t block = 0; block < kernel.BlockCount(); ++block) {
    for (ir::Inst inst : kernel[ir::Block(block)].insts) AddUse(kernel, inst, uses);
  }
  return uses;
}

std::vector<std::vector<ParamUse>> TaskUsesOf(const ir::Function& kernel) {
  std::vector<std::vector<ParamUse>> tasks;
  for (const analysis::Task& task : analysis::TasksOf(kernel)) {
    std::vector<ParamUse>& uses = tasks.emplace_back(kernel.Params().size());
    for (uint32_t at = task.first; at < task.last; ++at)
      AddAll(kernel, kernel[kernel.Body()].insts[at], uses);
  }
  return tasks;
}

}  // namespace adc::product
