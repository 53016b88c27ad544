#include "analysis/uniform.h"

#include <algorithm>

#include "analysis/loops.h"
#include "analysis/memory.h"
#include "analysis/walk.h"

namespace adc::analysis {

using ir::Op;

Uniform::Uniform(const ir::Function& function, ir::Inst parallel) : function_(function) {
  ir::Block block = parallel.Valid() ? function[parallel].regions[0] : function.Body();
  const std::vector<ir::Value>& params = function[block].params;
  if (parallel.Valid()) {
    if (!params.empty()) varying_.Insert(params.back());
    ForEachInst(function, block, [&](ir::Inst inst) {
      if (WritesMemory(function[inst].op)) writes_.push_back(inst);
    });
  } else {
    for (ir::Value param : params) varying_.Insert(param);
  }
  // A yielded value may vary because a carried value does: repeat until no new value varies.
  do {
    changed_ = false;
    Visit(block);
  } while (changed_);
}

bool Uniform::BeginsTogether(ir::Inst loop) const {
  const ir::InstData& data = function_[loop];
  if (data.op != Op::For || !data.Has(ir::Word::Reversed)) return true;
  return !Has(function_.Operand(loop, 0)) || Has(function_.Operand(loop, 1));
}

bool Uniform::AnyVaries(std::span<const ir::Value> values) const {
  return std::any_of(values.begin(), values.end(), [&](ir::Value v) { return !Has(v); });
}

void Uniform::Visit(ir::Block block) {
  for (ir::Inst inst : function_[block].insts) VisitInst(inst);
}

/// Whether no iteration writes what `load` reads. Parameters that may overlap are one memory.
bool Uniform::IsRead(ir::Inst load) const {
  ir::Value base = function_.Operand(load, 0);
  const ir::ValueData& data = function_[base];
  if (data.kind == ir::ValueKind::Global) return true;
  if (data.kind != ir::ValueKind::BlockParam) return false;
  return std::none_of(writes_.begin(), writes_.end(), [&](ir::Inst write) {
    ir::Value other = function_.Operand(write, 0);
    if (function_[other].kind != ir::ValueKind::BlockParam) return false;
    bool both = function_.params[function_[other].number].alias && function_.params[data.number].alias;
    return both || (other == base && function_[write].attr == function_[load].attr);
  });
}

void Uniform::VisitInst(ir::Inst inst) {
  const ir::InstData& data = function_[inst];
  if (IsSerialLoop(data.op)) return VisitLoop(inst);
  if (data.op == Op::If) return VisitIf(inst);
  bool is_shared = data.op == Op::Shape || data.op == Op::RowClaim || data.op == Op::RowCapacity;
  bool is_pure = ir::InfoOf(data.op).effect == ir::Effect::Pure || (data.op == Op::Load && IsRead(inst));
  if (is_shared || (is_pure && !AnyVaries(function_.Operands(inst)))) return;
  for (uint32_t n = 0; n < data.result_count; ++n) Vary(function_.Result(inst, n));
}

void Uniform::VisitCarried(ir::Inst loop, uint32_t n) {
  ir::Value param = CarriedParam(function_, loop, n);
  bool alike = Has(CarriedInit(function_, loop, n)) && Has(CarriedYield(function_, loop, n));
  if (!alike || !BeginsTogether(loop)) Vary(param);
  if (!Has(param) || !EndsTogether(loop)) Vary(function_.Result(loop, n));
}

void Uniform::VisitLoop(ir::Inst loop) {
  const ir::InstData& data = function_[loop];
  bool is_for = data.op == Op::For;
  if (is_for && !Has(function_.Operand(loop, 0))) Vary(function_[data.regions[0]].params[0]);
  if (!is_for) Visit(data.regions[0]);
  // What says how often it runs.
  bool varies = is_for ? AnyVaries(function_.Operands(loop).first(2))
                       : !Has(ConditionOf(function_, loop)) ||
                             (data.Has(ir::Word::HasMax) && !Has(function_.Operand(loop, 0)));
  if (varies && ragged_.Insert(loop)) changed_ = true;
  Visit(LoopYieldBlock(function_, loop));
  for (uint32_t n = 0; n < data.result_count; ++n) VisitCarried(loop, n);
}

void Uniform::VisitIf(ir::Inst inst) {
  const ir::InstData& data = function_[inst];
  for (ir::Block region : data.regions) {
    if (region.Valid()) Visit(region);
  }
  bool differs = !Has(function_.Operand(inst, 0));
  for (uint32_t n = 0; n < data.result_count; ++n) {
    bool varies = differs;
    for (ir::Block region : data.regions) varies |= !Has(function_.Operand(function_.Terminator(region), n));
    if (varies) Vary(function_.Result(inst, n));
  }
}

}  // namespace adc::analysis
