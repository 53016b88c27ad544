#include "codegen/spirv/in_step.h"

#include <algorithm>

#include "analysis/walk.h"
#include "codegen/common/questions.h"

namespace adc::codegen::spirv {

using ir::Op, ir::OpClass;

InStep::InStep(const ir::Function& kernel, ir::Inst parallel, const PrivateSums& sums,
               bool (*can_add)(ir::Scalar))
    : kernel_(&kernel), sums_(&sums), can_add_(can_add) {
  ir::Block body = kernel[parallel].regions[0];
  inside_.Insert(body);
  analysis::ForEachInst(kernel, body, [&](ir::Inst inst) {
    for (ir::Block region : kernel[inst].regions) {
      if (region.Valid()) inside_.Insert(region);
    }
  });
  any_ = Find(body);
  sums_ = nullptr;
}

bool InStep::IsFree(Op op) {
  // The vectors that are left by now are components of parameters.
  constexpr OpClass kFree[] = {OpClass::Arithmetic, OpClass::Compare, OpClass::Bits,
                               OpClass::Convert,    OpClass::Shape,   OpClass::Vector};
  return std::find(std::begin(kFree), std::end(kFree), ir::ClassOf(op)) != std::end(kFree);
}

bool InStep::IsShared(ir::Value value) const {
  return !inside_.Has(kernel_->DefiningBlock(value)) || shared_.Has(value);
}

bool InStep::IntoOneCell(ir::Inst sum) const {
  std::span<const ir::Value> indices = kernel_->Indices(sum);
  return std::all_of(indices.begin(), indices.end(), [&](ir::Value v) { return IsShared(v); });
}

std::vector<ir::Inst> InStep::SumsFrom(ir::Block block, uint32_t position, uint32_t last) const {
  const std::vector<ir::Inst>& insts = (*kernel_)[block].insts;
  std::vector<ir::Inst> sums{insts[position]};
  for (++position; position < last; ++position) {
    ir::Inst next = insts[position];
    bool is_sum = Has(next) && ir::IsAccess((*kernel_)[next].op);
    if (!is_sum || !IsOneElement(*kernel_, sums[0], next)) break;
    sums.push_back(next);
  }
  return sums;
}

bool InStep::Find(ir::Block block) {
  bool found = false;
  for (ir::Inst inst : (*kernel_)[block].insts) {
    const ir::InstData& data = (*kernel_)[inst];
    std::span<const ir::Value> operands = kernel_->Operands(inst);
    bool shared = std::all_of(operands.begin(), operands.end(), [&](ir::Value v) { return IsShared(v); });
    if (IsFree(data.op) && shared) shared_.Insert(kernel_->Result(inst));
    if (!FindIn(inst)) continue;
    in_step_.Insert(inst);
    found = true;
  }
  return found;
}

bool InStep::FindIn(ir::Inst inst) {
  const ir::InstData& data = (*kernel_)[inst];
  if (data.op == Op::If) {
    bool then = Find(data.regions[0]);
    return Find(data.regions[1]) || then;
  }
  if (data.op == Op::For) {
    if (!IsShared(kernel_->Operand(inst, 0)) || !IsShared(kernel_->Operand(inst, 1))) return false;
    shared_.Insert((*kernel_)[data.regions[0]].params[0]);
    return Find(data.regions[0]);
  }
  return ir::IsAccess(data.op) && sums_->gathered_of.Get(inst) != ir::kNoAttr &&
         can_add_(UpdateScalar(*kernel_, inst));
}

}  // namespace adc::codegen::spirv
