#include "analysis/uniform.h"

#include <algorithm>

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
  if (data.op == Op::For) return VisitFor(inst);
  if (data.op == Op::While) return VisitWhile(inst);
  if (data.op == Op::If) return VisitIf(inst);
  bool is_shared = data.op == Op::Shape || data.op == Op::RowClaim || data.op == Op::RowCapacity;
  bool is_pure = ir::InfoOf(data.op).effect == ir::Effect::Pure || (data.op == Op::Load && IsRead(inst));
  if (is_shared || (is_pure && !AnyVaries(function_.Operands(inst)))) return;
  for (uint32_t n = 0; n < data.result_count; ++n) Vary(function_.Result(inst, n));
}

void Uniform::VisitCarried(ir::Inst loop, uint32_t n, ir::Value initial, ir::Value param, ir::Value yielded) {
  if (!Has(initial) || !Has(yielded) || !BeginsTogether(loop)) Vary(param);
  if (!Has(param) || !EndsTogether(loop)) Vary(function_.Result(loop, n));
}

void Uniform::VisitFor(ir::Inst inst) {
  const ir::InstData& data = function_[inst];
  ir::Block body = data.regions[0];
  if (AnyVaries(function_.Operands(inst).subspan(0, 2)) && ragged_.Insert(inst)) changed_ = true;
  if (!Has(function_.Operand(inst, 0))) Vary(function_[body].params[0]);
  Visit(body);
  ir::Inst end = function_.Terminator(body);
  for (uint32_t n = 0; n < data.result_count; ++n)
    VisitCarried(inst, n, function_.Operand(inst, 3 + n), function_[body].params[n + 1],
                 function_.Operand(end, n));
}

void Uniform::VisitWhile(ir::Inst inst) {
  const ir::InstData& data = function_[inst];
  bool bounded = data.Has(ir::Word::HasMax);
  ir::Block test = data.regions[0], body = data.regions[1];
  const std::vector<ir::Value>& inside = function_[body].params;
  Visit(test);
  bool varies =
      !Has(function_.Operand(function_.Terminator(test), 0)) || (bounded && !Has(function_.Operand(inst, 0)));
  if (varies && ragged_.Insert(inst)) changed_ = true;
  Visit(body);
  ir::Inst end = function_.Terminator(body);
  for (uint32_t n = 0; n < data.result_count; ++n) {
    ir::Value param = function_[test].params[n];
    VisitCarried(inst, n, function_.Operand(inst, n + (bounded ? 1 : 0)), param, function_.Operand(end, n));
    if (n < inside.size() && !Has(param)) Vary(inside[n]);
  }
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
