// Local arrays with indices that are only known at run time, in the adjoint sweep.
//
// The *adjoint* of an array is a second array, made zero where the reverse of the unit begins that makes the
// first; loads add to it, stores consume it.
//
// The contents of an array that the primal sweep has replayed are taken back store by store
// (primal_sweep_arrays.cpp).

#include "autodiff/adjoint_sweep.h"
#include "autodiff/rules.h"

namespace adc::autodiff {

using ir::Inst, ir::Op, ir::Value;

void AdjointSweep::MakeAdjointArrays(std::span<const Inst> insts) {
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

void AdjointSweep::RestoreArrayWrite(Inst inst) {
  const ir::InstData& data = primal_[inst];
  Value old = values_.Get(AuxKey(inst));
  if (!old.Valid())
    old = Unavailable(data.span, "what the cell held", primal_.TypeOf(primal_.AccessValues(inst)[0]));
  std::vector<Value> indices = AtAll(primal_.Indices(inst));
  builder_.Access(Op::Store, At(primal_.Operand(inst, 0)), indices, {&old, 1}, data.attr, data.component);
}

void AdjointSweep::PopUndo(const Tape& tape, Value iteration) {
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
    PopSnapshot(tape.undo.snapshots[n], tape.undo_stacks.snapshots[n], iteration);
  }
}

void AdjointSweep::PopSnapshot(Value array, Value stack, Value iteration) {
  bool vector = primal_.TypeOf(array).Components() > 1;
  ForEachElement(array, [&](Value index, uint32_t c) {
    Value element = builder_.StackPop(stack, SnapshotSlot(array, iteration, index, c));
    builder_.Access(Op::Store, At(array), {&index, 1}, {&element, 1}, ir::kNoAttr, vector ? c : ir::kNoAttr);
  });
}

}  // namespace adc::autodiff
