// Local arrays with indices that are only known at run time, in the primal sweep.
//
// The *contents* are needed when a load is. Then the array is part of the state of the sweep, under one
// contract: the reverse of a unit finds the array as it was before the unit ran and leaves it so. The primal
// sweep replays the stores, which brings it to the state after the unit; the adjoint sweep takes each store
// back when it comes past it (adjoint_sweep_arrays.cpp):
//
//   store %a[%i], %v      primal sweep:   %old = load %a[%i]   store %a[%i], %v
//                         adjoint sweep:  store %a[%i], %old
//
// An array that a loop fills before anything reads it stays as it is (to_be_recorded.cpp). Otherwise a loop
// replays its stores in its forward run. Before an iteration is reversed the array must be taken back to
// where that iteration began: old values of stores that stand at the top of the body are pushed and popped
// one by one (with the index, unless it can be had from the loop's own index); where stores stand deeper, the
// whole array is pushed at the start of every iteration.

#include "autodiff/primal_sweep.h"

namespace adc::autodiff {

using ir::Inst, ir::Value;

void PrimalSweep::EmitArrayWrite(Inst inst, const Mode& mode) {
  Value array = primal_.Operand(inst, 0);
  bool replayed = mode.own_unit && plan_.WritesReplayedArray(inst);
  for (Inst root : mode.roots)
    if (plan_.Replays(root, array) || plan_.Forward(root, array)) replayed = true;
  if (!replayed) return;
  const ir::InstData& data = primal_[inst];
  auto due = due_undo_.find(inst);
  if (mode.own_unit || due != due_undo_.end()) {
    std::vector<Value> indices = AtAll(primal_.Indices(inst));
    Value old = builder_.Load(At(array), indices, data.attr, data.component);
    names_.Name(old, "old");
    if (mode.own_unit) values_.Set(AuxKey(inst), old);
    if (due != due_undo_.end()) {
      auto [index_stack, value_stack] = due->second;
      if (index_stack.Valid()) builder_.StackPush(index_stack, indices[0], push_slot_);
      builder_.StackPush(value_stack, old, push_slot_);
    }
  }
  Recompute(inst);
}

void PrimalSweep::PushUndo(Inst loop) {
  const Tape& tape = tapes_.find(loop)->second;
  for (size_t n = 0; n < tape.undo.stores.size(); ++n)
    due_undo_[tape.undo.stores[n]] = tape.undo_stacks.stores[n];
  for (size_t n = 0; n < tape.undo.snapshots.size(); ++n) {
    PushSnapshot(tape.undo.snapshots[n], tape.undo_stacks.snapshots[n], push_slot_);
  }
}

void PrimalSweep::PushSnapshot(Value array, Value stack, Value iteration) {
  bool vector = primal_.TypeOf(array).Components() > 1;
  ForEachElement(array, [&](Value index, uint32_t c) {
    Value element = builder_.Load(At(array), {&index, 1}, ir::kNoAttr, vector ? c : ir::kNoAttr);
    builder_.StackPush(stack, element, SnapshotSlot(array, iteration, index, c));
  });
}

}  // namespace adc::autodiff
