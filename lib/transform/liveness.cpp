#include "transform/liveness.h"

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
    if (data.op == Op::For) operands = operands.first(3);
    if (data.op == Op::While) operands = operands.first(data.Has(ir::Word::HasMax) ? 1 : 0);
    for (Value v : operands) Mark(v);
    if (data.op == Op::While) Mark(function_.Operand(function_.Terminator(data.regions[0]), 0));
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
    } else if (owner.op == Op::For) {
      Mark(function_[owner.regions[0]].params[data.number + 1]);
    } else if (owner.op == Op::While) {
      Mark(function_[owner.regions[0]].params[data.number]);
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
  const InstData& owner = function_[inst];
  if (owner.op == Op::For && data.number > 0) {
    Mark(function_.Operand(inst, data.number + 2));
    Mark(function_.Operand(function_.Terminator(owner.regions[0]), data.number - 1));
  } else if (owner.op == Op::While) {
    uint32_t fixed = owner.Has(ir::Word::HasMax) ? 1 : 0;
    Mark(function_.Operand(inst, data.number + fixed));
    Mark(function_.Operand(function_.Terminator(owner.regions[1]), data.number));
  }
}

}  // namespace adc::transform
