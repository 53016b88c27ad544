// Code after a branch that leaves moves into the branch that stays.
//
//   %r = for %i in lo..hi carry(%a = %x) {     %r, .. = while max trips carry(%a = %x, %go = true, %i = lo) {
//     A                                          continue_if %go
//     if %c { break %p }                  =>   } do {
//     B                                          A
//     yield %q                                   %n, %m = if %c { yield %p, false } else { B; yield %q, true
//     }
//   }                                            yield %n, %m, (add %i, step)
//                                              }
//
// `continue` is the same with true, and a loop that is only continued stays a `for`. A scope disappears: its
// body is written in its place, and an `exit` gives its results as the end of the scope does.
//
// Where both branches of an `if` may come to their end and one of them may leave on the way, the code after
// it must not be written twice. So the `if` gives its own results (zeros where there are none), and for each
// loop or scope that it may leave for the values of that way, and whether it was taken. A second `if` decides
// between these and the code after it. A loop or scope from inside of which an outer one is left gives the
// same; the loop ends then.
//
// A `while` that is left evaluates its condition no more: a condition that does something, or reads memory at
// another place than the first time, stands behind `%go` as well. A loop marked `unroll` stays a `for` whose
// body stands behind `%go`.
//
// The derivative of an `if` is that of the branch that is taken, so nothing here needs a rule of its own.

#include "transform/exits.h"

#include <algorithm>
#include <set>

#include "analysis/memory.h"
#include "analysis/structure.h"
#include "diag/errors/parse.h"
#include "ir/cheap.h"
#include "ir/module.h"
#include "transform/rewriter.h"
#include "transform/selects.h"

namespace adc::transform {
namespace {

using ir::Block, ir::Function, ir::Inst, ir::Op, ir::Type, ir::Value;

/// Regions that passed-over statements may nest in.
constexpr uint32_t kDeepest = 200;

class ExitRewriter final : public Rewriter {
 public:
  ExitRewriter(ir::Module& module, const Function& from, FoldConfig fold)
      : Rewriter(module, from, fold),
        structure_(from),
        memory_(structure_),
        left_(from.InstCount(), 0),
        ways_(from.InstCount()) {
    for (Inst inst : structure_.Order()) {
      Op op = from[inst].op;
      any_ = any_ || op == Op::Scope;
      if (!ir::IsLeave(op) || from.IsUnreached(inst)) continue;
      any_ = true;
      Inst target = from.TargetOf(inst);
      left_[target.raw] |= op == Op::Break ? kByBreak : kOtherwise;
      for (Inst around = from.OwnerOf(inst); around != target; around = from.OwnerOf(around)) {
        std::vector<Inst>& ways = ways_[around.raw];
        if (std::find(ways.begin(), ways.end(), target) == ways.end()) ways.push_back(target);
      }
    }
  }

  bool any() const { return any_; }
  /// The first branch that would nest too deep; invalid where there is none.
  Inst too_deep() const { return too_deep_; }

 private:
  static constexpr unsigned char kByBreak = 1, kOtherwise = 2;
  static constexpr size_t kNowhere = SIZE_MAX;

  /// The code after a branch or scope that comes to its end: the rest of the block that it stands in.
  struct Rest {
    Inst before;
    size_t next = 0;
    const Rest* outer = nullptr;
  };

  /// A loop or scope around, and the position of the values that leave for it. The flag after them says that
  /// the way was taken; there is none where the loop's own flag says it, by not going on.
  struct Way {
    Inst target;
    size_t first = 0, taken = kNowhere;
  };
  /// The results of a region that is being written: those of its instruction, then its ways out, then, of a
  /// loop that may be left, whether it goes on.
  struct Form {
    Inst inst;
    std::vector<Way> ways;
    size_t goes_on = kNowhere;
    std::vector<Type> types;
  };

  const std::vector<Inst>& WaysOf(Inst inst) const { return ways_[inst.raw]; }
  /// Whether the loop carries whether it goes on.
  bool SaysGoesOn(Inst loop) const {
    Op op = from_[loop].op;
    return analysis::IsSerialLoop(op) && ((left_[loop.raw] & kByBreak) != 0 || !WaysOf(loop).empty());
  }

  void Visit(Inst inst) override {
    Op op = from_[inst].op;
    if (op == Op::Scope) return MapResults(inst, Follow(from_[inst].regions[0], 0, nullptr, FormOf(inst)));
    if (left_[inst.raw] == 0) return Copy(inst);
    MapResults(inst, WriteLoop(inst));
  }

  /// The types of what leaves for `target`.
  void AddTypes(Inst target, std::vector<Type>* types) const {
    for (uint32_t n = 0; n < from_[target].result_count; ++n)
      types->push_back(from_.TypeOf(from_.Result(target, n)));
  }

  Form FormOf(Inst inst) const {
    Form form;
    form.inst = inst;
    AddTypes(inst, &form.types);
    bool says = SaysGoesOn(inst),
         only = says && (left_[inst.raw] & kByBreak) == 0 && WaysOf(inst).size() == 1;
    for (Inst target : WaysOf(inst)) {
      Way way{target, form.types.size()};
      AddTypes(target, &form.types);
      if (SaysGoesOn(target)) form.types.push_back(ir::kI1);
      if (!only) {
        way.taken = form.types.size();
        form.types.push_back(ir::kI1);
      }
      form.ways.push_back(way);
    }
    if (!says) return form;
    form.goes_on = form.types.size();
    form.types.push_back(ir::kI1);
    return form;
  }

  // --- Loops ---------------------------------------------------------------------------------------------

  /// A loop that is left, or whose iterations are: its values, in its form.
  std::vector<Value> WriteLoop(Inst inst) {
    const ir::InstData& data = from_[inst];
    if (data.op == Op::While) return SaysGoesOn(inst) ? WriteWhile(inst) : WriteContinued(inst, 1);
    if (!SaysGoesOn(inst)) return WriteContinued(inst, 0);
    return data.Has(ir::Word::Unroll) ? WriteUnrolled(inst) : WriteLeft(inst);
  }

  /// A loop that is continued but not left: the same loop.
  std::vector<Value> WriteContinued(Inst inst, uint32_t body) {
    Inst copy = CopyShell(inst, MapAll(from_.Operands(inst)));
    for (uint32_t r = 0; r < from_.RegionCount(inst); ++r) {
      Block source = from_[inst].regions[r];
      Block region = NewRegion(source, copy, r);
      if (r == body) {
        WriteRegion(source, region, FormOf(inst));
      } else {
        VisitBlock(source, region);
      }
    }
    return ResultsOf(copy);
  }

  void WriteRegion(Block source, Block into, const Form& form) {
    InBlock(into, [&] { builder_.Yield(Follow(source, 0, nullptr, form)); });
  }

  /// The initial values of a loop: no way out is taken, and it goes on.
  std::vector<Value> Initial(std::span<const Value> carried, const Form& form) {
    std::vector<Value> values = MapAll(carried);
    values.resize(form.types.size());
    values[form.goes_on] = builder_.Int(ir::kI1, 1);
    return WithZeros(std::move(values), form);
  }

  /// A `for` that may be left: a `while` that counts.
  std::vector<Value> WriteLeft(Inst inst) {
    const ir::InstData& data = from_[inst];
    builder_.SetSpan(data.span);
    Value lo = Map(from_.Operand(inst, 0)), hi = Map(from_.Operand(inst, 1)),
          step = Map(from_.Operand(inst, 2));
    Value trips = Trips(lo, hi, *into_->IntegerConstant(step));
    Type type = into_->TypeOf(lo);
    bool reversed = data.Has(ir::Word::Reversed);
    Value first = lo;
    if (reversed) {
      Value before = builder_.Cast(builder_.Make(Op::Sub, {trips, builder_.I64(1)}), type);
      first = builder_.Make(Op::Add, {lo, builder_.Make(Op::Mul, {before, step})});
    }
    Form form = FormOf(inst);
    std::vector<Value> initial = Initial(from_.Operands(inst).subspan(3), form);
    initial.push_back(first);
    Inst loop = builder_.While(trips, initial);
    (*into_)[loop].words.Add(data.words.Of({ir::Word::Checkpoint}));
    (*into_)[loop].attr = data.attr;
    Block test = (*into_)[loop].regions[0], body = (*into_)[loop].regions[1];
    std::vector<Value> params = (*into_)[test].params;
    // The index comes last here, and first there.
    std::vector<Value> in_order = params;
    std::rotate(in_order.begin(), in_order.end() - 1, in_order.end());
    MapParams(data.regions[0], in_order);
    InBlock(test, [&] { builder_.Terminate(Op::ContinueIf, {&params[form.goes_on], 1}); });
    InBlock(body, [&] {
      std::vector<Value> values = Follow(data.regions[0], 0, nullptr, form);
      builder_.SetSpan(data.span);
      values.push_back(builder_.Make(reversed ? Op::Sub : Op::Add, {params.back(), step}));
      builder_.Yield(values);
    });
    return ResultsOf(loop);
  }

  /// A `for` that will be unrolled: its body stands behind a flag.
  std::vector<Value> WriteUnrolled(Inst inst) {
    const ir::InstData& data = from_[inst];
    builder_.SetSpan(data.span);
    Form form = FormOf(inst);
    std::vector<Value> initial = Initial(from_.Operands(inst).subspan(3), form);
    Inst loop = builder_.For(Map(from_.Operand(inst, 0)), Map(from_.Operand(inst, 1)),
                             Map(from_.Operand(inst, 2)), initial, data.words);
    (*into_)[loop].attr = data.attr;
    Block body = (*into_)[loop].regions[0];
    std::vector<Value> params = (*into_)[body].params;
    MapParams(data.regions[0], params);
    InBlock(body, [&] {
      Inst choice = builder_.Branch(
          params[form.goes_on + 1], form.types,
          [&] { builder_.Yield(Follow(data.regions[0], 0, nullptr, form)); },
          [&] { builder_.Yield(std::span<const Value>(params).subspan(1)); });
      builder_.Yield(ResultsOf(choice));
    });
    return ResultsOf(loop);
  }

  std::vector<Value> WriteWhile(Inst inst) {
    const ir::InstData& data = from_[inst];
    builder_.SetSpan(data.span);
    bool has_max = data.Has(ir::Word::HasMax);
    Form form = FormOf(inst);
    std::vector<Value> initial = Initial(from_.Operands(inst).subspan(has_max ? 1 : 0), form);
    Inst loop = builder_.While(has_max ? Map(from_.Operand(inst, 0)) : Value(), initial, data.words);
    (*into_)[loop].attr = data.attr;
    Block test = (*into_)[loop].regions[0], body = (*into_)[loop].regions[1];
    std::vector<Value> params = (*into_)[test].params;
    MapParams(data.regions[0], params);
    InBlock(test, [&] {
      Value more = WriteTest(data.regions[0], params[form.goes_on]);
      builder_.Terminate(Op::ContinueIf, {&more, 1});
    });
    WriteRegion(data.regions[1], body, form);
    return ResultsOf(loop);
  }

  /// Whether a condition does no more than it has done when it was evaluated first: arithmetic, and reads of
  /// the same places.
  bool IsHarmless(Block test) const {
    Inst loop = from_[test].owner;
    std::set<uint32_t> same;
    for (Inst inst : from_[test].insts) {
      Op op = from_[inst].op;
      if (ir::IsTerminator(op) || op == Op::Alloca) continue;
      bool is_read = op == Op::Load;
      if (!is_read && op != Op::Shape && !IsArithmetic(op)) return false;
      std::span<const Value> operands = from_.Operands(inst);
      bool alike = std::all_of(operands.begin(), operands.end(), [&](Value v) {
        return structure_.DefinedOutside(v, loop) || same.count(v.raw) != 0;
      });
      if (is_read && !alike) return false;
      if (is_read && memory_.IsWrittenIn(memory_.ClassOf(inst), loop)) continue;
      if (alike) same.insert(from_.Result(inst).raw);
    }
    return true;
  }

  /// The condition of a `while`, which is not evaluated once the loop was left.
  Value WriteTest(Block test, Value go) {
    const std::vector<Inst>& insts = from_[test].insts;
    Value decides = from_.Operand(insts.back(), 0);
    if (IsHarmless(test)) {
      for (size_t n = 0; n + 1 < insts.size(); ++n) Visit(insts[n]);
      return builder_.Make(Op::And, {go, Map(decides)});
    }
    // The body reads values of the condition: they leave the guard beside it.
    std::vector<Value> leaving{decides};
    std::vector<Type> types{ir::kI1};
    for (size_t n = 0; n + 1 < insts.size(); ++n) {
      if (from_[insts[n]].op == Op::Alloca) {
        Visit(insts[n]);
        continue;
      }
      for (uint32_t r = 0; r < from_[insts[n]].result_count; ++r) {
        leaving.push_back(from_.Result(insts[n], r));
        types.push_back(from_.TypeOf(leaving.back()));
      }
    }
    auto evaluate = [&] {
      for (size_t n = 0; n + 1 < insts.size(); ++n) {
        if (from_[insts[n]].op != Op::Alloca) Visit(insts[n]);
      }
      builder_.Yield(MapAll(leaving));
    };
    Inst choice = builder_.Branch(go, types, evaluate, [&] { builder_.Yield(ZerosOf(types)); });
    for (uint32_t n = 1; n < leaving.size(); ++n) MapNamed(leaving[n], into_->Result(choice, n));
    return into_->Result(choice, 0);
  }

  // --- Bodies --------------------------------------------------------------------------------------------

  /// Writes the block from `next` on, and the code after it. Returns the results of the region, in the order
  /// of `form`.
  std::vector<Value> Follow(Block block, size_t next, const Rest* rest, const Form& form) {
    const std::vector<Inst>& insts = from_[block].insts;
    for (size_t n = next; n < insts.size(); ++n) {
      Inst inst = insts[n];
      Op op = from_[inst].op;
      if (ir::IsLeave(op)) return Leave(inst, form);
      if (op == Op::Yield) return ComeToEnd(inst, rest, form);
      if (WaysOf(inst).empty()) {
        Visit(inst);
        continue;
      }
      Rest after{inst, n + 1, rest};
      if (op == Op::Scope && left_[inst.raw] == 0) return Follow(from_[inst].regions[0], 0, &after, form);
      if (depth_ == kDeepest) {
        if (!too_deep_.Valid()) too_deep_ = inst;
        return WithZeros(std::vector<Value>(form.types.size()), form);
      }
      ++depth_;
      std::vector<Value> values =
          op == Op::If ? WriteBranch(inst, after, form) : WriteThenRest(inst, after, form);
      --depth_;
      return values;
    }
    return {};
  }

  /// `form`'s values of a way out, without those that another way has.
  std::vector<Value> Leave(Inst inst, const Form& form) {
    std::vector<Value> given = MapAll(from_.LeavingValues(inst));
    Inst target = from_.TargetOf(inst);
    if (SaysGoesOn(target)) given.push_back(builder_.Int(ir::kI1, from_[inst].op == Op::Continue ? 1 : 0));
    std::vector<Value> values(form.types.size());
    Put(target, given, builder_.Int(ir::kI1, 1), form, &values);
    return WithZeros(std::move(values), form);
  }

  /// Enters what leaves for `target` in the values of `form`.
  void Put(Inst target, std::span<const Value> given, Value taken, const Form& form,
           std::vector<Value>* values) {
    if (target == form.inst) {
      size_t results = from_[target].result_count;
      std::copy_n(given.begin(), results, values->begin());
      if (form.goes_on != kNowhere) (*values)[form.goes_on] = given[results];
      return;
    }
    const Way& way = *std::find_if(form.ways.begin(), form.ways.end(),
                                   [&](const Way& one) { return one.target == target; });
    std::copy(given.begin(), given.end(), values->begin() + static_cast<std::ptrdiff_t>(way.first));
    if (way.taken != kNowhere) (*values)[way.taken] = taken;
  }

  std::vector<Value> ComeToEnd(Inst yield, const Rest* rest, const Form& form) {
    std::vector<Value> values = MapAll(from_.Operands(yield));
    if (rest != nullptr) {
      MapResults(rest->before, values);
      return Follow(from_[rest->before].parent, rest->next, rest->outer, form);
    }
    values.resize(form.types.size());
    if (form.goes_on != kNowhere) values[form.goes_on] = builder_.Int(ir::kI1, 1);
    return WithZeros(std::move(values), form);
  }

  /// Whether control may reach the end of the block.
  bool ComesToEnd(Block block) const {
    const std::vector<Inst>& insts = from_[block].insts;
    return std::all_of(insts.begin(), insts.end(), [&](Inst inst) {
      return !ir::IsLeave(from_[inst].op) && (WaysOf(inst).empty() || ComesToEnd(inst));
    });
  }
  bool ComesToEnd(Inst inst) const {
    const ir::InstData& data = from_[inst];
    if (data.op == Op::If) return ComesToEnd(data.regions[0]) || ComesToEnd(data.regions[1]);
    return data.op != Op::Scope || left_[inst.raw] != 0 || ComesToEnd(data.regions[0]);
  }

  std::vector<Value> WriteBranch(Inst inst, const Rest& rest, const Form& form) {
    const ir::InstData& data = from_[inst];
    if (ComesToEnd(data.regions[0]) && ComesToEnd(data.regions[1])) return WriteThenRest(inst, rest, form);
    return Settle(WriteIf(inst, &rest, form), form);
  }

  /// The `if` once more, with results in the order of `form`.
  Inst WriteIf(Inst inst, const Rest* rest, const Form& form) {
    const ir::InstData& data = from_[inst];
    builder_.SetSpan(data.span);
    return builder_.Branch(
        Map(from_.Operand(inst, 0)), form.types,
        [&] { builder_.Yield(Follow(data.regions[0], 0, rest, form)); },
        [&] { builder_.Yield(Follow(data.regions[1], 0, rest, form)); });
  }

  /// The results of the `if` that was written last. Where both branches are cheap, selects take its place,
  /// but for values that a loop carries: adjoints of selects read the condition of every iteration, from a
  /// tape. Those of branches that are alike read none. Where only the second branch does something, it
  /// becomes the first.
  std::vector<Value> Settle(Inst choice, const Form& form) {
    std::vector<Value> results = ResultsOf(choice);
    Op around = from_[form.inst].op;
    bool carried = analysis::IsSerialLoop(around) && form.ways.empty();
    std::vector<Inst>& insts = (*into_)[builder_.block()].insts;
    Value condition = into_->Operand(choice, 0);
    auto& [yes, no] = (*into_)[choice].regions;
    if (carried || !ir::IsCheap(*into_, no)) {
      if (!results.empty() || (*into_)[yes].insts.size() > 1) return results;
      insts.pop_back();
      into_->SetOperand(choice, 0, builder_.Make(Op::Not, {condition}));
      into_->Append(builder_.block(), choice);
      std::swap((*into_)[choice].regions[0], (*into_)[choice].regions[1]);
      return results;
    }
    return TakeAsSelects(builder_, choice).value_or(results);
  }

  /// Writes the instruction, which says how it was left, and after it the code that follows or the way on.
  std::vector<Value> WriteThenRest(Inst inst, const Rest& rest, const Form& form) {
    const ir::InstData& data = from_[inst];
    Form inner = FormOf(inst);
    std::vector<Value> values;
    if (data.op == Op::If) {
      values = Settle(WriteIf(inst, nullptr, inner), inner);
    } else {
      values = data.op == Op::Scope ? Follow(data.regions[0], 0, nullptr, inner) : WriteLoop(inst);
    }
    MapResults(inst, values);
    if (!ComesToEnd(inst)) return PassOn(values, inner, form);
    builder_.SetSpan(data.span);
    Value left;
    for (const Way& way : inner.ways) {
      Value taken = Taken(way, values, inner);
      left = left.Valid() ? builder_.Make(Op::Or, {left, taken}) : taken;
    }
    Inst second = builder_.Branch(
        left, form.types, [&] { builder_.Yield(PassOn(values, inner, form)); },
        [&] { builder_.Yield(Follow(data.parent, rest.next, rest.outer, form)); });
    return Settle(second, form);
  }

  Value Taken(const Way& way, std::span<const Value> values, const Form& form) {
    if (way.taken != kNowhere) return values[way.taken];
    return builder_.Make(Op::Not, {values[form.goes_on]});
  }

  /// Leaves in the region around it each loop or scope that was left inside of a region.
  std::vector<Value> PassOn(std::span<const Value> values, const Form& inner, const Form& form) {
    std::vector<Value> out(form.types.size());
    for (const Way& way : inner.ways) {
      size_t count = from_[way.target].result_count + (SaysGoesOn(way.target) ? 1 : 0);
      Put(way.target, values.subspan(way.first, count), Taken(way, values, inner), form, &out);
    }
    return WithZeros(std::move(out), form);
  }

  /// The values, with zeros for those that are not there.
  std::vector<Value> WithZeros(std::vector<Value> values, const Form& form) {
    for (size_t n = 0; n < values.size(); ++n) {
      if (!values[n].Valid()) values[n] = ZeroOf(form.types[n]);
    }
    return values;
  }

  analysis::Structure structure_;
  analysis::MemoryClasses memory_;
  std::vector<unsigned char> left_;      ///< per loop and scope: how it is left
  std::vector<std::vector<Inst>> ways_;  ///< per instruction: loops and scopes around that are left in it
  uint32_t depth_ = 0;
  Inst too_deep_;
  bool any_ = false;
};

}  // namespace

bool LowerExits(ir::Module& module, FoldConfig fold, diag::Diagnostics& diagnostics) {
  bool good = true;
  for (std::unique_ptr<Function>& function : module.functions) {
    ExitRewriter rewriter(module, *function, fold);
    if (!rewriter.any()) continue;
    std::unique_ptr<Function> lowered = rewriter.Run();
    if (rewriter.too_deep().Valid()) {
      diagnostics
          .Error(diag::E0135, (*function)[rewriter.too_deep()].span,
                 "what follows " + std::to_string(kDeepest) +
                     " branches that may leave early nests too deep with this one")
          .AddHelp("put the conditions together with 'or', or move parts of the body to loops of their own");
      good = false;
      continue;
    }
    *function = std::move(*lowered);
  }
  return good;
}

}  // namespace adc::transform
