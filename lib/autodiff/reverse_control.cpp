// The second step for structured control: a branch stays a branch, a loop runs the other way.
//
//   %v = if %c { ... yield %p } else { ... yield %q }
//     =>  %gx, %gy = if %c { reverse of then, seeded with %gv at %p; yield adjoints }
//                    else  { reverse of else, seeded with %gv at %q; yield adjoints }
//
// where %x, %y are the outer values that either side contributes to: an adjoint goes into the branch as the
// outer value that it is, and comes out as a result. A loop carries them:
//
//   %v = for %t in 0..%n carry(%a = %v0) { ... uses %x ... yield %b }
//     =>  %ga0, %gx1 = for %t in 0..%n reversed carry(%ga = %gv, %gx = %gx0) {
//           pop the tape;  reverse of the body, seeded with %ga at %b
//           yield (adjoint of %a), (adjoint of %x) }
//         and %ga0 is added to the adjoint of %v0.
//
// A `while` runs forward with a counter, and its reverse is a `for` over the count.

#include <algorithm>

#include "autodiff/reverse_emitter.h"

namespace adc::autodiff {

using ir::Block;
using ir::Inst;
using ir::Op;
using ir::Type;
using ir::Value;

void ReverseEmitter::CollectSlots(Inst inst, Inst outer, std::vector<uint32_t>& slots) const {
  if (!work_.Has(inst)) return;
  auto collect = [&](Value v) {
    if (!activity_.Active(v) || primal_.TypeOf(v).IsArray() || tree_.Inside(v, outer)) return;
    for (uint32_t c = 0; c < SlotCount(v); ++c) slots.push_back(SlotOf(v, c));
  };
  const ir::InstData& data = primal_[inst];
  if (data.op == Op::VecGet && primal_.IsConstant(primal_.Operand(inst, 1))) {
    Value source = primal_.Operand(inst, 0);
    if (activity_.Active(source) && !tree_.Inside(source, outer))
      slots.push_back(
          SlotOf(source, static_cast<uint32_t>(*primal_.IntegerConstant(primal_.Operand(inst, 1)))));
    return;
  }
  if (auto held = held_until_.find(inst); held != held_until_.end()) {
    Inst until = held->second;
    if (outer == until || tree_.Inside(primal_[outer].parent, until)) slots.push_back(held_slot_.at(inst));
    return;
  }
  for (Value v : primal_.Operands(inst)) collect(v);
  for (Block region : data.regions) {
    if (!region.Valid()) continue;
    for (Inst inner : primal_[region].insts) {
      if (primal_[inner].op == Op::Yield) {
        for (Value v : primal_.Operands(inner)) collect(v);
      } else {
        CollectSlots(inner, outer, slots);
      }
    }
  }
}

std::vector<uint32_t> ReverseEmitter::OuterSlots(Inst inst) const {
  std::vector<uint32_t> slots;
  const ir::InstData& data = primal_[inst];
  for (Block region : data.regions) {
    if (!region.Valid()) continue;
    for (Inst inner : primal_[region].insts) {
      if (primal_[inner].op != Op::Yield) {
        CollectSlots(inner, inst, slots);
        continue;
      }
      for (Value v : primal_.Operands(inner))
        if (activity_.Active(v) && !primal_.TypeOf(v).IsArray() && !tree_.Inside(v, inst))
          for (uint32_t c = 0; c < SlotCount(v); ++c) slots.push_back(SlotOf(v, c));
    }
  }
  std::sort(slots.begin(), slots.end());
  slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
  return slots;
}

void ReverseEmitter::ReverseUnit(Block unit, bool first_step_done) {
  std::vector<Inst> insts = tree_.InstsOf(unit);
  if (!first_step_done) {
    Mode mode;
    mode.first_step = true;
    EmitForward(insts, mode);
  }
  MakeAdjointArrays(insts);
  ReverseInsts(insts);
}

void ReverseEmitter::ReverseInsts(std::span<const Inst> insts) {
  for (size_t n = insts.size(); n-- > 0 && !failed_;) {
    builder_.SetSpan(primal_[insts[n]].span);
    ReverseInst(insts[n]);
  }
}

void ReverseEmitter::ReverseInst(Inst inst) {
  const ir::InstData& data = primal_[inst];
  if (data.op == Op::If) {
    if (work_.Has(inst) || plan_.WritesNeededArray(inst)) ReverseIf(inst);
    return;
  }
  if (IsSerialLoop(data.op)) {
    if (work_.Has(inst) || plan_.WritesNeededArray(inst)) ReverseLoop(inst);
    return;
  }
  if (ir::IsAccess(data.op)) {
    if (plan_.WritesNeededArray(inst)) RestoreArrayWrite(inst);
    if (work_.Has(inst)) ReverseAccess(inst);
    return;
  }
  if (!work_.Has(inst)) return;
  if (data.op == Op::Call) {
    ReverseCall(inst);
  } else if (ir::ClassOf(data.op) == ir::OpClass::Vector) {
    ReverseVector(inst);
  } else {
    ReverseArithmetic(inst);
  }
}

void ReverseEmitter::ReverseIf(Inst inst) {
  const ir::InstData data = primal_[inst];
  std::vector<std::pair<uint32_t, Value>> seeds;
  for (uint32_t n = 0; n < data.result_count; ++n) {
    if (!activity_.ActiveResult(inst, n)) continue;
    Value result = primal_.Result(inst, n);
    for (uint32_t c = 0; c < SlotCount(result); ++c)
      if (Value g = Adjoint(SlotOf(result, c)); g.Valid()) seeds.emplace_back(n * 256 + c, g);
  }
  if (seeds.empty() && !work_.TouchesMemory(inst) && !plan_.WritesNeededArray(inst)) return;
  std::vector<uint32_t> slots = OuterSlots(inst);
  std::vector<Type> types;
  for (uint32_t slot : slots) types.push_back(SlotType(slot));

  // The branch's own first step is done where its forward run was widened; its values are available then.
  bool widened = widened_.Has(inst);
  Inst branch = builder_.If(At(primal_.Operand(inst, 0)), types);
  Block outer = builder_.block();
  for (uint32_t side = 0; side < 2; ++side) {
    Block region = data.regions[side];
    builder_.SetBlock(built_[branch].regions[side]);
    size_t value_mark = values_.Mark();
    size_t adjoint_mark = adjoints_.Mark();
    size_t array_mark = adjoint_arrays_.Mark();
    for (auto [place, g] : seeds)
      Accumulate(primal_.Operand(primal_.Terminator(region), place / 256), g, place % 256);
    ReverseUnit(region, widened);
    builder_.SetSpan(data.span);
    std::vector<Value> yields;
    for (uint32_t slot : slots) yields.push_back(AdjointOrZero(slot));
    builder_.Yield(yields);
    values_.Rollback(value_mark);
    adjoints_.Rollback(adjoint_mark);
    adjoint_arrays_.Rollback(array_mark);
  }
  builder_.SetBlock(outer);
  for (size_t n = 0; n < slots.size(); ++n)
    adjoints_.Set(slots[n], built_.Result(branch, static_cast<uint32_t>(n)));
}

Value ReverseEmitter::UndoUpdate(Inst loop, const Restore& restore, Value state) {
  Value yielded = CarriedYield(primal_, loop, restore.state);
  Value param = CarriedParam(primal_, loop, restore.param);
  if (yielded == param) return state;
  Inst update = primal_.DefiningInst(yielded);
  bool first = primal_.Operand(update, 0) == param;
  Value other = At(primal_.Operand(update, first ? 1 : 0));
  if (primal_[update].op == Op::Xor) return builder_.Make(Op::Xor, {state, other});
  if (primal_[update].op == Op::Add) return builder_.Make(Op::Sub, {state, other});
  // state = param - other, or state = other - param.
  return first ? builder_.Make(Op::Add, {state, other}) : builder_.Make(Op::Sub, {other, state});
}

void ReverseEmitter::ReverseLoop(Inst inst) {
  const ir::InstData data = primal_[inst];
  bool is_for = data.op == Op::For;
  bool seeded = false;
  std::vector<uint32_t> carried;  // carried values with an adjoint, one entry per slot: k * 256 + component
  std::vector<Value> initial;
  for (uint32_t k = 0; k < data.result_count; ++k) {
    // The last value may be unused where the values before it are not.
    if (!activity_.Active(CarriedParam(primal_, inst, k))) continue;
    Value result = primal_.Result(inst, k);
    for (uint32_t c = 0; c < SlotCount(result); ++c) {
      Value g = Adjoint(SlotOf(result, c));
      if (g.Valid()) seeded = true;
      carried.push_back(k * 256 + c);
      initial.push_back(AdjointOrZero(SlotOf(result, c)));
    }
  }
  if (!seeded && !work_.TouchesMemory(inst) && !plan_.WritesNeededArray(inst)) return;
  std::vector<uint32_t> slots = OuterSlots(inst);
  for (uint32_t slot : slots) initial.push_back(AdjointOrZero(slot));
  const std::vector<Restore>& restores = plan_.Restores(inst);
  for (const Restore& restore : restores) initial.push_back(At(primal_.Result(inst, restore.state)));

  Inst loop;
  if (is_for) {
    std::vector<Value> bounds = AtAll(primal_.Operands(inst).subspan(0, 3));
    uint8_t flags = (data.flags & ir::kFlagReversed) ? 0 : ir::kFlagReversed;
    loop = builder_.For(bounds[0], bounds[1], bounds[2], initial, flags);
  } else {
    Value trips = values_.Get(AuxKey(inst));
    if (!trips.Valid()) trips = Unavailable(data.span, "the trip count", ir::kI32);
    loop = builder_.For(builder_.I32(0), trips, builder_.I32(1), initial, ir::kFlagReversed);
  }
  Block outer = builder_.block();
  Block body = built_[loop].regions[0];
  size_t value_mark = values_.Mark();
  size_t adjoint_mark = adjoints_.Mark();
  size_t array_mark = adjoint_arrays_.Mark();
  builder_.SetBlock(body);
  Value index = built_[body].params[0];
  if (is_for) {
    names_.Name(index, "", primal_, primal_[data.regions[0]].params[0]);
    values_.Set(primal_[data.regions[0]].params[0].raw, index);
  }
  if (auto tape = tapes_.find(inst); tape != tapes_.end()) {
    push_slot_ = Value();
    if (!tape->second.entries.empty()) {
      Value slot = IterationSlot(inst, index);
      for (const TapeEntry& entry : tape->second.entries) {
        Value popped = builder_.StackPop(entry.stack, slot);
        names_.Name(popped, "", primal_, entry.value);
        values_.Set(entry.value.raw, popped);
      }
    }
    PopUndo(inst, IterationSlot(inst, index));
  }
  for (size_t n = 0; n < restores.size(); ++n) {
    Value state = built_[body].params[1 + carried.size() + slots.size() + n];
    Value param = CarriedParam(primal_, inst, restores[n].param);
    Value before = UndoUpdate(inst, restores[n], state);
    names_.Name(before, "", primal_, param);
    values_.Set(param.raw, before);
  }
  for (size_t n = 0; n < slots.size(); ++n) {
    Value param = built_[body].params[1 + carried.size() + n];
    adjoints_.Set(slots[n], param);
  }
  std::vector<Value> seeds;
  for (size_t n = 0; n < carried.size(); ++n) {
    Value param = built_[body].params[1 + n];
    names_.Name(param, "g", primal_, CarriedParam(primal_, inst, carried[n] / 256));
    seeds.push_back(param);
  }
  for (size_t n = 0; n < carried.size(); ++n)
    Accumulate(CarriedYield(primal_, inst, carried[n] / 256), seeds[n], carried[n] % 256);
  FilledSteps filled_around = filled_steps_;
  if (fills_last_.Has(inst)) {
    bool was_reversed = is_for && (data.flags & ir::kFlagReversed) != 0;
    Value last = was_reversed ? built_.Operand(loop, 0)
                              : builder_.Make(Op::Sub, {built_.Operand(loop, 1), built_.Operand(loop, 2)});
    filled_steps_ = {StepsOf(inst), inst, builder_.Make(Op::Eq, {index, last})};
  }
  ReverseUnit(data.regions[0], false);
  filled_steps_ = filled_around;
  builder_.SetSpan(data.span);
  std::vector<Value> yields;
  for (uint32_t place : carried)
    yields.push_back(AdjointOrZero(SlotOf(CarriedParam(primal_, inst, place / 256), place % 256)));
  for (uint32_t slot : slots) yields.push_back(AdjointOrZero(slot));
  for (const Restore& restore : restores) yields.push_back(At(CarriedParam(primal_, inst, restore.state)));
  builder_.Yield(yields);
  values_.Rollback(value_mark);
  adjoints_.Rollback(adjoint_mark);
  adjoint_arrays_.Rollback(array_mark);
  builder_.SetBlock(outer);
  for (size_t n = 0; n < slots.size(); ++n)
    adjoints_.Set(slots[n], built_.Result(loop, static_cast<uint32_t>(carried.size() + n)));
  for (size_t n = 0; n < carried.size(); ++n)
    Accumulate(CarriedInit(primal_, inst, carried[n] / 256), built_.Result(loop, static_cast<uint32_t>(n)),
               carried[n] % 256);
  FlushHeldUpdates(inst);
}

}  // namespace adc::autodiff
