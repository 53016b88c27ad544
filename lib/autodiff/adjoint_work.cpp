#include "autodiff/adjoint_work.h"

#include "autodiff/rules.h"

namespace adc::autodiff {

using ir::Block, ir::Function, ir::Inst, ir::Op, ir::Value;

uint8_t ActiveOperandMask(const Function& function, const Activity& activity, Inst inst) {
  uint8_t mask = 0;
  std::span<const Value> operands = function.Operands(inst);
  for (uint32_t n = 0; n < operands.size() && n < 8; ++n)
    if (activity.Active(operands[n])) mask = static_cast<uint8_t>(mask | (1u << n));
  return mask;
}

AdjointWork::AdjointWork(const Function& function, const Activity& activity)
    : function_(function), activity_(activity) {
  for (Inst inst : function[function.Body()].insts) Compute(inst);
}

bool AdjointWork::Compute(Inst inst) {
  const ir::InstData& data = function_[inst];
  bool work = false;
  bool memory = false;
  if (ir::HasRegions(data.op)) {
    for (Block region : data.regions) {
      if (!region.Valid()) continue;
      for (Inst inner : function_[region].insts) {
        if (Compute(inner)) work = true;
        if (touches_memory_[inner]) memory = true;
      }
    }
    for (uint32_t n = 0; n < data.result_count; ++n)
      if (activity_.ActiveResult(inst, n)) work = true;
  } else if (ir::IsAccess(data.op)) {
    bool adjoint_memory = activity_.ActiveMemory(function_.Operand(inst, 0), data.attr);
    if (data.op == Op::Load)
      work = adjoint_memory && activity_.ActiveResult(inst);
    else if (data.op == Op::AtomicAdd || data.op == Op::AtomicSub)
      work = adjoint_memory && activity_.Active(function_.AccessValues(inst)[0]);
    else
      work = adjoint_memory;
    memory = work;
  } else if (data.op == Op::Call && function_.RegionCount(inst) != 0) {
    // The function's own vjp is all of its reverse sweep: its body has none.
    for (Value v : function_.Operands(inst)) {
      ir::Type type = function_.TypeOf(v);
      bool active = type.IsBuffer() ? activity_.ActiveMemory(v, ir::kNoAttr) : activity_.Active(v);
      work = work || active;
    }
    memory = work;
  } else if (PassesDerivative(data.op)) {
    for (uint32_t n = 0; n < data.result_count; ++n)
      if (activity_.ActiveResult(inst, n)) work = true;
    // A parameter's adjoint lives in memory.
    if (work)
      for (Value v : function_.Operands(inst))
        memory = memory || (function_.IsParameter(v) && activity_.Active(v));
  } else if (data.op == Op::Yield) {
    return false;
  }
  has_[inst] = work ? 1 : 0;
  touches_memory_[inst] = memory ? 1 : 0;
  return work;
}

std::vector<Value> AdjointWork::ReadsOf(Inst inst) const {
  std::vector<Value> reads;
  if (!Has(inst)) return reads;
  const ir::InstData& data = function_[inst];
  std::span<const Value> operands = function_.Operands(inst);
  if (ir::IsAccess(data.op)) {
    for (Value index : function_.Indices(inst)) reads.push_back(index);
    if (data.op == Op::AtomicMin || data.op == Op::AtomicMax)
      reads.push_back(function_.AccessValues(inst)[0]);
    return reads;
  }
  if (data.op == Op::For) {
    reads.insert(reads.end(), operands.begin(), operands.begin() + 3);
  } else if (data.op == Op::If) {
    reads.push_back(operands[0]);
  } else if (analysis::IsParallel(data.op) || data.op == Op::Call) {
    reads.insert(reads.end(), operands.begin(), operands.end());
  } else if (data.op == Op::VecGet || data.op == Op::VecSet) {
    reads.push_back(operands[1]);
  } else if (data.op == Op::MatGet) {
    reads.push_back(operands[1]);
    reads.push_back(operands[2]);
  }
  if (!HasPartials(data.op)) return reads;
  PartialReads partial = ReadsOfPartials(function_, inst, ActiveOperandMask(function_, activity_, inst));
  for (uint32_t n = 0; n < operands.size(); ++n)
    if (partial.operands & (1u << n)) reads.push_back(operands[n]);
  if (partial.result) reads.push_back(function_.Result(inst));
  return reads;
}

}  // namespace adc::autodiff
