#include "counting/repeatable.h"

#include "analysis/loops.h"

// A forward analysis over one task, repeated until nothing changes, since carried values and local memory go
// round loops. The set of lost values only grows, so the analysis ends after a few more rounds than loops
// nest.
//
// A load is lost where the task may have written its memory before it: earlier in the text, or in an earlier
// turn of a loop around both. Writes of other iterations at the same time do not matter: a load of those
// would be a race.

namespace adc::counting {

using adstack::PlannedStack, adstack::TaskPlan;
using ir::Block, ir::Inst, ir::Op, ir::Value;

Repeatable::Repeatable(const analysis::Structure& structure, const analysis::Task& task, const TaskPlan& plan,
                       bool keeps_rows, const IndexSet<ir::Value>& absent, const IndexSet<ir::Inst>& racing)
    : structure_(structure),
      from_(structure.function()),
      memory_(structure),
      keeps_rows_(keeps_rows),
      absent_(absent),
      racing_(racing) {
  for (const PlannedStack& stack : plan.stacks) {
    if (stack.storage == artifact::Storage::kRow) in_rows_.Insert(stack.stack);
  }
  const std::vector<Inst>& body = from_[from_.Body()].insts;
  if (task.first == task.last) return;
  begin_ = structure.Position(body[task.first]);
  do {
    changed_ = false;
    for (uint32_t place = task.first; place < task.last; ++place) Visit(body[place], false);
  } while (changed_);
}

bool Repeatable::AnyLost(std::span<const Value> values) const {
  for (Value value : values) {
    if (Lost(value)) return true;
  }
  return false;
}

void Repeatable::LoseResults(Inst inst) {
  for (uint32_t n = 0; n < from_[inst].result_count; ++n) Lose(from_.Result(inst, n));
}

void Repeatable::Visit(Inst inst, bool under_lost) {
  const ir::InstData& data = from_[inst];
  if (data.op == Op::If) {
    bool lost = under_lost || Lost(from_.Operand(inst, 0));
    if (lost) LoseControl(inst);
    VisitRegions(inst, lost);
    for (uint32_t n = 0; n < data.result_count; ++n) {
      bool either = lost;
      for (Block region : data.regions) either = either || Lost(from_.Operand(from_.Terminator(region), n));
      if (either) Lose(from_.Result(inst, n));
    }
    return;
  }
  if (analysis::IsSerialLoop(data.op)) return VisitLoop(inst, under_lost);
  if (analysis::IsParallel(data.op)) return VisitRegions(inst, under_lost);
  if (data.op == Op::StackPush || data.op == Op::StackPop || data.op == Op::StackTop)
    return VisitStack(inst, under_lost);
  if (analysis::ReadsMemory(data.op) || analysis::WritesMemory(data.op)) return VisitAccess(inst, under_lost);
  if (under_lost || AnyLost(from_.Operands(inst))) LoseResults(inst);
}

void Repeatable::VisitRegions(Inst inst, bool under_lost) {
  for (uint32_t region = 0; region < from_.RegionCount(inst); ++region) {
    for (Inst inner : from_[from_[inst].regions[region]].insts) Visit(inner, under_lost);
  }
}

void Repeatable::VisitLoop(Inst inst, bool under_lost) {
  const ir::InstData& data = from_[inst];
  uint32_t fixed = data.operand_count - data.result_count;
  bool lost = under_lost || AnyLost(from_.Operands(inst).first(fixed)) ||
              (data.op == Op::While && Lost(analysis::ConditionOf(from_, inst)));
  if (lost) LoseControl(inst);
  if (lost && data.op == Op::For) Lose(from_[data.regions[0]].params[0]);
  for (uint32_t n = 0; n < data.result_count; ++n) {
    if (!lost && !Lost(analysis::CarriedInit(from_, inst, n)) &&
        !Lost(analysis::CarriedYield(from_, inst, n)))
      continue;
    Lose(analysis::CarriedParam(from_, inst, n));
    Lose(from_.Result(inst, n));
  }
  VisitRegions(inst, lost);
}

void Repeatable::VisitStack(Inst inst, bool under_lost) {
  Value stack = from_.Operand(inst, 0);
  if (under_lost || AnyLost(from_.Operands(inst))) LoseContent(stack);
  bool gone = !keeps_rows_ && in_rows_.Has(stack);
  if (gone || LostContent(stack)) LoseResults(inst);
}

void Repeatable::VisitAccess(Inst inst, bool under_lost) {
  const ir::InstData& data = from_[inst];
  bool lost = under_lost || AnyLost(from_.Operands(inst));
  if (analysis::IsLocalAccess(from_, inst)) {
    Value array = from_.Operand(inst, 0);
    if (lost && analysis::WritesMemory(data.op)) LoseContent(array);
    if (lost || LostContent(array)) LoseResults(inst);
    return;
  }
  bool absent = absent_.Has(from_.Operand(inst, 0));
  bool differs = absent || racing_.Has(inst) || MayHaveWritten(inst);
  if (lost || differs || analysis::WritesMemory(data.op)) LoseResults(inst);
}

bool Repeatable::IsLeftOut(Inst inst, const std::function<bool(Value)>& has_stack) const {
  const ir::InstData& data = from_[inst];
  if (data.op == Op::Assert || data.op == Op::Print) return true;
  if (data.op == Op::If || analysis::IsSerialLoop(data.op)) return LostControl(inst);
  if (data.op == Op::StackNew) return !has_stack(from_.Result(inst));
  if (data.op == Op::StackPush || data.op == Op::StackPop || data.op == Op::StackTop) {
    bool has_slot = data.Has(ir::Word::HasSlot);
    return !has_stack(from_.Operand(inst, 0)) ||
           (has_slot && Lost(from_.Operand(inst, data.operand_count - 1)));
  }
  if (analysis::WritesMemory(data.op)) {
    if (from_.IsParameter(from_.Operand(inst, 0)) || AnyLost(from_.Operands(inst))) return true;
  }
  return data.result_count > 0 && !analysis::IsParallel(data.op) && Lost(from_.Result(inst, 0));
}

bool Repeatable::MayHaveWritten(Inst load) const {
  uint32_t memory_class = memory_.ClassOf(load);
  if (!memory_.IsWritten(memory_class)) return false;
  if (memory_.IsWrittenBetween(memory_class, begin_, structure_.Position(load))) return true;
  for (Inst around : structure_.Enclosing(load)) {
    if (analysis::IsSerialLoop(from_[around].op) && memory_.IsWrittenIn(memory_class, around)) return true;
  }
  return false;
}

}  // namespace adc::counting
