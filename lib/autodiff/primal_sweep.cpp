// The primal sweep of a unit: the slice of it that the adjoint sweep reads.
//
//   for %t in 0..%n carry(%a = %v0) {          %s = stack.new f32
//     %b = add (sin %a), 0.1           =>      for %t in 0..%n carry(%a = %v0) {
//     yield %b                                   stack.push %s, %a at %t
//   }                                            ... yield %b }
//
// Loops are in primal_sweep_loop.cpp, branches in primal_sweep_branch.cpp.

#include "autodiff/primal_sweep.h"

#include <algorithm>

namespace adc::autodiff {

using ir::Inst, ir::Op, ir::Value;

void PrimalSweep::RefillScratch(std::span<const analysis::Task> tasks) {
  Mode mode;
  mode.roots.push_back(kWholeKernel);
  const std::vector<Inst>& body = primal_[primal_.Body()].insts;
  for (const analysis::Task& task : tasks) {
    size_t mark = values_.Mark();
    for (uint32_t n = task.first; n < task.last; ++n) {
      EmitInst(body[n], mode);
      bool fills = primal_[body[n]].op == Op::Store && plan_.RefilledScratch(primal_.Operand(body[n], 0));
      if (fills) Recompute(body[n]);
    }
    values_.Rollback(mark);
  }
}

void PrimalSweep::EmitUnit(std::span<const Inst> insts) {
  Mode mode;
  mode.own_unit = true;
  Emit(insts, mode);
}

const Tape* PrimalSweep::TapeOf(Inst loop) const {
  auto found = tapes_.find(loop);
  return found != tapes_.end() ? &found->second : nullptr;
}

bool PrimalSweep::Wanted(const Mode& mode, Value v) const {
  if (mode.own_unit && plan_.ToBeRecorded(v)) return true;
  return std::any_of(mode.roots.begin(), mode.roots.end(), [&](Inst root) { return plan_.Forward(root, v); });
}

bool PrimalSweep::IsReread(const Mode& mode, Value v) const {
  bool own = mode.own_unit && plan_.ToBeRecorded(v);
  return (own ? plan_.StoreOf(v) : plan_.LastingStoreOf(v)).Valid();
}

bool PrimalSweep::ControlRuns(Inst inst, const Mode& mode) const {
  if (mode.own_unit && plan_.RunsForward(inst)) return true;
  for (Inst root : mode.roots) {
    for (uint32_t n = 0; n < primal_[inst].result_count; ++n) {
      Value result = primal_.Result(inst, n);
      if (plan_.Forward(root, result) && !plan_.LastingStoreOf(result).Valid()) return true;
    }
    for (Value array : plan_.OuterArrays(inst))
      if (plan_.Replays(root, array) || plan_.Forward(root, array)) return true;
  }
  return false;
}

void PrimalSweep::Emit(std::span<const Inst> insts, const Mode& mode) {
  for (Inst inst : insts) EmitInst(inst, mode);
}

void PrimalSweep::EmitInst(Inst inst, const Mode& mode) {
  const ir::InstData& data = primal_[inst];
  if (ir::IsTerminator(data.op) || analysis::IsParallel(data.op)) return;
  builder_.SetSpan(data.span);
  for (uint32_t n = 0; n < data.result_count; ++n) {
    Value v = primal_.Result(inst, n);
    if (IsReread(mode, v) && Wanted(mode, v) && !IsAvailable(v)) LoadStored(v);
  }
  if (data.op == Op::If) {
    if (ControlRuns(inst, mode)) EmitIf(inst, mode);
  } else if (IsSerialLoop(data.op)) {
    if (ControlRuns(inst, mode)) EmitLoop(inst, mode);
  } else if (analysis::WritesMemory(data.op)) {
    if (!plan_.OuterArrays(inst).empty()) EmitArrayWrite(inst, mode);
  } else if (data.result_count > 0) {
    bool wanted = false;
    for (uint32_t n = 0; n < data.result_count; ++n)
      if (Wanted(mode, primal_.Result(inst, n))) wanted = true;
    if (wanted && !IsAvailable(primal_.Result(inst))) Recompute(inst);
  }
  for (uint32_t n = 0; n < data.result_count; ++n) PushIfTaped(primal_.Result(inst, n));
}

void PrimalSweep::PushIfTaped(Value v) {
  auto due = due_pushes_.find(v);
  if (due == due_pushes_.end()) return;
  for (Value stack : due->second) builder_.StackPush(stack, At(v), push_slot_);
}

}  // namespace adc::autodiff
