// The first step of a unit: its primal sweep, the slice that the adjoint sweep reads.
//
//   for %t in 0..%n carry(%a = %v0) {          %s = stack.new f32
//     %b = add (sin %a), 0.1           =>      for %t in 0..%n carry(%a = %v0) {
//     yield %b                                   stack.push %s, %a at %t
//   }                                            ... yield %b }
//
// Loops are in reverse_forward_loop.cpp, branches in reverse_widen.cpp.

#include <algorithm>

#include "autodiff/reverse_emitter.h"
#include "ir/clone.h"

namespace adc::autodiff {

using ir::Block;
using ir::Inst;
using ir::Op;
using ir::Type;
using ir::Value;

bool ReverseEmitter::Wanted(const Mode& mode, Value v) const {
  if (mode.first_step && plan_.Needed(v)) return true;
  return std::any_of(mode.roots.begin(), mode.roots.end(), [&](Inst root) { return plan_.Forward(root, v); });
}

bool ReverseEmitter::ControlRuns(Inst inst, const Mode& mode) const {
  if (mode.first_step && plan_.RunsForward(inst)) return true;
  for (Inst root : mode.roots) {
    for (uint32_t n = 0; n < primal_[inst].result_count; ++n) {
      Value result = primal_.Result(inst, n);
      if (plan_.Forward(root, result) && !plan_.StoreOf(result).Valid()) return true;
    }
    for (Value array : plan_.OuterArrays(inst))
      if (!tree_.Inside(array, root) || plan_.Forward(root, array)) return true;
  }
  return false;
}

void ReverseEmitter::EmitForward(std::span<const Inst> insts, const Mode& mode) {
  for (Inst inst : insts) EmitForwardInst(inst, mode);
}

void ReverseEmitter::EmitForwardInst(Inst inst, const Mode& mode) {
  const ir::InstData& data = primal_[inst];
  if (ir::IsTerminator(data.op) || analysis::IsParallel(data.op)) return;
  builder_.SetSpan(data.span);
  for (uint32_t n = 0; n < data.result_count; ++n) {
    Value v = primal_.Result(inst, n);
    if (plan_.StoreOf(v).Valid() && Wanted(mode, v) && !AtHand(v)) LoadStored(v);
  }
  if (data.op == Op::If) {
    if (ControlRuns(inst, mode)) EmitForwardIf(inst, mode);
  } else if (IsSerialLoop(data.op)) {
    if (ControlRuns(inst, mode)) EmitForwardLoop(inst, mode);
  } else if (analysis::WritesMemory(data.op)) {
    if (plan_.WritesNeededArray(inst)) EmitForwardArrayWrite(inst, mode);
  } else if (data.result_count > 0) {
    bool wanted = false;
    for (uint32_t n = 0; n < data.result_count; ++n)
      if (Wanted(mode, primal_.Result(inst, n))) wanted = true;
    if (wanted && !AtHand(primal_.Result(inst))) CloneForward(inst);
  }
  for (uint32_t n = 0; n < data.result_count; ++n) PushIfTaped(primal_.Result(inst, n));
}

void ReverseEmitter::PushIfTaped(Value v) {
  auto due = due_pushes_.find(v);
  if (due == due_pushes_.end()) return;
  for (Value stack : due->second) builder_.StackPush(stack, At(v), push_slot_);
}

void ReverseEmitter::LoadStored(Value v) {
  Inst store = plan_.StoreOf(v);
  const ir::InstData data = primal_[store];
  std::vector<Value> indices = AtAll(primal_.Indices(store));
  Value loaded = builder_.Load(At(primal_.Operand(store, 0)), indices, data.attr, data.component);
  names_.Name(loaded, "", primal_, v);
  values_.Set(v.raw, loaded);
}

void ReverseEmitter::CloneForward(Inst inst) {
  const ir::InstData& data = primal_[inst];
  std::vector<Value> operands = AtAll(primal_.Operands(inst));
  if (data.result_count == 1) {
    std::vector<Type> types;
    for (Value v : operands) types.push_back(built_.TypeOf(v));
    Type result_type = primal_.TypeOf(primal_.Result(inst));
    std::optional<Type> determined =
        ir::InfoOf(data.op).effect == ir::Effect::Pure ? ir::ResultType(data.op, types) : std::nullopt;
    if (determined && *determined == result_type && data.op != Op::StopGradient) {
      Value v = builder_.Make(data.op, operands);
      names_.Name(v, "", primal_, primal_.Result(inst));
      values_.Set(primal_.Result(inst).raw, v);
      return;
    }
  }
  std::vector<Type> results;
  for (uint32_t n = 0; n < data.result_count; ++n) results.push_back(primal_.TypeOf(primal_.Result(inst, n)));
  Inst copy = builder_.Create(data.op, operands, results);
  ir::CopyAttributes(data, built_[copy]);
  for (uint32_t n = 0; n < data.result_count; ++n) {
    values_.Set(primal_.Result(inst, n).raw, built_.Result(copy, n));
    names_.Name(built_.Result(copy, n), "", primal_, primal_.Result(inst, n));
  }
}

}  // namespace adc::autodiff
