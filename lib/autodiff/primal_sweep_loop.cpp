// A loop run forward in the primal sweep, filling its tape.
//
// The loop carries what is wanted of the primal's values, and where it is a `while` that will be reversed,
// the number of its iterations. A value of the tape is pushed as soon as it is there: at the head of an
// iteration, or where it is computed (due_pushes_).
//
// Checkpoints are a loop over segments around a loop over steps (transform/block_loops.h). The forward run of
// the outer loop keeps the state at the start of each segment and runs the steps for nothing else. After the
// last segment nothing is read as a rule: then its steps are left out, and run once, in the adjoint sweep
// (skipped_steps_). Where their result is needed they run here, and fill the tape of the last segment at once
// (filling_steps_), so that the adjoint sweep need not run them again (filled_steps_).

#include <algorithm>

#include "autodiff/primal_sweep.h"

namespace adc::autodiff {

using ir::Block, ir::Inst, ir::Op, ir::Value;

void PrimalSweep::MakeTape(Inst loop) {
  if (tapes_.contains(loop)) return;
  Tape tape;
  auto named = [&](ir::Scalar scalar, Value of) {
    Value stack = builder_.StackNew(scalar);
    names_.Name(stack, "tape.", primal_, of);
    return stack;
  };
  for (Value v : plan_.Tape(loop)) tape.entries.push_back({v, named(primal_.TypeOf(v).scalar, v)});
  tape.undo = PlanUndo(primal_, tree_, plan_, loop);
  auto contents = [&](Value array) { return named(primal_.TypeOf(array).scalar, array); };
  for (Inst store : tape.undo.stores) {
    Value at = primal_.Indices(store)[0], index;
    if (!AvailableAtEntry(primal_, tree_, loop, at)) index = named(primal_.TypeOf(at).scalar, at);
    tape.undo_stacks.stores.emplace_back(index, contents(primal_.Operand(store, 0)));
  }
  for (Value array : tape.undo.snapshots) tape.undo_stacks.snapshots.push_back(contents(array));
  for (Value array : tape.undo.before) tape.undo_stacks.before.push_back(contents(array));
  tapes_.emplace(loop, std::move(tape));
}

Value PrimalSweep::SegmentParam() const {
  for (uint32_t n = 0; n < primal_.params.size(); ++n)
    if (primal_.params[n].role == ir::ParamRole::Segment) return primal_.Params()[n];
  return {};
}

bool PrimalSweep::ComesFrom(Value v, Inst loop) const {
  Inst inst = primal_.DefiningInst(v);
  if (inst == loop) return true;
  if (!inst.Valid() || primal_[inst].parent != primal_[loop].parent) return false;
  if (ir::HasRegions(primal_[inst].op)) return true;
  std::span<const Value> operands = primal_.Operands(inst);
  return std::any_of(operands.begin(), operands.end(), [&](Value one) { return ComesFrom(one, loop); });
}

bool PrimalSweep::EndsAtLastCheckpoint(Inst loop, const Mode& mode) const {
  const ir::InstData& data = primal_[loop];
  Inst steps = StepsOf(loop);
  if (!steps.Valid() || plan_.WritesReplayedArray(loop)) return false;
  // A `while` runs to know how many segments there are, unless the launch says that there is one.
  if (data.op == Op::While && data.attr != ir::kNoAttr) return false;
  for (uint32_t k = 0; k < data.result_count; ++k) {
    if (Wanted(mode, primal_.Result(loop, k)) && ComesFrom(CarriedYield(primal_, loop, k), steps))
      return false;
  }
  for (const TapeEntry& entry : tapes_.find(loop)->second.entries)
    if (primal_[entry.value].kind != ir::ValueKind::BlockParam) return false;
  return true;
}

bool PrimalSweep::FillsLastSegment(Inst loop, const Mode& mode) const {
  Inst steps = StepsOf(loop);
  if (!steps.Valid() || mode.widened > 0 || !plan_.RunsForward(steps) || plan_.WritesReplayedArray(loop))
    return false;
  if (EndsAtLastCheckpoint(loop, mode)) return false;
  // Results of the steps that the adjoint sweep reads must be available without them.
  for (uint32_t n = 0; n < primal_[steps].result_count; ++n) {
    if (!plan_.ToBeRecorded(primal_.Result(steps, n))) continue;
    bool known = false;
    for (uint32_t k = 0; k < primal_[loop].result_count; ++k) {
      bool same = CarriedYield(primal_, loop, k) == primal_.Result(steps, n);
      known = known || (same && Wanted(mode, primal_.Result(loop, k)));
    }
    if (!known) return false;
  }
  return true;
}

Value PrimalSweep::AfterLast(Inst segments, uint32_t k) const {
  Value of_steps = primal_.Result(StepsOf(segments), k);
  for (uint32_t n = 0; n < primal_[segments].result_count; ++n) {
    if (CarriedYield(primal_, segments, n) != of_steps) continue;
    if (Value after = values_.Get(primal_.Result(segments, n).raw); after.Valid()) return after;
  }
  return {};
}

Value PrimalSweep::WholeTape() {
  return builder_.Make(Op::Le, {At(SegmentParam()), builder_.I32(0)});
}

void PrimalSweep::EmitLoop(Inst inst, const Mode& mode) {
  bool is_for = primal_[inst].op == Op::For;
  Value slot_around = push_slot_;
  ForwardLoop run;
  run.as_root = mode.own_unit && plan_.RunsForward(inst);
  run.fills_tape = run.as_root || inst == filling_steps_;
  Mode inner;
  inner.roots = mode.roots;
  if (run.fills_tape) {
    inner.roots.push_back(inst);
    MakeTape(inst);
    const Tape& tape = tapes_.find(inst)->second;
    for (size_t n = 0; n < tape.undo.before.size(); ++n)
      PushSnapshot(tape.undo.before[n], tape.undo_stacks.before[n], builder_.I32(0));
  }
  run.fills_last = run.as_root && FillsLastSegment(inst, mode);
  if (run.fills_last) {
    fills_last_.Insert(inst);
    MakeTape(StepsOf(inst));
  }
  run.counted = run.fills_tape && !is_for && (work_.Has(inst) || plan_.WritesReplayedArray(inst));
  run.filled = run.as_root && inst == filled_steps_.loop;
  std::vector<Value> initial;
  for (uint32_t k = 0; k < primal_[inst].result_count; ++k) {
    if (!Wanted(inner, CarriedParam(primal_, inst, k))) continue;
    run.carried.push_back(k);
    initial.push_back(At(CarriedInit(primal_, inst, k)));
  }
  if (run.counted) initial.push_back(builder_.I32(0));
  if (run.CountsLast()) initial.push_back(builder_.I32(0));
  run.built = MakeLoop(inst, run, initial);

  Block outer = builder_.block();
  size_t mark = values_.Mark();
  EnterLoop(inst, run, inner);
  if (run.fills_tape) PushAtEntry(inst, run);
  SkippedSteps around = skipped_steps_;
  if (run.as_root && EndsAtLastCheckpoint(inst, mode)) {
    skipped_steps_ = {StepsOf(inst),
                      is_for ? IsLast(run.built, built_[run.built].Has(ir::Word::Reversed)) : WholeTape()};
  }
  Inst filling_around = filling_steps_;
  filling_steps_ = run.fills_last ? StepsOf(inst) : Inst();
  Emit(primal_[LoopYieldBlock(primal_, inst)].insts, inner);
  filling_steps_ = filling_around;
  skipped_steps_ = around;
  builder_.SetSpan(primal_[inst].span);
  std::vector<Value> yields;
  for (uint32_t k : run.carried) yields.push_back(At(CarriedYield(primal_, inst, k)));
  if (run.counted) yields.push_back(builder_.Make(Op::Add, {run.counter, builder_.I32(1)}));
  if (run.CountsLast()) yields.push_back(values_.Get(AuxKey(StepsOf(inst))));
  builder_.Yield(yields);
  if (run.fills_tape) {
    for (const TapeEntry& entry : tapes_.find(inst)->second.entries) due_pushes_.erase(entry.value);
    for (Inst store : tapes_.find(inst)->second.undo.stores) due_undo_.erase(store);
  }
  values_.Rollback(mark);
  builder_.SetBlock(outer);
  TakeResults(inst, run);
  push_slot_ = slot_around;
}

Inst PrimalSweep::MakeLoop(Inst inst, const ForwardLoop& run, std::span<const Value> initial) {
  const ir::InstData data = primal_[inst];
  bool skips = inst == skipped_steps_.loop && !run.as_root;
  if (data.op == Op::For) {
    std::vector<Value> bounds = AtAll(primal_.Operands(inst).subspan(0, 3));
    if (skips) bounds[1] = builder_.Make(Op::Select, {skipped_steps_.where, bounds[0], bounds[1]});
    if (run.filled) bounds[1] = builder_.Make(Op::Select, {filled_steps_.is_last, bounds[0], bounds[1]});
    Inst loop = builder_.For(bounds[0], bounds[1], bounds[2], initial, data.words.Of({ir::Word::Reversed}));
    CopyApart(data, loop);
    return loop;
  }
  Value max = data.Has(ir::Word::HasMax) ? At(primal_.Operand(inst, 0)) : Value();
  if (skips) max = builder_.Make(Op::Select, {skipped_steps_.where, builder_.Zero(built_.TypeOf(max)), max});
  if (run.filled)
    max = builder_.Make(Op::Select, {filled_steps_.is_last, builder_.Zero(built_.TypeOf(max)), max});
  return builder_.While(max, initial, data.words.Of({ir::Word::OrNone}));
}

void PrimalSweep::EnterLoop(Inst inst, ForwardLoop& run, const Mode& inner) {
  const ir::InstData data = primal_[inst];
  bool is_for = data.op == Op::For;
  Block head = built_[run.built].regions[0];
  uint32_t first_param = is_for ? 1 : 0;
  if (is_for) Bind(primal_[data.regions[0]].params[0], built_[head].params[0]);
  for (size_t n = 0; n < run.carried.size(); ++n)
    Bind(CarriedParam(primal_, inst, run.carried[n]), built_[head].params[first_param + n]);
  if (run.counted) run.counter = built_[head].params[first_param + run.carried.size()];
  builder_.SetBlock(head);
  if (!is_for) {
    Emit(primal_[data.regions[0]].insts, inner);
    Value condition = At(analysis::ConditionOf(primal_, inst));
    builder_.SetSpan(data.span);
    builder_.Terminate(Op::ContinueIf, {&condition, 1});
    builder_.SetBlock(built_[run.built].regions[1]);
  }
  builder_.SetSpan(data.span);
}

void PrimalSweep::PushAtEntry(Inst inst, const ForwardLoop& run) {
  const ir::InstData& data = primal_[inst];
  bool is_for = data.op == Op::For;
  const Tape& tape = tapes_.find(inst)->second;
  bool pushes = !tape.entries.empty() || !tape.undo.Empty();
  if (pushes) {
    Block head = built_[run.built].regions[0];
    push_slot_ = is_for ? IterationSlot(inst, built_[head].params[0]) : run.counter;
  }
  for (const TapeEntry& entry : tape.entries) {
    bool at_entry = primal_[entry.value].kind == ir::ValueKind::BlockParam ||
                    (!is_for && primal_.DefiningBlock(entry.value) == data.regions[0]);
    if (at_entry)
      builder_.StackPush(entry.stack, At(entry.value), push_slot_);
    else
      due_pushes_[entry.value].push_back(entry.stack);
  }
  PushUndo(inst);
}

void PrimalSweep::TakeResults(Inst inst, const ForwardLoop& run) {
  for (size_t n = 0; n < run.carried.size(); ++n) {
    Value result = built_.Result(run.built, static_cast<uint32_t>(n));
    names_.Name(result, "", primal_, primal_.Result(inst, run.carried[n]));
    Value after = run.filled ? AfterLast(filled_steps_.segments, run.carried[n]) : Value();
    if (after.Valid()) result = builder_.Make(Op::Select, {filled_steps_.is_last, after, result});
    values_.Set(primal_.Result(inst, run.carried[n]).raw, result);
  }
  auto after_carried = static_cast<uint32_t>(run.carried.size());
  if (run.counted) {
    Value count = built_.Result(run.built, after_carried);
    names_.Name(count, "trips");
    if (run.filled)
      count =
          builder_.Make(Op::Select, {filled_steps_.is_last, last_trips_.at(filled_steps_.segments), count});
    values_.Set(AuxKey(inst), count);
  }
  if (run.CountsLast()) last_trips_[inst] = built_.Result(run.built, after_carried + 1);
}

}  // namespace adc::autodiff
