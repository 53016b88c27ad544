// The adjoint sweep of structured control: a branch stays a branch, a loop runs the other way.
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

#include "autodiff/adjoint_sweep.h"

#include <algorithm>

namespace adc::autodiff {

using ir::Block, ir::Inst, ir::Op, ir::Value;

AdjointSweep::AdjointSweep(ReverseKernel& kernel, PrimalSweep& primal_sweep)
    : Sweep(kernel),
      primal_sweep_(primal_sweep),
      slots_(primal_),
      held_(primal_, tree_, work_, slots_),
      outer_(primal_, activity_, tree_, work_, slots_, held_),
      adjoints_(kernel, slots_),
      zeros_(primal_, activity_) {}

void AdjointSweep::ReverseTask(const analysis::Task& task) {
  const std::vector<Inst>& body = primal_[primal_.Body()].insts;
  std::vector<Inst> insts(body.begin() + task.first, body.begin() + task.last);
  bool work = false;
  for (Inst inst : insts) work = work || work_.TouchesMemory(inst);
  if (!work) return;
  size_t adjoint_mark = adjoints_.Mark();
  if (task.kind == analysis::TaskKind::Serial) {
    primal_sweep_.EmitUnit(insts);
    MakeAdjointArrays(insts);
    ReverseInsts(insts);
    FlushParameters();
  } else {
    insts.pop_back();
    primal_sweep_.EmitUnit(insts);
    ReverseParallel(task);
  }
  adjoints_.Rollback(adjoint_mark);
}

void AdjointSweep::ReverseParallel(const analysis::Task& task) {
  const ir::InstData data = primal_[task.parallel];
  builder_.SetSpan(data.span);
  std::vector<Value> operands = AtAll(primal_.Operands(task.parallel));
  Inst loop = data.op == Op::Parallel ? builder_.Parallel(operands, data.attr)
                                      : builder_.ParallelOver(operands[0], data.attr);
  ir::Block body = built_[loop].regions[0];
  builder_.SetBlock(body);
  size_t value_mark = values_.Mark();
  for (size_t n = 0; n < primal_[data.regions[0]].params.size(); ++n)
    Bind(primal_[data.regions[0]].params[n], built_[body].params[n]);
  ReverseUnit(data.regions[0], false);
  const std::vector<Inst>& insts = primal_[primal_.Body()].insts;
  ReverseInsts(std::span<const Inst>(insts).subspan(task.first, task.last - task.first - 1));
  FlushParameters();
  builder_.SetSpan(data.span);
  builder_.Yield({});
  values_.Rollback(value_mark);
  builder_.SetBlock(built_.Body());
}

void AdjointSweep::Accumulate(Value v, Value contribution, uint32_t component) {
  if (activity_.Active(v)) adjoints_.Add(slots_.Of(v, component), contribution);
}

void AdjointSweep::ReverseUnit(Block unit, bool primal_sweep_done) {
  std::vector<Inst> insts = tree_.InstsOf(unit);
  if (!primal_sweep_done) primal_sweep_.EmitUnit(insts);
  MakeAdjointArrays(insts);
  ReverseInsts(insts);
}

void AdjointSweep::ReverseInsts(std::span<const Inst> insts) {
  for (size_t n = insts.size(); n-- > 0 && !kernel_.failed;) {
    builder_.SetSpan(primal_[insts[n]].span);
    ReverseInst(insts[n]);
  }
}

void AdjointSweep::ReverseInst(Inst inst) {
  const ir::InstData& data = primal_[inst];
  if (data.op == Op::If || IsSerialLoop(data.op)) {
    if (work_.Has(inst) || plan_.WritesReplayedArray(inst)) ReverseStructure(inst);
    return;
  }
  if (ir::IsAccess(data.op)) {
    if (plan_.WritesReplayedArray(inst)) RestoreArrayWrite(inst);
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

void AdjointSweep::ReverseStructure(Inst inst) {
  if (uint32_t side = zeros_.SideOf(inst); side != 0) return ReverseOnSide(inst, side);
  primal_[inst].op == Op::If ? ReverseIf(inst) : ReverseLoop(inst);
}

/// Where the side is not taken, nothing reads what the branch or loop makes, and it changes no memory.
void AdjointSweep::ReverseOnSide(Inst inst, uint32_t side) {
  bool seeded = false;
  for (uint32_t n = 0; n < primal_[inst].result_count; ++n) {
    if (!activity_.ActiveResult(inst, n)) continue;
    Value result = primal_.Result(inst, n);
    for (uint32_t c = 0; c < slots_.CountOf(result); ++c)
      seeded = seeded || adjoints_.Of(slots_.Of(result, c)).Valid();
  }
  if (!seeded) return;
  std::vector<uint32_t> slots = outer_.WithInitialOf(inst);
  std::vector<Value> before, after;
  adjoints_.Append(slots, before);
  auto [condition, wanted] = ConditionOf(side, 0);
  Inst branch = builder_.If(condition, adjoints_.TypesOf(slots));
  Block outer = builder_.block();
  builder_.SetBlock(built_[branch].regions[wanted ? 1 : 0]);
  builder_.Yield(before);
  builder_.SetBlock(built_[branch].regions[wanted ? 0 : 1]);
  size_t value_mark = values_.Mark();
  size_t adjoint_mark = adjoints_.Mark();
  primal_[inst].op == Op::If ? ReverseIf(inst) : ReverseLoop(inst);
  builder_.SetSpan(primal_[inst].span);
  adjoints_.Append(slots, after);
  builder_.Yield(after);
  values_.Rollback(value_mark);
  adjoints_.Rollback(adjoint_mark);
  builder_.SetBlock(outer);
  adjoints_.Take(slots, branch);
}

void AdjointSweep::ReverseIf(Inst inst) {
  const ir::InstData data = primal_[inst];
  std::vector<std::pair<uint32_t, Value>> seeds;
  for (uint32_t n = 0; n < data.result_count; ++n) {
    if (!activity_.ActiveResult(inst, n)) continue;
    Value result = primal_.Result(inst, n);
    for (uint32_t c = 0; c < slots_.CountOf(result); ++c)
      if (Value g = adjoints_.Of(slots_.Of(result, c)); g.Valid()) seeds.emplace_back(n * 256 + c, g);
  }
  if (seeds.empty() && !work_.TouchesMemory(inst) && !plan_.WritesReplayedArray(inst)) return;
  std::vector<uint32_t> slots = outer_.Of(inst);

  // The branch's own primal sweep is done where its forward run was widened; its values are available then.
  bool widened = primal_sweep_.IsWidened(inst);
  Inst branch = builder_.If(At(primal_.Operand(inst, 0)), adjoints_.TypesOf(slots));
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
    adjoints_.Append(slots, yields);
    builder_.Yield(yields);
    values_.Rollback(value_mark);
    adjoints_.Rollback(adjoint_mark);
    adjoint_arrays_.Rollback(array_mark);
  }
  builder_.SetBlock(outer);
  adjoints_.Take(slots, branch);
}

Value AdjointSweep::UndoUpdate(Inst loop, const Restore& restore, Value state) {
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

/// Carried values that have an adjoint, one entry per slot: k * 256 + component, and their adjoints after the
/// loop. False where all of these are zero.
bool AdjointSweep::CollectCarried(Inst loop, std::vector<uint32_t>* carried, std::vector<Value>* initial) {
  bool seeded = false;
  for (uint32_t k = 0; k < primal_[loop].result_count; ++k) {
    // The last value may be unused where the values before it are not.
    if (!activity_.Active(CarriedParam(primal_, loop, k))) continue;
    Value result = primal_.Result(loop, k);
    for (uint32_t c = 0; c < slots_.CountOf(result); ++c) {
      seeded = seeded || adjoints_.Of(slots_.Of(result, c)).Valid();
      carried->push_back(k * 256 + c);
      initial->push_back(adjoints_.OrZero(slots_.Of(result, c)));
    }
  }
  return seeded;
}

/// The loop that runs the iterations of `inst` from the last one to the first.
Inst AdjointSweep::MakeReversed(Inst inst, std::span<const Value> initial) {
  const ir::InstData data = primal_[inst];
  if (data.op == Op::For) {
    std::vector<Value> bounds = AtAll(primal_.Operands(inst).subspan(0, 3));
    ir::Words order = data.Has(ir::Word::Reversed) ? ir::Words() : ir::Words{ir::Word::Reversed};
    Inst loop = builder_.For(bounds[0], bounds[1], bounds[2], initial, order);
    CopyApart(data, loop);
    return loop;
  }
  Value trips = values_.Get(AuxKey(inst));
  if (!trips.Valid()) trips = Unavailable(data.span, "the trip count", ir::kI32);
  return builder_.For(builder_.I32(0), trips, builder_.I32(1), initial, {ir::Word::Reversed});
}

/// Pops the values and the contents of arrays that the iteration `index` has taped.
void AdjointSweep::PopTape(Inst loop, Value index) {
  const Tape* tape = primal_sweep_.TapeOf(loop);
  if (tape == nullptr) return;
  Value slot = tape->entries.empty() ? Value() : IterationSlot(loop, index);
  for (const TapeEntry& entry : tape->entries) {
    Value popped = builder_.StackPop(entry.stack, slot);
    Bind(entry.value, popped);
  }
  PopUndo(*tape, IterationSlot(loop, index));
}

void AdjointSweep::ReverseLoop(Inst inst) {
  const ir::InstData data = primal_[inst];
  bool is_for = data.op == Op::For;
  std::vector<uint32_t> carried;
  std::vector<Value> initial;
  bool seeded = CollectCarried(inst, &carried, &initial);
  if (!seeded && !work_.TouchesMemory(inst) && !plan_.WritesReplayedArray(inst)) return;
  std::vector<uint32_t> slots = outer_.Of(inst);
  adjoints_.Append(slots, initial);
  const std::vector<Restore>& restores = plan_.Restores(inst);
  for (const Restore& restore : restores) initial.push_back(At(primal_.Result(inst, restore.state)));

  if (const Tape* tape = primal_sweep_.TapeOf(inst)) {
    for (size_t n = 0; n < tape->undo.before.size(); ++n)
      PopSnapshot(tape->undo.before[n], tape->undo_stacks.before[n], builder_.I32(0));
  }
  Inst loop = MakeReversed(inst, initial);
  Block outer = builder_.block();
  Block body = built_[loop].regions[0];
  size_t value_mark = values_.Mark();
  size_t adjoint_mark = adjoints_.Mark();
  size_t array_mark = adjoint_arrays_.Mark();
  builder_.SetBlock(body);
  Value index = built_[body].params[0];
  if (is_for) Bind(primal_[data.regions[0]].params[0], index);
  PopTape(inst, index);
  for (size_t n = 0; n < restores.size(); ++n) {
    Value state = built_[body].params[1 + carried.size() + slots.size() + n];
    Bind(CarriedParam(primal_, inst, restores[n].param), UndoUpdate(inst, restores[n], state));
  }
  for (size_t n = 0; n < slots.size(); ++n)
    adjoints_.Set(slots[n], built_[body].params[1 + carried.size() + n]);
  std::vector<Value> seeds;
  for (size_t n = 0; n < carried.size(); ++n) {
    Value param = built_[body].params[1 + n];
    names_.Name(param, "g", primal_, CarriedParam(primal_, inst, carried[n] / 256));
    seeds.push_back(param);
  }
  for (size_t n = 0; n < carried.size(); ++n)
    Accumulate(CarriedYield(primal_, inst, carried[n] / 256), seeds[n], carried[n] % 256);
  bool fills_last = primal_sweep_.FillsLast(inst);
  FilledSteps filled_around;
  if (fills_last) {
    bool was_reversed = is_for && data.Has(ir::Word::Reversed);
    filled_around = primal_sweep_.EnterFilled({StepsOf(inst), inst, IsLast(loop, was_reversed)});
  }
  ReverseUnit(data.regions[0], false);
  if (fills_last) primal_sweep_.EnterFilled(filled_around);
  builder_.SetSpan(data.span);
  std::vector<Value> yields;
  for (uint32_t place : carried)
    yields.push_back(adjoints_.OrZero(slots_.Of(CarriedParam(primal_, inst, place / 256), place % 256)));
  adjoints_.Append(slots, yields);
  for (const Restore& restore : restores) yields.push_back(At(CarriedParam(primal_, inst, restore.state)));
  builder_.Yield(yields);
  values_.Rollback(value_mark);
  adjoints_.Rollback(adjoint_mark);
  adjoint_arrays_.Rollback(array_mark);
  builder_.SetBlock(outer);
  adjoints_.Take(slots, loop, carried.size());
  for (size_t n = 0; n < carried.size(); ++n)
    Accumulate(CarriedInit(primal_, inst, carried[n] / 256), built_.Result(loop, static_cast<uint32_t>(n)),
               carried[n] % 256);
  FlushHeldUpdates(inst);
}

}  // namespace adc::autodiff
