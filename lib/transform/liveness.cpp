#include "transform/liveness.h"

#include "analysis/loops.h"
#include "analysis/memory.h"

namespace adc::transform {

using ir::Block, ir::Effect, ir::Function, ir::Inst, ir::InstData, ir::Op, ir::Value, ir::ValueKind;

namespace {

bool IsLocalContainer(ir::Type type) {
  return type.IsArray() || type.IsStack();
}

}  // namespace

Liveness::Liveness(const Function& function) : function_(function) {
  MarkRoots();
  while (!worklist_.empty()) {
    Value v = worklist_.back();
    worklist_.pop_back();
    Process(v);
  }
}

void Liveness::MarkRoots() {
  analysis::Structure structure(function_);
  std::vector<Inst> roots;
  for (Inst inst : structure.Order()) {
    const InstData& data = function_[inst];
    Effect effect = ir::InfoOf(data.op).effect;
    bool on_container =
        data.operand_count > 0 && IsLocalContainer(function_.TypeOf(function_.Operand(inst, 0)));
    if (on_container && (analysis::WritesMemory(data.op) || effect == Effect::StackOp)) {
      // Reading a slot by its number moves nothing; taking the newest value does.
      bool only_reads = data.op == Op::StackTop || (data.op == Op::StackPop && data.Has(ir::Word::HasSlot));
      if (!only_reads) writes_of_[function_.Operand(inst, 0)].push_back(inst);
      continue;
    }
    bool visible = analysis::WritesMemory(data.op) || effect == Effect::Report || data.op == Op::Call ||
                   data.op == Op::Return || data.op == Op::RowStore || data.op == Op::RowClaim;
    // A kernel that counts repeats what the launch does: a loop that never ends is the launch's to keep.
    bool may_hang = data.op == Op::While && !data.Has(ir::Word::HasMax) && !ir::IsCounting(function_.role);
    if (visible || may_hang) roots.push_back(inst);
  }
  for (Inst inst : roots) Mark(inst);
}

void Liveness::Mark(Value v) {
  if (values_.Insert(v)) worklist_.push_back(v);
}

void Liveness::Mark(Inst inst) {
  for (; inst.Valid() && insts_.Insert(inst); inst = function_[function_[inst].parent].owner) {
    const InstData& data = function_[inst];
    std::span<const Value> operands = function_.Operands(inst);
    // Carried values live one by one; bounds and conditions live with the instruction.
    if (analysis::IsSerialLoop(data.op)) operands = operands.first(data.operand_count - data.result_count);
    for (Value v : operands) Mark(v);
    if (data.op == Op::While) Mark(analysis::ConditionOf(function_, inst));
  }
}

void Liveness::Process(Value v) {
  const ir::ValueData& data = function_[v];
  if (data.kind == ValueKind::Result) {
    Inst inst(data.owner);
    Mark(inst);
    const InstData& owner = function_[inst];
    if (owner.op == Op::If) {
      for (Block region : owner.regions) Mark(function_.Operand(function_.Terminator(region), data.number));
    } else if (analysis::IsSerialLoop(owner.op)) {
      Mark(analysis::CarriedParam(function_, inst, data.number));
    }
    if (IsLocalContainer(data.type)) {
      for (Inst write : writes_of_.Get(v)) Mark(write);
    }
    return;
  }
  if (data.kind != ValueKind::BlockParam) return;
  Inst inst = function_[Block(data.owner)].owner;
  if (!inst.Valid()) return;
  Mark(inst);
  if (std::optional<uint32_t> number = analysis::CarriedNumber(function_, v)) {
    Mark(analysis::CarriedInit(function_, inst, *number));
    Mark(analysis::CarriedYield(function_, inst, *number));
  }
}

}  // namespace adc::transform
