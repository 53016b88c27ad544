// The first step of a unit: the slice of it that the way back needs, run forward.
//
//   for %t in 0..%n carry(%a = %v0) {          %s = stack.new f32
//     %b = add (sin %a), 0.1           =>      for %t in 0..%n carry(%a = %v0) {
//     yield %b                                   stack.push %s, %a at %t
//   }                                            ... yield %b }
//
// A branch whose results are needed runs forward here, and its own unit will be reversed later, inside a
// branch of the second step. So that it is not computed twice, the forward branch is *widened*: its own first
// step is emitted along with it, and what the second step will read is handed out as further results (zero on
// the side that was not taken; results of the two sides share a place where their types agree):
//
//   %v = if %c { %e = exp %x  %f = mul %e, %y  yield %f } ...   =>   %v, %e = if %c { ... yield %f, %e } else
//   { yield ..., 0.0 }
//
// What a few operations make again from memory and from what is at hand is not handed out. Widening goes
// through a bounded number of branches inside each other, so that the size of the output stays linear in that
// of the input.

#include <algorithm>

#include "analysis/loops.h"
#include "autodiff/reverse_emitter.h"
#include "ir/clone.h"
#include "support/check.h"

namespace adc::autodiff {

using ir::Block;
using ir::Inst;
using ir::Op;
using ir::Type;
using ir::Value;

namespace {

/// Operations and loads that making a value again may take, rather than handing it out of its branch.
constexpr uint32_t kRecomputeLimit = 8;
constexpr uint32_t kTooDear = UINT32_MAX;

}  // namespace

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

bool ReverseEmitter::Widens(Inst branch, const Mode& mode) const {
  if (!mode.first_step || !plan_.RunsForward(branch)) return false;
  if (!work_.Has(branch) && !plan_.WritesNeededArray(branch)) return false;
  // An array is wound back store by store only if the branch's first step ran here.
  return mode.widened < config_.widen_levels || plan_.WritesNeededArray(branch);
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
  ir::InstData& target = built_[copy];
  target.flags = data.flags;
  target.index_count = data.index_count;
  target.attr = data.attr;
  target.component = data.component;
  target.symbol = data.symbol;
  for (uint32_t n = 0; n < data.result_count; ++n) {
    values_.Set(primal_.Result(inst, n).raw, built_.Result(copy, n));
    names_.Name(built_.Result(copy, n), "", primal_, primal_.Result(inst, n));
  }
}

void ReverseEmitter::CollectExports(Block unit, const Mode& mode, std::vector<uint32_t>& keys) const {
  for (Inst inst : tree_.InstsOf(unit)) {
    const ir::InstData& data = primal_[inst];
    for (uint32_t n = 0; n < data.result_count; ++n) {
      Value v = primal_.Result(inst, n);
      if (plan_.Direct(v) && plan_.Needed(v) && !primal_.TypeOf(v).IsArray()) keys.push_back(v.raw);
    }
    if (!ir::HasRegions(data.op) && plan_.WritesNeededArray(inst)) keys.push_back(AuxKey(inst));
    if (data.op == Op::While && (work_.Has(inst) || plan_.WritesNeededArray(inst)))
      keys.push_back(AuxKey(inst));
    if (data.op == Op::If && Widens(inst, mode)) {
      Mode inner = mode;
      ++inner.widened;
      CollectExports(data.regions[0], inner, keys);
      CollectExports(data.regions[1], inner, keys);
    }
  }
}

uint32_t ReverseEmitter::RecomputeCost(Value v, Inst branch, const std::unordered_set<uint32_t>& handed_out,
                                       uint32_t limit) const {
  Inst inst = primal_.DefiningInst(v);
  if (!inst.Valid() || limit == 0) return kTooDear;
  Inst store = plan_.StoreOf(v);
  Op op = primal_[inst].op;
  bool cheap = op == Op::Add || op == Op::Sub || op == Op::Mul || op == Op::Neg || op == Op::Select ||
               op == Op::Min || op == Op::Max || op == Op::Cast || op == Op::And || op == Op::Or ||
               op == Op::Not || ir::IsCompare(op) || Reloadable(inst) || store.Valid();
  if (!cheap) return kTooDear;
  uint32_t cost = 1;
  for (Value operand : store.Valid() ? primal_.Indices(store) : primal_.Operands(inst)) {
    if (!tree_.Inside(operand, branch)) {
      if (!AtHand(operand)) return kTooDear;
      continue;
    }
    if (handed_out.contains(operand.raw)) continue;
    uint32_t more = RecomputeCost(operand, branch, handed_out, limit - cost);
    if (more > limit - cost) return kTooDear;
    cost += more;
  }
  return cost;
}

bool ReverseEmitter::Reloadable(Inst inst) const {
  return primal_[inst].op == Op::Load && plan_.Reloaded(inst) && !analysis::IsLocalAccess(primal_, inst);
}

void ReverseEmitter::HoistStorage(Block unit, const Mode& mode) {
  for (Inst inst : tree_.InstsOf(unit)) {
    const ir::InstData& data = primal_[inst];
    if (data.op == Op::Alloca && plan_.Needed(primal_.Result(inst))) {
      builder_.SetSpan(data.span);
      CloneForward(inst);
    } else if (IsSerialLoop(data.op) && plan_.RunsForward(inst)) {
      MakeTape(inst);
    } else if (data.op == Op::If && Widens(inst, mode)) {
      Mode inner = mode;
      ++inner.widened;
      HoistStorage(data.regions[0], inner);
      HoistStorage(data.regions[1], inner);
    }
  }
}

void ReverseEmitter::EmitForwardIf(Inst inst, const Mode& mode) {
  bool widen = Widens(inst, mode);
  bool as_root = mode.first_step && plan_.RunsForward(inst);
  Mode inner;
  inner.first_step = widen;
  inner.roots = mode.roots;
  inner.widened = mode.widened + 1;
  if (as_root) inner.roots.push_back(inst);
  if (widen) widened_.Insert(inst);

  const ir::InstData data = primal_[inst];
  std::vector<uint32_t> wanted;
  std::vector<Type> types;
  for (uint32_t n = 0; n < data.result_count; ++n) {
    if (!Wanted(mode, primal_.Result(inst, n)) || plan_.StoreOf(primal_.Result(inst, n)).Valid()) continue;
    wanted.push_back(n);
    types.push_back(primal_.TypeOf(primal_.Result(inst, n)));
  }
  if (widen && mode.widened == 0) {
    for (Block region : data.regions) HoistStorage(region, inner);
  }
  // What each branch hands out, and the result that each gets.
  std::vector<uint32_t> exports[2];
  std::vector<uint32_t> export_result[2];
  if (widen) {
    auto type_of = [&](uint32_t key) {
      if (key < primal_.ValueCount()) return primal_.TypeOf(Value(key));
      Inst source{static_cast<uint32_t>(key - primal_.ValueCount())};
      return primal_[source].op == Op::While ? ir::kI32 : primal_.TypeOf(primal_.AccessValues(source)[0]);
    };
    // Places of the first side that the second may share, by type.
    std::vector<std::pair<Type, std::vector<uint32_t>>> free_places;
    auto places_of = [&](Type type) -> std::vector<uint32_t>& {
      for (auto& [known, places] : free_places)
        if (known == type) return places;
      free_places.emplace_back(type, std::vector<uint32_t>());
      return free_places.back().second;
    };
    for (uint32_t side = 0; side < 2; ++side) {
      std::vector<uint32_t> candidates;
      CollectExports(data.regions[side], inner, candidates);
      std::unordered_set<uint32_t> handed_out;
      for (uint32_t key : candidates) {
        bool is_value = key < primal_.ValueCount();
        if (is_value && RecomputeCost(Value(key), inst, handed_out, kRecomputeLimit) <= kRecomputeLimit)
          continue;
        handed_out.insert(key);
        exports[side].push_back(key);
      }
      if (side == 1)
        for (auto& [type, places] : free_places) std::reverse(places.begin(), places.end());
      for (uint32_t key : exports[side]) {
        // What the branch yields anyway is not handed out twice.
        size_t same = 0;
        while (same < wanted.size() &&
               primal_.Operand(primal_.Terminator(data.regions[side]), wanted[same]).raw != key)
          ++same;
        if (same < wanted.size()) {
          export_result[side].push_back(static_cast<uint32_t>(same));
          continue;
        }
        std::vector<uint32_t>& places = places_of(type_of(key));
        uint32_t place = static_cast<uint32_t>(types.size());
        if (side == 1 && !places.empty()) {
          place = places.back();
          places.pop_back();
        } else {
          types.push_back(type_of(key));
          if (side == 0) places.push_back(place);
        }
        export_result[side].push_back(place);
      }
    }
  }

  Value condition = At(primal_.Operand(inst, 0));
  Inst branch = builder_.If(condition, types);
  Block outer = builder_.block();
  for (uint32_t side = 0; side < 2; ++side) {
    Block region = data.regions[side];
    builder_.SetBlock(built_[branch].regions[side]);
    size_t mark = values_.Mark();
    EmitForward(primal_[region].insts, inner);
    std::vector<Value> yields;
    for (uint32_t n : wanted) yields.push_back(At(primal_.Operand(primal_.Terminator(region), n)));
    for (size_t n = yields.size(); n < types.size(); ++n) yields.push_back(Value());
    for (size_t e = 0; e < exports[side].size(); ++e) {
      uint32_t key = exports[side][e];
      Value v = key < primal_.ValueCount() ? At(Value(key)) : values_.Get(key);
      ADC_CHECK(v.Valid(), "a value to be handed out of a branch was not computed");
      yields[export_result[side][e]] = v;
    }
    for (size_t n = 0; n < yields.size(); ++n)
      if (!yields[n].Valid()) yields[n] = builder_.Zero(types[n]);
    builder_.SetSpan(data.span);
    builder_.Yield(yields);
    values_.Rollback(mark);
  }
  builder_.SetBlock(outer);
  for (size_t n = 0; n < wanted.size(); ++n) {
    Value result = built_.Result(branch, static_cast<uint32_t>(n));
    names_.Name(result, "", primal_, primal_.Result(inst, wanted[n]));
    values_.Set(primal_.Result(inst, wanted[n]).raw, result);
  }
  for (uint32_t side = 0; side < 2; ++side) {
    for (size_t e = 0; e < exports[side].size(); ++e) {
      Value result = built_.Result(branch, export_result[side][e]);
      values_.Set(exports[side][e], result);
      if (exports[side][e] < primal_.ValueCount()) names_.Name(result, "", primal_, Value(exports[side][e]));
    }
  }
}

void ReverseEmitter::MakeTape(Inst loop) {
  if (tapes_.contains(loop)) return;
  Tape tape;
  for (Value v : plan_.Tape(loop)) {
    Value stack = builder_.StackNew(primal_.TypeOf(v).scalar);
    names_.Name(stack, "tape.", primal_, v);
    tape.entries.push_back({v, stack});
  }
  tape.undo = PlanUndo(primal_, tree_, plan_, loop);
  for (Inst store : tape.undo.stores) {
    Value index;
    if (!AtHandAtEntry(primal_, tree_, loop, primal_.Indices(store)[0]))
      index = builder_.StackNew(primal_.TypeOf(primal_.Indices(store)[0]).scalar);
    tape.undo_stacks.stores.emplace_back(index,
                                         builder_.StackNew(primal_.TypeOf(primal_.Operand(store, 0)).scalar));
  }
  for (Value array : tape.undo.snapshots)
    tape.undo_stacks.snapshots.push_back(builder_.StackNew(primal_.TypeOf(array).scalar));
  tapes_.emplace(loop, std::move(tape));
}

Value ReverseEmitter::IterationSlot(Inst loop, Value index) {
  if (primal_[loop].op == Op::While) return index;
  return analysis::IterationNumber(builder_, index, At(primal_.Operand(loop, 0)),
                                   At(primal_.Operand(loop, 2)));
}

Inst ReverseEmitter::StepsOf(Inst segments) const {
  const std::vector<Inst>& body = primal_[LoopYieldBlock(primal_, segments)].insts;
  for (Inst inst : body)
    if (IsSerialLoop(primal_[inst].op)) return inst;
  return {};
}

Value ReverseEmitter::SegmentParam() const {
  for (uint32_t n = 0; n < primal_.params.size(); ++n)
    if (primal_.params[n].role == ir::ParamRole::Segment) return primal_.Params()[n];
  return {};
}

bool ReverseEmitter::ComesFrom(Value v, Inst loop) const {
  Inst inst = primal_.DefiningInst(v);
  if (inst == loop) return true;
  if (!inst.Valid() || primal_[inst].parent != primal_[loop].parent) return false;
  if (ir::HasRegions(primal_[inst].op)) return true;
  std::span<const Value> operands = primal_.Operands(inst);
  return std::any_of(operands.begin(), operands.end(), [&](Value one) { return ComesFrom(one, loop); });
}

bool ReverseEmitter::EndsAtLastCheckpoint(Inst loop, const Mode& mode) const {
  const ir::InstData& data = primal_[loop];
  if ((data.flags & ir::kFlagCheckpoint) == 0) return false;
  Inst steps = StepsOf(loop);
  if (!steps.Valid() || plan_.WritesNeededArray(loop)) return false;
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

bool ReverseEmitter::FillsLastSegment(Inst loop, const Mode& mode) const {
  if ((primal_[loop].flags & ir::kFlagCheckpoint) == 0 || mode.widened > 0) return false;
  Inst steps = StepsOf(loop);
  if (!steps.Valid() || !plan_.RunsForward(steps) || plan_.WritesNeededArray(loop)) return false;
  if (EndsAtLastCheckpoint(loop, mode)) return false;
  // What the way back reads of the steps' results must be there without them.
  for (uint32_t n = 0; n < primal_[steps].result_count; ++n) {
    if (!plan_.Needed(primal_.Result(steps, n))) continue;
    bool known = false;
    for (uint32_t k = 0; k < primal_[loop].result_count; ++k) {
      bool same = CarriedYield(primal_, loop, k) == primal_.Result(steps, n);
      known = known || (same && Wanted(mode, primal_.Result(loop, k)));
    }
    if (!known) return false;
  }
  return true;
}

Value ReverseEmitter::AfterLast(Inst segments, uint32_t k) const {
  Value of_steps = primal_.Result(StepsOf(segments), k);
  for (uint32_t n = 0; n < primal_[segments].result_count; ++n) {
    if (CarriedYield(primal_, segments, n) != of_steps) continue;
    if (Value after = values_.Get(primal_.Result(segments, n).raw); after.Valid()) return after;
  }
  return {};
}

Value ReverseEmitter::IsLast(Inst loop) {
  bool reversed = (built_[loop].flags & ir::kFlagReversed) != 0;
  Value last = reversed ? built_.Operand(loop, 0)
                        : builder_.Make(Op::Sub, {built_.Operand(loop, 1), built_.Operand(loop, 2)});
  return builder_.Make(Op::Eq, {built_[built_[loop].regions[0]].params[0], last});
}

Value ReverseEmitter::WholeTape() {
  return builder_.Make(Op::Le, {At(SegmentParam()), builder_.I32(0)});
}

void ReverseEmitter::EmitForwardLoop(Inst inst, const Mode& mode) {
  const ir::InstData data = primal_[inst];
  bool is_for = data.op == Op::For;
  bool as_root = mode.first_step && plan_.RunsForward(inst);
  bool fills_tape = as_root || inst == filling_steps_;
  Value slot_around = push_slot_;
  Mode inner;
  inner.roots = mode.roots;
  if (fills_tape) {
    inner.roots.push_back(inst);
    MakeTape(inst);
  }
  bool fills_last = as_root && FillsLastSegment(inst, mode);
  if (fills_last) {
    fills_last_.Insert(inst);
    MakeTape(StepsOf(inst));
  }
  bool counted = fills_tape && !is_for && (work_.Has(inst) || plan_.WritesNeededArray(inst));
  bool filled = as_root && inst == filled_steps_.loop;

  std::vector<uint32_t> carried;
  std::vector<Value> initial;
  for (uint32_t k = 0; k < data.result_count; ++k) {
    if (!Wanted(inner, CarriedParam(primal_, inst, k))) continue;
    carried.push_back(k);
    initial.push_back(At(CarriedInit(primal_, inst, k)));
  }
  if (counted) initial.push_back(builder_.I32(0));
  bool counts_last = fills_last && counted;
  if (counts_last) initial.push_back(builder_.I32(0));
  Inst loop;
  if (is_for) {
    std::vector<Value> bounds = AtAll(primal_.Operands(inst).subspan(0, 3));
    if (inst == skipped_steps_.loop && !as_root)
      bounds[1] = builder_.Make(Op::Select, {skipped_steps_.where, bounds[0], bounds[1]});
    if (filled) bounds[1] = builder_.Make(Op::Select, {filled_steps_.is_last, bounds[0], bounds[1]});
    loop = builder_.For(bounds[0], bounds[1], bounds[2], initial,
                        static_cast<uint8_t>(data.flags & ir::kFlagReversed));
  } else {
    Value max = (data.flags & ir::kFlagHasMax) ? At(primal_.Operand(inst, 0)) : Value();
    if (inst == skipped_steps_.loop && !as_root)
      max = builder_.Make(Op::Select, {skipped_steps_.where, builder_.Zero(built_.TypeOf(max)), max});
    if (filled)
      max = builder_.Make(Op::Select, {filled_steps_.is_last, builder_.Zero(built_.TypeOf(max)), max});
    loop = builder_.While(max, initial);
  }

  Block outer = builder_.block();
  size_t mark = values_.Mark();
  Block head = built_[loop].regions[0];
  uint32_t first_param = is_for ? 1 : 0;
  if (is_for) {
    Value index = built_[head].params[0];
    names_.Name(index, "", primal_, primal_[data.regions[0]].params[0]);
    values_.Set(primal_[data.regions[0]].params[0].raw, index);
  }
  for (size_t n = 0; n < carried.size(); ++n) {
    Value param = built_[head].params[first_param + n];
    Value primal_param = CarriedParam(primal_, inst, carried[n]);
    names_.Name(param, "", primal_, primal_param);
    values_.Set(primal_param.raw, param);
  }
  Value counter = counted ? built_[head].params[first_param + carried.size()] : Value();
  if (!is_for) {
    builder_.SetBlock(head);
    EmitForward(primal_[data.regions[0]].insts, inner);
    Value condition = At(primal_.Operand(primal_.Terminator(data.regions[0]), 0));
    builder_.SetSpan(data.span);
    builder_.Terminate(Op::ContinueIf, {&condition, 1});
    builder_.SetBlock(built_[loop].regions[1]);
  } else {
    builder_.SetBlock(head);
  }
  builder_.SetSpan(data.span);
  if (fills_tape) {
    const Tape& tape = tapes_.find(inst)->second;
    bool pushes = !tape.entries.empty() || !tape.undo.stores.empty() || !tape.undo.snapshots.empty();
    if (pushes) push_slot_ = is_for ? IterationSlot(inst, built_[head].params[0]) : counter;
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
  SkippedSteps around = skipped_steps_;
  if (as_root && EndsAtLastCheckpoint(inst, mode)) {
    skipped_steps_ = {StepsOf(inst), is_for ? IsLast(loop) : WholeTape()};
  }
  Inst filling_around = filling_steps_;
  filling_steps_ = fills_last ? StepsOf(inst) : Inst();
  EmitForward(primal_[LoopYieldBlock(primal_, inst)].insts, inner);
  filling_steps_ = filling_around;
  skipped_steps_ = around;
  builder_.SetSpan(data.span);
  std::vector<Value> yields;
  for (uint32_t k : carried) yields.push_back(At(CarriedYield(primal_, inst, k)));
  if (counted) yields.push_back(builder_.Make(Op::Add, {counter, builder_.I32(1)}));
  if (counts_last) yields.push_back(values_.Get(AuxKey(StepsOf(inst))));
  builder_.Yield(yields);
  if (fills_tape) {
    for (const TapeEntry& entry : tapes_.find(inst)->second.entries) due_pushes_.erase(entry.value);
    for (Inst store : tapes_.find(inst)->second.undo.stores) due_undo_.erase(store);
  }
  values_.Rollback(mark);
  builder_.SetBlock(outer);
  for (size_t n = 0; n < carried.size(); ++n) {
    Value result = built_.Result(loop, static_cast<uint32_t>(n));
    names_.Name(result, "", primal_, primal_.Result(inst, carried[n]));
    Value after = filled ? AfterLast(filled_steps_.segments, carried[n]) : Value();
    if (after.Valid()) result = builder_.Make(Op::Select, {filled_steps_.is_last, after, result});
    values_.Set(primal_.Result(inst, carried[n]).raw, result);
  }
  if (counted) {
    Value count = built_.Result(loop, static_cast<uint32_t>(carried.size()));
    names_.Name(count, "trips");
    if (filled)
      count =
          builder_.Make(Op::Select, {filled_steps_.is_last, last_trips_.at(filled_steps_.segments), count});
    values_.Set(AuxKey(inst), count);
  }
  if (counts_last) last_trips_[inst] = built_.Result(loop, static_cast<uint32_t>(carried.size() + 1));
  push_slot_ = slot_around;
}

}  // namespace adc::autodiff
