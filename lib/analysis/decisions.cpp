#include "analysis/decisions.h"

#include <algorithm>

#include "analysis/memory.h"
#include "ir/either_side.h"

// A walk backwards from every place that decides. Tapes of one number, as tasks have them, are taken for one:
// a value that is marked without need is only computed as it is written.

namespace adc::analysis {

using ir::Inst;
using ir::Op;
using ir::Value;
using ir::ValueKind;

bool IsDecisive(const ir::Function& function, Inst inst) {
  const ir::InstData& data = function[inst];
  if (data.operand_count == 0 || !function.TypeOf(function.Operand(inst, 0)).IsFloat()) return false;
  if (ir::IsCompare(data.op)) return data.attr != ir::kEitherSide;
  // A derivative that is zero everywhere, of what is not constant: the value jumps.
  if (ir::InfoOf(data.op).derivative == ir::Derivative::Zero) return data.op != Op::StopGradient;
  if (data.op == Op::Abs) return data.attr != ir::kEitherSide;
  if (data.op == Op::Cast || data.op == Op::Bitcast) return !function.TypeOf(function.Result(inst)).IsFloat();
  return data.op == Op::Rem || data.op == Op::Mod || data.op == Op::Min || data.op == Op::Max ||
         data.op == Op::Clamp;
}

Decisions::Decisions(const ir::Function& function) : function_(function) {
  Structure structure(function);
  for (uint32_t n = 0; n < function.params.size(); ++n)
    if (function.params[n].alias) aliased_.push_back(function.Params()[n]);
  for (Inst inst : structure.Order()) {
    const ir::InstData& data = function[inst];
    if (data.op == Op::RowStore) row_stores_[data.attr].push_back(inst);
    if (data.op == Op::StackPush || WritesMemory(data.op))
      written_into_[function.Operand(inst, 0)].push_back(inst);
  }
  for (Inst inst : structure.Order()) VisitRoots(inst);
  while (!pending_.empty()) {
    Value value = pending_.back();
    pending_.pop_back();
    if (function[value].kind == ValueKind::BlockParam) VisitParam(value);
    if (function[value].kind == ValueKind::Result) VisitResult(value);
  }
}

void Decisions::VisitRoots(Inst inst) {
  const ir::InstData& data = function_[inst];
  uint32_t first = 0, count = 0;
  if (data.op == Op::If || data.op == Op::ContinueIf) count = 1;
  if (data.op == Op::For) count = 3;
  if (data.op == Op::While && data.Has(ir::Word::HasMax)) count = 1;
  if (data.op == Op::Parallel) count = data.operand_count;
  bool is_stack = data.op == Op::StackPush || data.op == Op::StackPop || data.op == Op::StackTop;
  if (is_stack && data.Has(ir::Word::HasSlot)) {
    first = data.operand_count - 1;
    count = 1;
  }
  if (data.op == Op::RowLoad || data.op == Op::RowStore) first = count = 1;
  if (data.op == Op::VecGet || data.op == Op::MatGet || data.op == Op::VecSet) {
    first = 1;
    count = data.op == Op::MatGet ? 2 : 1;
  }
  for (uint32_t n = first; n < first + count; ++n) Visit(function_.Operand(inst, n));
  if (ir::IsAccess(data.op)) {
    for (Value index : function_.Indices(inst)) Visit(index);
    // The gradient finds the winner by comparing what was written with what is there.
    bool compares =
        data.op == Op::AtomicMin || data.op == Op::AtomicMax || data.op == Op::AtomicCompareExchange;
    if (compares)
      for (Value value : function_.AccessValues(inst)) Visit(value);
  }
  if (IsDecisive(function_, inst)) Visit(function_.Result(inst));
}

void Decisions::Visit(Value value) {
  if (seen_.Insert(value)) pending_.push_back(value);
}

void Decisions::VisitParam(Value value) {
  ir::Block block(function_[value].owner);
  Inst owner = function_[block].owner;
  if (!owner.Valid()) return;
  uint32_t number = function_[value].number;
  if (function_[owner].op == Op::While) VisitCarried(owner, number);
  if (function_[owner].op == Op::For && number > 0) VisitCarried(owner, number - 1);
}

void Decisions::VisitCarried(Inst loop, uint32_t number) {
  const ir::InstData& data = function_[loop];
  bool is_for = data.op == Op::For;
  uint32_t first = is_for ? 3 : data.Has(ir::Word::HasMax) ? 1 : 0;
  Visit(function_.Operand(loop, first + number));
  Visit(function_.Operand(function_.Terminator(data.regions[is_for ? 0 : 1]), number));
}

void Decisions::VisitResult(Value value) {
  Inst inst(function_[value].owner);
  insts_.Insert(inst);
  const ir::InstData& data = function_[inst];
  uint32_t number = function_[value].number;
  if (data.op == Op::If) {
    for (ir::Block region : data.regions) Visit(function_.Operand(function_.Terminator(region), number));
    return;
  }
  if (data.op == Op::For || data.op == Op::While) return VisitCarried(inst, number);
  if (data.op == Op::RowLoad) VisitRows(data.attr);
  bool is_pop = data.op == Op::StackPop || data.op == Op::StackTop;
  if (is_pop || (ReadsMemory(data.op) && data.operand_count > 0)) VisitContent(function_.Operand(inst, 0));
  for (Value operand : function_.Operands(inst)) Visit(operand);
}

void Decisions::VisitContent(Value container) {
  if (!containers_.Insert(container)) return;
  if (std::find(aliased_.begin(), aliased_.end(), container) != aliased_.end())
    for (Value other : aliased_) VisitContent(other);
  for (Inst write : written_into_.Get(container)) {
    for (Value operand : function_.Operands(write)) Visit(operand);
  }
}

void Decisions::VisitRows(uint32_t stack) {
  auto stores = row_stores_.find(stack);
  if (stores == row_stores_.end()) return;
  for (Inst store : stores->second) Visit(function_.Operand(store, 2));
  row_stores_.erase(stores);
}

}  // namespace adc::analysis
