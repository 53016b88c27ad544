// One walk does it all, because each part feeds the others: a folded condition drops a branch, whose stores
// then no longer clobber a cell, whose load is then a known value, which folds the next condition. The next
// walk sees facts that were known too late for this one (a yield that turns out to be the parameter, a result
// that is not read any more).
//
//   for %t in 0..%n carry(%k = 3, %s = %s0, %u = %u0) {      for %t in 0..%n carry(%s = %s0) {
//     %k2 = add %k, 2                                   ->     %m = mul %t, 2
//     %c  = mul %a, %b                                         %k = add %m, 3
//     ...                                                      ...             // %c stands before the loop,
//     yield %k2, %s2, %u                                       yield %s2       // %u is %u0
//   }                                                        }

#include "transform/simplify.h"

#include "analysis/loops.h"
#include "analysis/tasks.h"
#include "ir/module.h"
#include "transform/liveness.h"
#include "transform/memory_state.h"
#include "transform/rewriter.h"

namespace adc::transform {
namespace {

using analysis::AccessFacts;
using ir::Block, ir::Effect, ir::Function, ir::Inst, ir::InstData, ir::Op, ir::Type, ir::Value;

class SimplifyRewriter final : public Rewriter {
 public:
  SimplifyRewriter(ir::Module& module, const Function& from, const SimplifyConfig& config)
      : Rewriter(module, from, config.fold),
        live_(from),
        facts_(module, from),
        numbering_(*into_, config.before_reverse),
        memory_(facts_, numbering_) {
    builder_.SetEmitter(&numbering_);
    for (uint32_t n = 0; n < from.params.size(); ++n) {
      parameter_number_[from.Params()[n]] = n + 1;
      Type type = from.TypeOf(from.Params()[n]);
      bool has_diff = from.params[n].diff;
      if (type.IsLayout())
        for (const ir::LayoutField& field : module.layouts[type.count].fields)
          has_diff = has_diff || field.diff;
      stops_derivatives_ = stops_derivatives_ || (config.before_reverse && has_diff);
    }
  }

  std::unique_ptr<Function> RunAll() {
    EnterRegion(into_->Body(), {}, false);
    const std::vector<Inst>& body = from_[from_.Body()].insts;
    std::vector<analysis::Task> tasks;
    if (from_.IsKernel()) tasks = analysis::TasksOf(from_);
    size_t next_task = 0;
    for (uint32_t n = 0; n < body.size(); ++n) {
      if (next_task < tasks.size() && tasks[next_task].first == n) {
        numbering_.ForgetOutermost();
        ++next_task;
      }
      Visit(body[n]);
    }
    MakeNamesUnique(module_, *into_);
    return std::move(into_);
  }

  /// True when the walk made anything different from what it read.
  bool Changed() const { return changes_ + numbering_.Found() + numbering_.Hoisted() != 0; }

 private:
  struct Frame {
    Inst control;          ///< of the source; invalid for the body
    bool runs_with_outer;  ///< the region runs whenever the block around it does (loops: at least once)
  };

  void EnterRegion(Block block, Inst control, bool is_loop) {
    bool runs = is_loop && analysis::RunsAtLeastOnce(from_, control);
    frames_.push_back({control, runs});
    // The prologue of a parallel is reversed along with each iteration. The test of a `while` is reversed
    // with its body, so not the last time that it runs.
    bool reversed = control.Valid() &&
                    (analysis::IsParallel(from_[control].op) || (from_[control].op == Op::For && runs));
    numbering_.Enter(block, is_loop, reversed);
    builder_.SetBlock(block);
  }

  void LeaveRegion() {
    frames_.pop_back();
    numbering_.Leave();
    builder_.SetBlock(numbering_.BlockAt(numbering_.Depth()));
  }

  Value Map(Value v) override {
    Value mapped = Rewriter::Map(v);
    if (!into_->TypeOf(mapped).Is(ir::Scalar::I1)) return mapped;
    Value assumed = assumed_.Get(mapped);
    return assumed.Valid() ? assumed : mapped;
  }

  void Visit(Inst inst) override {
    const InstData& data = from_[inst];
    if (ir::IsTerminator(data.op)) {
      // Those of regions are written by the control around them, which knows what it left in.
      if (data.op == Op::Return || data.parent == from_.Body()) Copy(inst);
      return;
    }
    if (!live_.IsLive(inst)) {
      ++changes_;
      return;
    }
    builder_.SetSpan(data.span);
    if (data.op == Op::For) return VisitFor(inst);
    if (data.op == Op::While) return VisitWhile(inst);
    if (data.op == Op::If) return VisitIf(inst);
    if (analysis::IsParallel(data.op)) return VisitParallel(inst);
    if (data.op == Op::Load) return VisitLoad(inst);
    if (analysis::WritesMemory(data.op)) return VisitWrite(inst);
    if (data.op == Op::Call) {
      if (from_.RegionCount(inst) != 0) {
        VisitOpenedCall(inst);
      } else {
        Copy(inst);
      }
      // Memory that the call reads and writes is not forwarded past it: its derivative is not that of its
      // body.
      for (Value v : from_.Operands(inst)) {
        Type type = from_.TypeOf(v);
        if (type.IsBuffer() || type.IsLayout() || type.IsArray())
          memory_.Clobber(facts_.memory().ClassOf(v, ir::kNoAttr));
      }
      return;
    }
    if (data.op == Op::Assert && IsTrue(Map(from_.Operand(inst, 0)))) {
      ++changes_;
      return;
    }
    if (ir::InfoOf(data.op).effect != Effect::Pure) return Copy(inst);
    size_t before = into_->InstCount();
    if ((IsArithmetic(data.op) && data.op != Op::MatMake) || IsFieldExtent(inst)) {
      Copy(inst);
    } else {
      std::vector<Value> operands = MapAll(from_.Operands(inst));
      Value value = data.op == Op::MatMake ? builder_.Fold(data.op, operands) : Value();
      if (!value.Valid() || into_->TypeOf(value) != from_.TypeOf(from_.Result(inst)))
        value = builder_.MakePure(data.op, operands, from_.TypeOf(from_.Result(inst)), data.attr);
      Define(inst, value);
    }
    if (into_->InstCount() != before + 1) ++changes_;
  }

  bool IsTrue(Value v) const { return into_->IsConstant(v) && into_->ConstantOf(v).bits != 0; }
  bool IsFalse(Value v) const { return into_->IsConstant(v) && into_->ConstantOf(v).bits == 0; }

  void VisitLoad(Inst inst) {
    const InstData& data = from_[inst];
    std::vector<Value> cell = MapAll(from_.Operands(inst));
    Value result = from_.Result(inst);
    if (Value literal = ConstantElement(cell); literal.Valid()) {
      ++changes_;
      return Define(inst, literal);
    }
    if (Value known = memory_.Find(inst, cell); known.Valid()) {
      ++changes_;
      return Define(inst, AsRead(inst, cell[0], known));
    }
    uint32_t depth = LoadDepth(inst, cell);
    if (depth != numbering_.Depth()) ++changes_;
    Type type = from_.TypeOf(result);
    Inst load = into_->NewInst(Op::Load, cell, {&type, 1}, data.span);
    (*into_)[load].index_count = data.index_count;
    (*into_)[load].attr = data.attr;
    (*into_)[load].component = data.component;
    into_->Append(numbering_.BlockAt(depth), load);
    Define(inst, into_->Result(load));
    memory_.Know(inst, load, into_->Result(load));
  }

  /// `known`, found in the cell of source load `inst`, as the load gives it: memory that has no derivative
  /// stops that of what is stored there, whether or not the load is still made.
  Value AsRead(Inst inst, Value base, Value known) {
    uint32_t number = parameter_number_.Get(from_.Operand(inst, 0));
    Type type = into_->TypeOf(known);
    if (!stops_derivatives_ || number == 0 || !type.IsFloat() || into_->IsConstant(known)) return known;
    if (HasDerivative(number - 1, from_[inst].attr)) return known;
    if (Inst made = into_->DefiningInst(known); made.Valid()) {
      bool inert = (*into_)[made].op == Op::Load && into_->Operand(made, 0) == base;
      if (inert || (*into_)[made].op == Op::StopGradient) return known;
    }
    return builder_.MakePure(Op::StopGradient, {&known, 1}, type, number - 1);
  }

  bool HasDerivative(uint32_t parameter, uint32_t field) const {
    const ir::ParamInfo& info = from_.params[parameter];
    if (info.inactive) return false;
    Type type = from_.TypeOf(from_.Params()[parameter]);
    if (type.IsLayout()) return module_.layouts[type.count].fields[field].diff;
    return info.diff || info.role == ir::ParamRole::Scratch;
  }

  /// The element of a module constant array at a constant index in range.
  Value ConstantElement(std::span<const Value> cell) {
    const ir::ValueData& base = (*into_)[cell[0]];
    if (base.kind != ir::ValueKind::Global || cell.size() != 2) return {};
    const ir::ModuleConstant& constant = module_.constants[base.owner];
    std::optional<int64_t> index = into_->IntegerConstant(cell[1]);
    if (!index || *index < 0 || *index >= static_cast<int64_t>(constant.elements.size())) return {};
    auto n = static_cast<size_t>(*index);
    StringId spelling = n < constant.spellings.size() ? constant.spellings[n] : StringId();
    return into_->Constant(constant.type.Element(), constant.elements[n], spelling);
  }

  /// How far out a load may stand: past loops that do not write its memory, as long as it is known to be run
  /// there anyway or to be harmless.
  uint32_t LoadDepth(Inst inst, std::span<const Value> cell) {
    uint32_t innermost = 0;
    for (Value v : cell) innermost = std::max(innermost, numbering_.DepthOf(v));
    uint32_t best = numbering_.Depth();
    uint32_t memory_class = facts_.memory().ClassOf(inst);
    bool runs = true;
    int harmless = -1;
    for (uint32_t depth = numbering_.Depth(); depth > innermost; --depth) {
      const Frame& frame = frames_[depth];
      runs = runs && frame.runs_with_outer;
      if (!numbering_.IsLoopAt(depth)) continue;
      if (facts_.memory().IsWrittenIn(memory_class, frame.control)) break;
      if (!runs) {
        if (harmless < 0) harmless = facts_.AllInRange(inst) ? 1 : 0;
        if (harmless == 0) break;
      }
      best = depth - 1;
    }
    return best;
  }

  void VisitWrite(Inst inst) {
    Inst copy = CopyShell(inst, MapAll(from_.Operands(inst)));
    memory_.Write(inst);
    if (from_[inst].op != Op::Store) return;
    // The arguments of a function may stop derivatives or not.
    bool is_open = !from_.IsKernel() && parameter_number_.Get(from_.Operand(inst, 0)) != 0 &&
                   from_.TypeOf(from_.AccessValues(inst)[0]).IsFloat();
    if (!is_open) memory_.Know(inst, copy, into_->AccessValues(copy)[0]);
  }

  /// A call that stays for its derivative, with its body.
  void VisitOpenedCall(Inst inst) {
    Inst copy = NewControl(inst, MapAll(from_.Operands(inst)), {});
    FillRegion(inst, copy, false);
  }

  /// Writes the one region of a copy that gives nothing, and appends the copy.
  void FillRegion(Inst inst, Inst copy, bool is_loop) {
    Block source = from_[inst].regions[0];
    EnterRegion(NewRegion(source, copy, 0), inst, is_loop);
    VisitContents(source);
    builder_.Yield({});
    LeaveRegion();
    AppendControl(inst, copy, {});
  }

  void VisitParallel(Inst inst) {
    const InstData& data = from_[inst];
    std::vector<Value> operands = MapAll(from_.Operands(inst));
    if (data.op == Op::Parallel) {
      for (size_t n = 0; n + 1 < operands.size(); n += 2) {
        std::optional<int64_t> lo = into_->IntegerConstant(operands[n]);
        std::optional<int64_t> hi = into_->IntegerConstant(operands[n + 1]);
        if (operands[n] != operands[n + 1] && !(lo && hi && *hi <= *lo)) continue;
        ++changes_;
        return;
      }
    }
    Inst copy = NewControl(inst, operands, {});
    memory_.ClobberWrittenIn(inst);
    FillRegion(inst, copy, true);
  }

  /// A control instruction with the attributes of `inst` that is in no block yet.
  Inst NewControl(Inst inst, std::span<const Value> operands, std::span<const Type> types) {
    Inst copy = into_->NewInst(from_[inst].op, operands, types, from_[inst].span);
    ir::CopyAttributes(from_[inst], (*into_)[copy]);
    return copy;
  }

  /// Gives the region of a loop its carried parameters: those that stay are new, the others are mapped
  /// already.
  void AddCarried(Inst loop, Block region, std::span<const uint32_t> remaining) {
    for (uint32_t n : remaining) {
      Value param = analysis::CarriedParam(from_, loop, n);
      SetMapped(param, into_->AddParam(region, from_.TypeOf(param), from_[param].name));
    }
  }

  /// The copy of `inst`, whose regions are written, is the next instruction.
  void AppendControl(Inst inst, Inst copy, std::span<const uint32_t> remaining) {
    memory_.ClobberWrittenIn(inst);
    into_->Append(builder_.block(), copy);
    for (uint32_t n = 0; n < remaining.size(); ++n)
      MapNamed(from_.Result(inst, remaining[n]), into_->Result(copy, n));
  }

  std::vector<Value> YieldRemaining(Inst yield, std::span<const uint32_t> remaining) {
    std::vector<Value> yields;
    for (uint32_t n : remaining) yields.push_back(Map(from_.Operand(yield, n)));
    builder_.SetSpan(from_[yield].span);
    builder_.Yield(yields);
    return yields;
  }

  /// What the copy of a loop carries.
  struct Carried {
    std::vector<Value> operands;  ///< of the copy
    std::vector<Type> types;
    std::vector<uint32_t> remaining;
  };

  /// Maps values that never change. `operands`: those before the carried ones. `is_other`: whether a value,
  /// by its number, is not carried either.
  template <class IsOther>
  Carried CarriedOf(Inst loop, std::vector<Value> operands, IsOther is_other) {
    Carried carried{std::move(operands), {}, {}};
    for (uint32_t n = 0; n < from_[loop].result_count; ++n) {
      Value param = analysis::CarriedParam(from_, loop, n);
      if (live_.IsLive(param)) {
        Value initial = Map(analysis::CarriedInit(from_, loop, n));
        if (NeverChanges(loop, param, analysis::CarriedYield(from_, loop, n), initial)) {
          SetMapped(param, initial);
          SetMapped(from_.Result(loop, n), initial);
        } else if (!is_other(n)) {
          carried.remaining.push_back(n);
          carried.operands.push_back(initial);
          carried.types.push_back(from_.TypeOf(param));
          continue;
        }
      }
      ++changes_;
    }
    return carried;
  }

  /// True when carried value `param` has the value `initial` in every iteration.
  bool NeverChanges(Inst loop, Value param, Value yielded, Value initial) {
    if (yielded == param) return true;
    return facts_.structure().DefinedOutside(yielded, loop) && Map(yielded) == initial;
  }

  /// Maps what `place_of` says for each live carried value of a loop to its initial value.
  template <class PlaceOf>
  void MapInitial(Inst loop, const PlaceOf& place_of) {
    for (uint32_t n = 0; n < from_[loop].result_count; ++n) {
      if (live_.IsLive(analysis::CarriedParam(from_, loop, n)))
        SetMapped(place_of(n), Map(analysis::CarriedInit(from_, loop, n)));
    }
  }

  /// Writes what a loop of one iteration does in its place.
  void TakeOnce(Inst inst) {
    MapInitial(inst, [&](uint32_t n) { return analysis::CarriedParam(from_, inst, n); });
    VisitContents(analysis::LoopYieldBlock(from_, inst));
    for (uint32_t n = 0; n < from_[inst].result_count; ++n) {
      if (live_.IsLive(analysis::CarriedParam(from_, inst, n)))
        MapNamed(from_.Result(inst, n), Map(analysis::CarriedYield(from_, inst, n)));
    }
  }

  /// Whether a `while` tests a carried value alone, which is true at first and then false.
  bool RunsOnce(Inst inst) {
    Block test = from_[inst].regions[0];
    Value condition = analysis::ConditionOf(from_, inst);
    std::optional<uint32_t> number = analysis::CarriedNumber(from_, condition);
    if (!number || from_.DefiningBlock(condition) != test || from_[test].insts.size() != 1) return false;
    Value first = analysis::CarriedInit(from_, inst, *number);
    Value next = analysis::CarriedYield(from_, inst, *number);
    return IsTrue(Map(first)) && analysis::RunsAtLeastOnce(from_, inst) && from_.IsConstant(next) &&
           from_.ConstantOf(next).bits == 0;
  }

  void VisitFor(Inst inst) {
    const InstData& data = from_[inst];
    Block source = data.regions[0];
    Value lo = Map(from_.Operand(inst, 0)), hi = Map(from_.Operand(inst, 1)),
          step = Map(from_.Operand(inst, 2));
    auto param_of = [&](uint32_t n) { return analysis::CarriedParam(from_, inst, n); };
    std::optional<uint64_t> trips = Trips(lo, hi, step);
    if (trips && *trips <= 1) {
      ++changes_;
      if (*trips == 1) {
        SetMapped(from_[source].params[0], lo);
        return TakeOnce(inst);
      }
      for (uint32_t n = 0; n < data.result_count; ++n) {
        if (live_.IsLive(param_of(n)))
          MapNamed(from_.Result(inst, n), Map(analysis::CarriedInit(from_, inst, n)));
      }
      return;
    }
    std::vector<uint32_t> linear;
    Carried carried = CarriedOf(inst, {lo, hi, step}, [&](uint32_t n) {
      bool is_linear = LinearStep(inst, n, lo, step).Valid();
      if (is_linear) linear.push_back(n);
      return is_linear;
    });
    Inst copy = NewControl(inst, carried.operands, carried.types);
    memory_.ClobberWrittenIn(inst);
    Block region = into_->NewBlock(copy);
    (*into_)[copy].regions[0] = region;
    Value source_index = from_[source].params[0];
    Value index = into_->AddParam(region, from_.TypeOf(source_index), from_[source_index].name);
    SetMapped(source_index, index);
    AddCarried(inst, region, carried.remaining);
    EnterRegion(region, inst, true);
    for (uint32_t n : linear) {
      // The number of iterations before this one, times the step of the value.
      Value before = builder_.Make(Op::Sub, {index, lo});
      if (*into_->IntegerConstant(step) != 1) before = builder_.Make(Op::Div, {before, step});
      if (data.Has(ir::Word::Reversed)) {
        Value last = builder_.Make(Op::Sub, {TripCount(lo, hi, step), builder_.Int(into_->TypeOf(lo), 1)});
        before = builder_.Make(Op::Sub, {last, before});
      }
      MapNamed(param_of(n), After(inst, n, before));
    }
    VisitContents(source);
    YieldRemaining(from_.Terminator(source), carried.remaining);
    LeaveRegion();
    AppendControl(inst, copy, carried.remaining);
    builder_.SetSpan(data.span);
    for (uint32_t n : linear) {
      if (!live_.IsLive(from_.Result(inst, n))) continue;
      MapNamed(from_.Result(inst, n), After(inst, n, TripCount(lo, hi, step)));
    }
  }

  std::optional<uint64_t> Trips(Value lo, Value hi, Value step) const {
    if (lo == hi) return 0;
    std::optional<int64_t> first = into_->IntegerConstant(lo), last = into_->IntegerConstant(hi);
    std::optional<int64_t> stride = into_->IntegerConstant(step);
    if (!first || !last || !stride || *stride <= 0) return std::nullopt;
    return analysis::TripsBetween(*first, *last, *stride);
  }

  /// The amount (a source value from outside of the loop) that integer carried value `n` grows by in every
  /// iteration; invalid where it does not, or where the closed form could leave the range of the index type.
  Value LinearStep(Inst loop, uint32_t n, Value lo, Value step) const {
    Value param = analysis::CarriedParam(from_, loop, n);
    Type type = from_.TypeOf(param);
    if (!type.IsScalar() || !type.IsInteger()) return {};
    Inst update = from_.DefiningInst(analysis::CarriedYield(from_, loop, n));
    if (!update.Valid() || (from_[update].op != Op::Add && from_[update].op != Op::Sub)) return {};
    Value a = from_.Operand(update, 0), b = from_.Operand(update, 1);
    Value amount = a == param ? b : b == param && from_[update].op == Op::Add ? a : Value();
    if (!amount.Valid() || !facts_.structure().DefinedOutside(amount, loop)) return {};
    // With step 1 the distance from `lo` is right modulo the width of the index, whatever wraps. Dividing it,
    // or widening it, asks for the number itself: `lo` must be a constant that keeps it in range.
    std::optional<int64_t> stride = into_->IntegerConstant(step), first = into_->IntegerConstant(lo);
    bool widens = BitWidth(type.scalar) > BitWidth(into_->TypeOf(lo).scalar);
    if (!stride || ((*stride != 1 || widens) && (!first || *first < 0))) return {};
    return amount;
  }

  /// ceil(max(0, hi - lo) / step), under the conditions of LinearStep.
  Value TripCount(Value lo, Value hi, Value step) {
    Type type = into_->TypeOf(lo);
    Value distance = builder_.Make(Op::Sub, {hi, lo});
    Value some = builder_.Make(Op::CeilDiv, {distance, step});
    return builder_.Make(Op::Select, {builder_.Make(Op::Lt, {lo, hi}), some, builder_.Zero(type)});
  }

  /// Linear carried value `n` after `count` iterations.
  Value After(Inst loop, uint32_t n, Value count) {
    Value param = analysis::CarriedParam(from_, loop, n);
    Inst update = from_.DefiningInst(analysis::CarriedYield(from_, loop, n));
    uint32_t amount_at = from_.Operand(update, 0) == param ? 1 : 0;
    Value amount = Map(from_.Operand(update, amount_at));
    Value initial = Map(analysis::CarriedInit(from_, loop, n));
    Value growth = builder_.Make(Op::Mul, {builder_.Cast(count, from_.TypeOf(param)), amount});
    return builder_.Make(from_[update].op, {initial, growth});
  }

  void VisitWhile(Inst inst) {
    const InstData& data = from_[inst];
    Block test = data.regions[0], body = data.regions[1];
    Value condition = analysis::ConditionOf(from_, inst);
    bool never = from_.IsConstant(condition) && from_.ConstantOf(condition).bits == 0;
    if (never && analysis::RunsAtLeastOnce(from_, inst)) {
      ++changes_;
      MapInitial(inst, [&](uint32_t n) { return analysis::CarriedParam(from_, inst, n); });
      MapInitial(inst, [&](uint32_t n) { return from_.Result(inst, n); });
      return VisitContents(test);
    }
    if (RunsOnce(inst)) {
      ++changes_;
      return TakeOnce(inst);
    }
    std::vector<Value> before;
    if (data.Has(ir::Word::HasMax)) before.push_back(Map(from_.Operand(inst, 0)));
    Carried carried = CarriedOf(inst, std::move(before), [](uint32_t) { return false; });
    Inst copy = NewControl(inst, carried.operands, carried.types);
    memory_.ClobberWrittenIn(inst);
    Block new_test = into_->NewBlock(copy);
    (*into_)[copy].regions[0] = new_test;
    AddCarried(inst, new_test, carried.remaining);
    EnterRegion(new_test, inst, true);
    VisitContents(test);
    Value new_condition = Map(condition);
    builder_.SetSpan(from_[from_.Terminator(test)].span);
    builder_.Terminate(Op::ContinueIf, {&new_condition, 1});
    // The body sees the values of the condition region: it is a scope inside of it.
    Block new_body = into_->NewBlock(copy);
    (*into_)[copy].regions[1] = new_body;
    EnterRegion(new_body, inst, false);
    size_t undo = assumptions_.size();
    Assume(new_condition, true, 0);
    VisitContents(body);
    YieldRemaining(from_.Terminator(body), carried.remaining);
    Withdraw(undo);
    LeaveRegion();
    LeaveRegion();
    AppendControl(inst, copy, carried.remaining);
  }

  void VisitIf(Inst inst) {
    const InstData& data = from_[inst];
    Value condition = Map(from_.Operand(inst, 0));
    if (into_->IsConstant(condition)) {
      ++changes_;
      Block taken = data.regions[IsTrue(condition) ? 0 : 1];
      VisitContents(taken);
      for (uint32_t n = 0; n < data.result_count; ++n) {
        Value result = from_.Result(inst, n);
        if (live_.IsLive(result)) MapNamed(result, Map(from_.Operand(from_.Terminator(taken), n)));
      }
      return;
    }
    std::vector<uint32_t> remaining;
    std::vector<Type> types;
    for (uint32_t n = 0; n < data.result_count; ++n) {
      if (!live_.IsLive(from_.Result(inst, n))) {
        ++changes_;
        continue;
      }
      remaining.push_back(n);
      types.push_back(from_.TypeOf(from_.Result(inst, n)));
    }
    Inst copy = NewControl(inst, {&condition, 1}, types);
    MemoryState::Snapshot before = memory_.Save(inst);
    std::vector<Value> yields[2];
    for (uint32_t r = 0; r < 2; ++r) {
      if (r == 1) memory_.Restore(before);
      EnterRegion(NewRegion(data.regions[r], copy, r), inst, false);
      size_t undo = assumptions_.size();
      Assume(condition, r == 0, 0);
      VisitContents(data.regions[r]);
      yields[r] = YieldRemaining(from_.Terminator(data.regions[r]), remaining);
      Withdraw(undo);
      LeaveRegion();
    }
    AppendControl(inst, copy, remaining);
    builder_.SetSpan(data.span);
    for (uint32_t n = 0; n < remaining.size(); ++n) {
      Value result = from_.Result(inst, remaining[n]);
      Value yes = yields[0][n], no = yields[1][n];
      Value known;
      if (yes == no) {
        known = yes;
      } else if (types[n].Is(ir::Scalar::I1) && IsTrue(yes) && IsFalse(no)) {
        known = condition;
      } else if (types[n].Is(ir::Scalar::I1) && IsFalse(yes) && IsTrue(no)) {
        known = builder_.Make(Op::Not, {condition});
      }
      if (!known.Valid()) continue;
      ++changes_;
      SetMapped(result, known);
    }
  }

  /// From here to Withdraw, `condition` is known: its uses become the literal.
  void Assume(Value condition, bool truth, uint32_t depth) {
    constexpr uint32_t kMaxDepth = 8;
    if (into_->IsConstant(condition)) return;
    assumptions_.emplace_back(condition, assumed_.Get(condition));
    assumed_[condition] = builder_.Int(ir::kI1, truth ? 1 : 0);
    Inst inst = into_->DefiningInst(condition);
    if (!inst.Valid() || depth == kMaxDepth) return;
    Op op = (*into_)[inst].op;
    if (op == Op::Not) Assume(into_->Operand(inst, 0), !truth, depth + 1);
    if ((op == Op::And && truth) || (op == Op::Or && !truth)) {
      Assume(into_->Operand(inst, 0), truth, depth + 1);
      Assume(into_->Operand(inst, 1), truth, depth + 1);
    }
  }

  void Withdraw(size_t count) {
    while (assumptions_.size() > count) {
      assumed_[assumptions_.back().first] = assumptions_.back().second;
      assumptions_.pop_back();
    }
  }

  Liveness live_;
  AccessFacts facts_;
  ValueNumbering numbering_;
  MemoryState memory_;
  std::vector<Frame> frames_;
  SideTable<Value, Value> assumed_;
  std::vector<std::pair<Value, Value>> assumptions_;
  SideTable<Value, uint32_t> parameter_number_;  ///< of the source, plus one
  bool stops_derivatives_ = false;               ///< a kernel that is still to be differentiated
  uint64_t changes_ = 0;
};

}  // namespace

void SimplifyFunction(ir::Module& module, Function& function, const SimplifyConfig& config) {
  for (uint32_t round = 0; round < config.rounds; ++round) {
    SimplifyRewriter rewriter(module, function, config);
    std::unique_ptr<Function> simplified = rewriter.RunAll();
    bool changed = rewriter.Changed();
    function = std::move(*simplified);
    if (!changed) return;
  }
}

bool Simplify(ir::Module& module, const SimplifyConfig& config, diag::Diagnostics&) {
  for (size_t n = 0; n < module.functions.size(); ++n) SimplifyFunction(module, *module.functions[n], config);
  return true;
}

}  // namespace adc::transform
