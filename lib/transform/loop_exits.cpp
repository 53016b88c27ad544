// What stands after a branch that leaves moves into the branch that stays.
//
//   %r = for %i in lo..hi carry(%a = %x) {     %r, .. = while max trips carry(%a = %x, %i = lo, %go = true) {
//     A                                          continue_if %go
//     if %c { break %p }                  =>   } do {
//     B                                          A
//     yield %q                                   %n, %m = if %c { yield %p, false } else { B; yield %q, true
//     }
//   }                                            yield %n, (add %i, step), %m
//                                              }
//
// `continue` is the same with true, and a loop that is only continued stays a `for`. Where both branches of
// an `if` may come to their end and one of them may leave on the way, what follows must not be written twice:
// the `if` gives whether it left, the values for that case and its own results (zeros where there are none),
// and a second `if` decides between them and what follows. A `while` that is left evaluates its condition no
// more: a condition that reads memory or does something stands behind `%go` as well. A loop marked `unroll`
// stays a `for` whose body stands behind `%go`.
//
// The derivative of an `if` is that of the branch that is taken, so nothing here needs a rule of its own.

#include "transform/loop_exits.h"

#include <algorithm>

#include "analysis/structure.h"
#include "diag/errors/parse.h"
#include "ir/module.h"
#include "transform/rewriter.h"

namespace adc::transform {
namespace {

using ir::Block;
using ir::Function;
using ir::Inst;
using ir::Op;
using ir::Type;
using ir::Value;

bool IsLeave(Op op) {
  return op == Op::Break || op == Op::Continue;
}

class ExitRewriter final : public Rewriter {
 public:
  ExitRewriter(ir::Module& module, const Function& from, FoldConfig fold)
      : Rewriter(module, from, fold),
        structure_(from),
        marks_(from.InstCount(), 0),
        branches_(from.InstCount(), 0) {
    for (Inst inst : structure_.Order()) {
      Op op = from[inst].op;
      if (!IsLeave(op)) continue;
      any_ = true;
      // The branches around it, up to and with its loop.
      for (Inst around = from[from[inst].parent].owner;; around = from[from[around].parent].owner) {
        bool first = marks_[around.raw] == 0;
        marks_[around.raw] |= op == Op::Break ? kHasBreak : kHasContinue;
        if (from[around].op != Op::If) {
          over_limit_ = branches_[around.raw] > kMostBranches && !over_limit_.Valid() ? around : over_limit_;
          break;
        }
        if (first) ++branches_[LoopAround(around).raw];
      }
    }
  }

  bool any() const { return any_; }
  /// A loop that more branches leave than regions may nest; invalid where there is none.
  Inst over_limit() const { return over_limit_; }

 private:
  static constexpr unsigned char kHasBreak = 1, kHasContinue = 2;
  static constexpr uint32_t kMostBranches = 100;

  Inst LoopAround(Inst inst) const {
    Inst loop = from_[from_[inst].parent].owner;
    while (from_[loop].op == Op::If) loop = from_[from_[loop].parent].owner;
    return loop;
  }

  /// What follows a branch that comes to its end: the rest of the block that the branch stands in.
  struct Rest {
    Inst branch;
    size_t next = 0;
    const Rest* outer = nullptr;
  };

  /// What a region that is being written gives: the carried values, then, where the loop may be left, whether
  /// it goes on; where `branch` is valid, then whether the iteration is over, and the results of the branch.
  struct Form {
    Inst loop;
    bool has_break = false;
    Inst branch;
    std::vector<Type> types;
  };

  void Visit(Inst inst) override {
    if (marks_[inst.raw] == 0) return Copy(inst);
    const ir::InstData& data = from_[inst];
    bool has_break = (marks_[inst.raw] & kHasBreak) != 0;
    if (data.op == Op::While) return has_break ? WriteWhile(inst) : WriteContinued(inst, 1);
    if (!has_break) return WriteContinued(inst, 0);
    if ((data.flags & ir::kFlagUnroll) != 0) return WriteUnrolled(inst);
    WriteLeft(inst);
  }

  Form FormOf(Inst loop, bool has_break) {
    Form form;
    form.loop = loop;
    form.has_break = has_break;
    for (uint32_t n = 0; n < from_[loop].result_count; ++n)
      form.types.push_back(from_.TypeOf(from_.Result(loop, n)));
    if (has_break) form.types.push_back(ir::kI1);
    return form;
  }

  // --- Loops ---------------------------------------------------------------------------------------------

  /// A loop that is continued but not left: the same loop.
  void WriteContinued(Inst inst, uint32_t body) {
    Inst copy = CopyShell(inst, MapAll(from_.Operands(inst)));
    for (uint32_t r = 0; r < from_.RegionCount(inst); ++r) {
      Block source = from_[inst].regions[r];
      Block region = NewRegion(source, copy, r);
      if (r == body) {
        WriteRegion(source, region, FormOf(inst, false));
      } else {
        VisitBlock(source, region);
      }
    }
  }

  void WriteRegion(Block source, Block into, const Form& form) {
    Block around = builder_.block();
    builder_.SetBlock(into);
    builder_.Yield(Follow(source, 0, nullptr, form));
    builder_.SetBlock(around);
  }

  /// A `for` that may be left: a `while` that counts.
  void WriteLeft(Inst inst) {
    const ir::InstData& data = from_[inst];
    builder_.SetSpan(data.span);
    Value lo = Map(from_.Operand(inst, 0)), hi = Map(from_.Operand(inst, 1)),
          step = Map(from_.Operand(inst, 2));
    Value trips = Trips(lo, hi, *into_->IntegerConstant(step));
    Type type = into_->TypeOf(lo);
    bool reversed = (data.flags & ir::kFlagReversed) != 0;
    Value first = lo;
    if (reversed) {
      Value before = builder_.Cast(builder_.Make(Op::Sub, {trips, builder_.I64(1)}), type);
      first = builder_.Make(Op::Add, {lo, builder_.Make(Op::Mul, {before, step})});
    }
    std::vector<Value> initial = MapAll(from_.Operands(inst).subspan(3));
    size_t own = initial.size();
    initial.push_back(first);
    initial.push_back(builder_.Int(ir::kI1, 1));
    Inst loop = builder_.While(trips, initial);
    (*into_)[loop].flags |= static_cast<uint8_t>(data.flags & ir::kFlagCheckpoint);
    (*into_)[loop].attr = data.attr;
    Block around = builder_.block();
    Block test = (*into_)[loop].regions[0], body = (*into_)[loop].regions[1];
    std::vector<Value> params = (*into_)[test].params;
    const std::vector<Value>& source = from_[data.regions[0]].params;
    SetMapped(source[0], params[own]);
    (*into_)[params[own]].name = from_[source[0]].name;
    for (size_t n = 0; n < own; ++n) {
      SetMapped(source[n + 1], params[n]);
      (*into_)[params[n]].name = from_[source[n + 1]].name;
    }
    builder_.SetBlock(test);
    builder_.Terminate(Op::ContinueIf, {&params[own + 1], 1});
    builder_.SetBlock(body);
    std::vector<Value> values = Follow(data.regions[0], 0, nullptr, FormOf(inst, true));
    builder_.SetSpan(data.span);
    values.insert(values.end() - 1, builder_.Make(reversed ? Op::Sub : Op::Add, {params[own], step}));
    builder_.Yield(values);
    builder_.SetBlock(around);
    TakeResults(inst, loop);
  }

  /// The iterations of a `for`, as i64. Where the distance of two i64 wraps it is all that an i64 can count.
  Value Trips(Value lo, Value hi, int64_t step) {
    bool wide = into_->TypeOf(lo) == ir::kI64;
    Value low = wide ? lo : builder_.Cast(lo, ir::kI64), high = wide ? hi : builder_.Cast(hi, ir::kI64);
    Value count = builder_.Make(Op::Sub, {builder_.Make(Op::Max, {high, low}), low});
    if (wide && into_->IntegerConstant(lo).value_or(-1) < 0) {
      Value wraps = builder_.Make(Op::Lt, {count, builder_.I64(0)});
      count = builder_.Make(Op::Select, {wraps, builder_.I64(INT64_MAX), count});
    }
    if (step == 1) return count;
    return builder_.Make(Op::CeilDiv, {count, builder_.I64(step)});
  }

  /// A `for` that will be unrolled: its body stands behind a flag.
  void WriteUnrolled(Inst inst) {
    const ir::InstData& data = from_[inst];
    builder_.SetSpan(data.span);
    std::vector<Value> initial = MapAll(from_.Operands(inst).subspan(3));
    size_t own = initial.size();
    initial.push_back(builder_.Int(ir::kI1, 1));
    Inst loop = builder_.For(Map(from_.Operand(inst, 0)), Map(from_.Operand(inst, 1)),
                             Map(from_.Operand(inst, 2)), initial, data.flags);
    (*into_)[loop].attr = data.attr;
    Block around = builder_.block();
    Block body = (*into_)[loop].regions[0];
    std::vector<Value> params = (*into_)[body].params;
    const std::vector<Value>& source = from_[data.regions[0]].params;
    for (size_t n = 0; n <= own; ++n) {
      SetMapped(source[n], params[n]);
      (*into_)[params[n]].name = from_[source[n]].name;
    }
    Form form = FormOf(inst, true);
    builder_.SetBlock(body);
    Inst choice = builder_.If(params[own + 1], form.types);
    WriteRegion(data.regions[0], (*into_)[choice].regions[0], form);
    builder_.SetBlock((*into_)[choice].regions[1]);
    builder_.Yield(std::span<const Value>(params).subspan(1));
    builder_.SetBlock(body);
    builder_.Yield(ResultsOf(choice));
    builder_.SetBlock(around);
    TakeResults(inst, loop);
  }

  void WriteWhile(Inst inst) {
    const ir::InstData& data = from_[inst];
    builder_.SetSpan(data.span);
    bool has_max = (data.flags & ir::kFlagHasMax) != 0;
    std::vector<Value> initial = MapAll(from_.Operands(inst).subspan(has_max ? 1 : 0));
    size_t own = initial.size();
    initial.push_back(builder_.Int(ir::kI1, 1));
    Inst loop = builder_.While(has_max ? Map(from_.Operand(inst, 0)) : Value(), initial, data.flags);
    (*into_)[loop].attr = data.attr;
    Block around = builder_.block();
    Block test = (*into_)[loop].regions[0], body = (*into_)[loop].regions[1];
    std::vector<Value> params = (*into_)[test].params;
    const std::vector<Value>& source = from_[data.regions[0]].params;
    for (size_t n = 0; n < own; ++n) {
      SetMapped(source[n], params[n]);
      (*into_)[params[n]].name = from_[source[n]].name;
    }
    builder_.SetBlock(test);
    Value more = WriteTest(data.regions[0], params[own]);
    builder_.Terminate(Op::ContinueIf, {&more, 1});
    WriteRegion(data.regions[1], body, FormOf(inst, true));
    builder_.SetBlock(around);
    TakeResults(inst, loop);
  }

  /// The condition of a `while`, which is not evaluated once the loop was left.
  Value WriteTest(Block test, Value go) {
    const std::vector<Inst>& insts = from_[test].insts;
    Value decides = from_.Operand(insts.back(), 0);
    bool harmless = std::all_of(insts.begin(), insts.end() - 1, [&](Inst inst) {
      return IsArithmetic(from_[inst].op) || from_[inst].op == Op::Shape || from_[inst].op == Op::Alloca;
    });
    if (harmless) {
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
    Inst choice = builder_.If(go, types);
    Block around = builder_.block();
    builder_.SetBlock((*into_)[choice].regions[0]);
    for (size_t n = 0; n + 1 < insts.size(); ++n) {
      if (from_[insts[n]].op != Op::Alloca) Visit(insts[n]);
    }
    builder_.Yield(MapAll(leaving));
    builder_.SetBlock((*into_)[choice].regions[1]);
    builder_.Yield(ZerosOf(types));
    builder_.SetBlock(around);
    for (uint32_t n = 1; n < leaving.size(); ++n) {
      SetMapped(leaving[n], into_->Result(choice, n));
      PassName(leaving[n], into_->Result(choice, n));
    }
    return into_->Result(choice, 0);
  }

  void TakeResults(Inst inst, Inst loop) {
    for (uint32_t n = 0; n < from_[inst].result_count; ++n) {
      SetMapped(from_.Result(inst, n), into_->Result(loop, n));
      PassName(from_.Result(inst, n), into_->Result(loop, n));
    }
  }

  // --- Bodies --------------------------------------------------------------------------------------------

  /// Writes a block from `next` on, and what follows it, to the builder's block; what the region then gives.
  std::vector<Value> Follow(Block block, size_t next, const Rest* rest, const Form& form) {
    const std::vector<Inst>& insts = from_[block].insts;
    for (size_t n = next; n < insts.size(); ++n) {
      Inst inst = insts[n];
      const ir::InstData& data = from_[inst];
      if (IsLeave(data.op)) return Leave(inst, form);
      if (data.op == Op::Yield) return ComeToEnd(inst, rest, form);
      if (data.op == Op::If && marks_[inst.raw] != 0) return Branch(inst, {inst, n + 1, rest}, form);
      Visit(inst);
    }
    return {};
  }

  std::vector<Value> Leave(Inst inst, const Form& form) {
    std::vector<Value> values = MapAll(from_.Operands(inst));
    if (form.has_break) values.push_back(builder_.Int(ir::kI1, from_[inst].op == Op::Continue ? 1 : 0));
    if (!form.branch.Valid()) return values;
    values.push_back(builder_.Int(ir::kI1, 1));
    std::vector<Value> zeros = ZerosOf(std::span(form.types).subspan(values.size()));
    values.insert(values.end(), zeros.begin(), zeros.end());
    return values;
  }

  std::vector<Value> ComeToEnd(Inst yield, const Rest* rest, const Form& form) {
    std::vector<Value> operands = MapAll(from_.Operands(yield));
    if (rest != nullptr) {
      for (uint32_t n = 0; n < operands.size(); ++n) SetMapped(from_.Result(rest->branch, n), operands[n]);
      return Follow(from_[rest->branch].parent, rest->next, rest->outer, form);
    }
    if (!form.branch.Valid()) {
      if (form.has_break) operands.push_back(builder_.Int(ir::kI1, 1));
      return operands;
    }
    size_t carried = form.types.size() - operands.size() - 1;
    std::vector<Value> values = ZerosOf(std::span(form.types).first(carried));
    values.push_back(builder_.Int(ir::kI1, 0));
    values.insert(values.end(), operands.begin(), operands.end());
    return values;
  }

  /// Whether control may reach the end of the block.
  bool ComesToEnd(Block block) const {
    for (Inst inst : from_[block].insts) {
      const ir::InstData& data = from_[inst];
      if (IsLeave(data.op)) return false;
      bool branch = data.op == Op::If && marks_[inst.raw] != 0;
      if (branch && !ComesToEnd(data.regions[0]) && !ComesToEnd(data.regions[1])) return false;
    }
    return true;
  }

  std::vector<Value> Branch(Inst inst, const Rest& rest, const Form& form) {
    const ir::InstData& data = from_[inst];
    if (ComesToEnd(data.regions[0]) && ComesToEnd(data.regions[1])) return BranchThenRest(inst, rest, form);
    builder_.SetSpan(data.span);
    Inst choice = builder_.If(Map(from_.Operand(inst, 0)), form.types);
    Block around = builder_.block();
    for (uint32_t r = 0; r < 2; ++r) {
      builder_.SetBlock((*into_)[choice].regions[r]);
      builder_.Yield(Follow(data.regions[r], 0, &rest, form));
    }
    builder_.SetBlock(around);
    return ResultsOf(choice);
  }

  std::vector<Value> BranchThenRest(Inst inst, const Rest& rest, const Form& form) {
    const ir::InstData& data = from_[inst];
    builder_.SetSpan(data.span);
    Form inner = FormOf(form.loop, form.has_break);
    inner.branch = inst;
    size_t carried = inner.types.size();
    inner.types.push_back(ir::kI1);
    for (uint32_t n = 0; n < data.result_count; ++n)
      inner.types.push_back(from_.TypeOf(from_.Result(inst, n)));
    Inst first = builder_.If(Map(from_.Operand(inst, 0)), inner.types);
    for (uint32_t r = 0; r < 2; ++r) WriteRegion(data.regions[r], (*into_)[first].regions[r], inner);
    std::vector<Value> values = ResultsOf(first);
    for (uint32_t n = 0; n < data.result_count; ++n) {
      SetMapped(from_.Result(inst, n), values[carried + 1 + n]);
      PassName(from_.Result(inst, n), values[carried + 1 + n]);
    }
    builder_.SetSpan(data.span);
    Inst second = builder_.If(values[carried], form.types);
    Block around = builder_.block();
    builder_.SetBlock((*into_)[second].regions[0]);
    std::vector<Value> over(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(carried));
    if (form.branch.Valid()) {
      over.push_back(builder_.Int(ir::kI1, 1));
      std::vector<Value> zeros = ZerosOf(std::span(form.types).subspan(over.size()));
      over.insert(over.end(), zeros.begin(), zeros.end());
    }
    builder_.Yield(over);
    builder_.SetBlock((*into_)[second].regions[1]);
    builder_.Yield(Follow(data.parent, rest.next, rest.outer, form));
    builder_.SetBlock(around);
    return ResultsOf(second);
  }

  std::vector<Value> ResultsOf(Inst inst) const {
    std::vector<Value> results;
    for (uint32_t n = 0; n < (*into_)[inst].result_count; ++n) results.push_back(into_->Result(inst, n));
    return results;
  }

  std::vector<Value> ZerosOf(std::span<const Type> types) {
    std::vector<Value> zeros;
    for (Type type : types) {
      if (type.IsScalar()) {
        zeros.push_back(builder_.Zero(type));
        continue;
      }
      std::vector<Value> parts(type.Components(), builder_.Zero(type.ScalarType()));
      zeros.push_back(
          into_->Result(builder_.Create(type.IsVec() ? Op::VecMake : Op::MatMake, parts, {&type, 1})));
    }
    return zeros;
  }

  analysis::Structure structure_;
  std::vector<unsigned char> marks_;  ///< per `if` and loop: what leaves the loop from inside of it
  std::vector<uint32_t> branches_;    ///< per loop: the branches that leave it or its iteration
  Inst over_limit_;
  bool any_ = false;
};

}  // namespace

bool LowerLoopExits(ir::Module& module, FoldConfig fold, diag::Diagnostics& diagnostics) {
  bool good = true;
  for (std::unique_ptr<Function>& function : module.functions) {
    ExitRewriter rewriter(module, *function, fold);
    if (!rewriter.any()) continue;
    if (rewriter.over_limit().Valid()) {
      diagnostics
          .Error(diag::E0135, (*function)[rewriter.over_limit()].span,
                 "more than 100 branches of this loop end with 'break' or 'continue'")
          .AddHelp("put the conditions together with 'or', or move parts of the body to loops of their own");
      good = false;
      continue;
    }
    *function = std::move(*rewriter.Run());
  }
  return good;
}

}  // namespace adc::transform
