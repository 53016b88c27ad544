#include "analysis/decisions.h"

#include "analysis/memory.h"

// A walk backwards from everything that control reads. Rows of lowered adstacks are told apart by the type of
// their elements alone: what is marked beyond need is only computed as it is written.

namespace adc::analysis {

using ir::Inst;
using ir::Op;
using ir::Value;
using ir::ValueKind;

Decisions::Decisions(const ir::Function& function) : function_(function) {
  Structure structure(function);
  std::vector<Value> roots;
  for (Inst inst : structure.Order()) {
    const ir::InstData& data = function[inst];
    uint32_t first = 0, count = 0;
    if (data.op == Op::If || data.op == Op::ContinueIf) count = 1;
    if (data.op == Op::For) count = 3;
    if (data.op == Op::While && (data.flags & ir::kFlagHasMax) != 0) count = 1;
    if (data.op == Op::Parallel) count = data.operand_count;
    bool is_stack = data.op == Op::StackPush || data.op == Op::StackPop || data.op == Op::StackTop;
    if (is_stack && (data.flags & ir::kFlagHasSlot) != 0) {
      first = data.operand_count - 1;
      count = 1;
    }
    if (data.op == Op::RowLoad || data.op == Op::RowStore) first = count = 1;
    for (uint32_t n = first; n < first + count; ++n) roots.push_back(function.Operand(inst, n));
    if (data.op == Op::RowStore) row_stores_.push_back(inst);
    if (data.op == Op::StackPush || WritesMemory(data.op))
      written_into_[function.Operand(inst, 0)].push_back(inst);
  }
  for (Value root : roots) Visit(root);
  while (!pending_.empty()) {
    Value value = pending_.back();
    pending_.pop_back();
    if (function[value].kind == ValueKind::BlockParam) VisitParam(value);
    if (function[value].kind == ValueKind::Result) VisitResult(value);
  }
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
  uint32_t first = is_for ? 3 : (data.flags & ir::kFlagHasMax) != 0 ? 1 : 0;
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
  if (data.op == Op::RowLoad) VisitRows(function_.TypeOf(value).scalar);
  bool is_pop = data.op == Op::StackPop || data.op == Op::StackTop;
  if (is_pop || (ReadsMemory(data.op) && data.operand_count > 0)) VisitContent(function_.Operand(inst, 0));
  for (Value operand : function_.Operands(inst)) Visit(operand);
}

void Decisions::VisitContent(Value container) {
  if (!containers_.Insert(container)) return;
  for (Inst write : written_into_.Get(container)) {
    for (Value operand : function_.Operands(write)) Visit(operand);
  }
}

void Decisions::VisitRows(ir::Scalar scalar) {
  uint64_t bit = uint64_t{1} << static_cast<unsigned>(scalar);
  if ((rows_seen_ & bit) != 0) return;
  rows_seen_ |= bit;
  for (Inst store : row_stores_) {
    Value value = function_.Operand(store, 2);
    if (function_.TypeOf(value).scalar == scalar) Visit(value);
  }
}

}  // namespace adc::analysis
