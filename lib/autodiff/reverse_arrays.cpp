// Local arrays with indices that are only known at run time.
//
// The *adjoint* of an array is a second array, made zero where the reverse of the unit begins that makes the
// first; loads add to it, stores consume it.
//
// The *contents* are needed when a load is. Then the array is part of the state of the sweep, under one
// contract: the reverse of a unit finds the array as it was before the unit ran and leaves it so. The first
// step replays the stores, which brings it to the state after the unit; the second step takes each store back
// when it comes past it:
//
//   store %a[%i], %v      first step:   %old = load %a[%i]   store %a[%i], %v
//                         second step:  store %a[%i], %old
//
// A loop replays its stores in its forward run. Before an iteration is reversed the array must be taken back
// to where that iteration began: old values of stores that stand at the top of the body are pushed and popped
// one by one (with the index, unless it can be had from the loop's own index); where stores stand deeper, the
// whole array is pushed at the start of every iteration.

#include "autodiff/reverse_emitter.h"
#include "autodiff/rules.h"

namespace adc::autodiff {

using ir::Inst;
using ir::Op;
using ir::Type;
using ir::Value;

void ReverseEmitter::MakeAdjointArrays(std::span<const Inst> insts) {
  for (Inst inst : insts) {
    if (primal_[inst].op != Op::Alloca) continue;
    Value array = primal_.Result(inst);
    if (!activity_.Active(array)) continue;
    builder_.SetSpan(primal_[inst].span);
    Value adjoint = builder_.Alloca(AdjointType(primal_.TypeOf(array)));
    names_.Name(adjoint, "g", primal_, array);
    adjoint_arrays_.Set(array.raw, adjoint);
  }
}

void ReverseEmitter::EmitForwardArrayWrite(Inst inst, const Mode& mode) {
  Value array = primal_.Operand(inst, 0);
  bool replayed = mode.first_step;
  for (Inst root : mode.roots)
    if (!tree_.Inside(array, root) || plan_.Forward(root, array)) replayed = true;
  if (!replayed) return;
  const ir::InstData& data = primal_[inst];
  auto due = due_undo_.find(inst);
  if (mode.first_step || due != due_undo_.end()) {
    std::vector<Value> indices = AtAll(primal_.Indices(inst));
    Value old = builder_.Load(At(array), indices, data.attr, data.component);
    names_.Name(old, "old");
    if (mode.first_step) values_.Set(AuxKey(inst), old);
    if (due != due_undo_.end()) {
      auto [index_stack, value_stack] = due->second;
      if (index_stack.Valid()) builder_.StackPush(index_stack, indices[0], push_slot_);
      builder_.StackPush(value_stack, old, push_slot_);
    }
  }
  CloneForward(inst);
}

void ReverseEmitter::RestoreArrayWrite(Inst inst) {
  const ir::InstData& data = primal_[inst];
  Value old = values_.Get(AuxKey(inst));
  if (!old.Valid())
    old = Unavailable(data.span, "what the cell held", primal_.TypeOf(primal_.AccessValues(inst)[0]));
  std::vector<Value> indices = AtAll(primal_.Indices(inst));
  builder_.Access(Op::Store, At(primal_.Operand(inst, 0)), indices, {&old, 1}, data.attr, data.component);
}

void ReverseEmitter::ForEachElement(Value array,
                                    const std::function<void(Value index, uint32_t component)>& body) {
  Type type = primal_.TypeOf(array);
  Inst loop =
      builder_.For(builder_.I32(0), builder_.I32(static_cast<int32_t>(type.count)), builder_.I32(1), {});
  ir::Block outer = builder_.block();
  builder_.SetBlock(built_[loop].regions[0]);
  for (uint32_t c = 0; c < type.Components(); ++c) body(built_[built_[loop].regions[0]].params[0], c);
  builder_.Yield({});
  builder_.SetBlock(outer);
}

Value ReverseEmitter::SnapshotSlot(Value array, Value iteration, Value index, uint32_t component) {
  Type type = primal_.TypeOf(array);
  Type wide = built_.TypeOf(iteration);
  Value words = builder_.Int(wide, static_cast<int64_t>(type.count) * type.Components());
  Value inner = builder_.Make(
      Op::Add, {builder_.Make(Op::Mul, {builder_.Cast(index, wide), builder_.Int(wide, type.Components())}),
                builder_.Int(wide, component)});
  return builder_.Make(Op::Add, {builder_.Make(Op::Mul, {iteration, words}), inner});
}

void ReverseEmitter::PushUndo(Inst loop) {
  const Tape& tape = tapes_.find(loop)->second;
  for (size_t n = 0; n < tape.undo.stores.size(); ++n)
    due_undo_[tape.undo.stores[n]] = tape.undo_stacks.stores[n];
  for (size_t n = 0; n < tape.undo.snapshots.size(); ++n) {
    Value array = tape.undo.snapshots[n];
    bool vector = primal_.TypeOf(array).Components() > 1;
    ForEachElement(array, [&](Value index, uint32_t c) {
      Value element = builder_.Load(At(array), {&index, 1}, ir::kNoAttr, vector ? c : ir::kNoAttr);
      builder_.StackPush(tape.undo_stacks.snapshots[n], element, SnapshotSlot(array, push_slot_, index, c));
    });
  }
}

void ReverseEmitter::PopUndo(Inst loop, Value iteration) {
  const Tape& tape = tapes_.find(loop)->second;
  for (size_t n = tape.undo.stores.size(); n-- > 0;) {
    Inst store = tape.undo.stores[n];
    auto [index_stack, value_stack] = tape.undo_stacks.stores[n];
    Value index =
        index_stack.Valid() ? builder_.StackPop(index_stack, iteration) : At(primal_.Indices(store)[0]);
    Value old = builder_.StackPop(value_stack, iteration);
    builder_.Access(Op::Store, At(primal_.Operand(store, 0)), {&index, 1}, {&old, 1}, primal_[store].attr,
                    primal_[store].component);
  }
  for (size_t n = 0; n < tape.undo.snapshots.size(); ++n) {
    Value array = tape.undo.snapshots[n];
    bool vector = primal_.TypeOf(array).Components() > 1;
    ForEachElement(array, [&](Value index, uint32_t c) {
      Value element =
          builder_.StackPop(tape.undo_stacks.snapshots[n], SnapshotSlot(array, iteration, index, c));
      builder_.Access(Op::Store, At(array), {&index, 1}, {&element, 1}, ir::kNoAttr,
                      vector ? c : ir::kNoAttr);
    });
  }
}

}  // namespace adc::autodiff
