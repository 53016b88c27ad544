// A branch with tasks in it becomes a row of tasks, each behind the condition.
//
//   if %c {                                       %m = if %c { yield (load %k[]) } else { yield 0 }
//     %m = load %k[]                              %h = select %c, %m, 0
//     parallel %i in 0..%m { P }            =>    parallel %i in 0..%h { P }
//     store %k[], 0                               if %c { store %k[], 0 }
//   } else { ... }                                ... the same behind (not %c)
//
// A value that a statement of the branch makes for a later one leaves its guard as a result, with zeros where
// the branch is not taken: its readers stand behind the same condition. Integer arithmetic, extents and local
// arrays need no guard (nothing traps), so that the bounds of the loops stay what the loader can evaluate.
// The condition of a branch inside a branch is its own `and` that of the outer one; where the outer one is
// not taken its own is the false that the guard yields.
//
// Conditions are values of the kernel like any other: where one crosses tasks it goes through scratch memory
// (isolate_tasks.h), so that it is decided once.

#include "transform/guard_tasks.h"

#include <algorithm>

#include "analysis/structure.h"
#include "ir/module.h"
#include "transform/rewriter.h"

namespace adc::transform {
namespace {

using ir::Block, ir::Function, ir::Inst, ir::Op, ir::Type, ir::Value;

class GuardRewriter final : public Rewriter {
 public:
  GuardRewriter(ir::Module& module, const Function& from, FoldConfig fold)
      : Rewriter(module, from, fold), structure_(from), holds_(from.InstCount(), 0) {
    for (Inst inst : structure_.Order()) {
      if (!analysis::IsParallel(from[inst].op)) continue;
      for (Inst around : structure_.Enclosing(inst)) holds_[around.raw] = any_ = 1;
    }
  }

  bool any() const { return any_ != 0; }

 private:
  void Visit(Inst inst) override {
    if (holds_[inst.raw] == 0) return Copy(inst);
    Open(inst, Value());
  }

  /// Writes a branch that holds tasks; `outer`: the condition around it, if there is one.
  void Open(Inst inst, Value outer) {
    const ir::InstData& data = from_[inst];
    builder_.SetSpan(data.span);
    Value condition = Map(from_.Operand(inst, 0));
    std::vector<Value> yields[2];
    for (uint32_t r = 0; r < 2; ++r) {
      Block branch = data.regions[r];
      Value guard = r == 0 ? condition : builder_.Make(Op::Not, {condition});
      if (outer.Valid()) guard = builder_.Make(Op::And, {outer, guard});
      if (from_[branch].insts.size() > 1) OpenBranch(branch, guard);
      yields[r] = MapAll(from_.Operands(from_.Terminator(branch)));
    }
    if (data.result_count == 0) return;
    builder_.SetSpan(data.span);
    std::vector<Type> types;
    for (uint32_t n = 0; n < data.result_count; ++n) types.push_back(from_.TypeOf(from_.Result(inst, n)));
    Inst chosen = builder_.Branch(
        condition, types, [&] { builder_.Yield(yields[0]); }, [&] { builder_.Yield(yields[1]); });
    MapResults(inst, ResultsOf(chosen));
  }

  void OpenBranch(Block branch, Value guard) {
    std::vector<Inst> waiting;
    for (Inst inst : from_[branch].insts) {
      bool parallel = analysis::IsParallel(from_[inst].op);
      if (!parallel && holds_[inst.raw] == 0) {
        waiting.push_back(inst);
        continue;
      }
      WriteGuarded(waiting, guard);
      waiting.clear();
      if (parallel) {
        WriteParallel(inst, guard);
      } else {
        Open(inst, guard);
      }
    }
    waiting.pop_back();  // the end of the branch
    WriteGuarded(waiting, guard);
  }

  /// True for what may run where the branch is not taken: it reads no memory, cannot trap, and has no
  /// derivative.
  bool IsFree(Inst inst) const {
    const ir::InstData& data = from_[inst];
    if (data.op == Op::Alloca) return true;
    bool pure = IsArithmetic(data.op) || data.op == Op::Shape;
    for (uint32_t n = 0; n < data.result_count; ++n)
      pure = pure && !from_.TypeOf(from_.Result(inst, n)).IsFloat();
    for (Value v : from_.Operands(inst)) pure = pure && !from_.TypeOf(v).IsFloat();
    return pure;
  }

  void WriteGuarded(const std::vector<Inst>& insts, Value guard) {
    std::vector<Inst> guarded;
    IndexSet<Value> made;
    for (Inst inst : insts) {
      bool free = IsFree(inst);
      for (Value v : from_.Operands(inst)) free = free && !made.Has(v);
      if (free) {
        Copy(inst);
        continue;
      }
      guarded.push_back(inst);
      for (uint32_t n = 0; n < from_[inst].result_count; ++n) made.Insert(from_.Result(inst, n));
    }
    if (guarded.empty()) return;
    std::vector<Value> leaving = ReadOutside(guarded, made);
    std::vector<Type> types;
    for (Value v : leaving) types.push_back(from_.TypeOf(v));
    builder_.SetSpan(from_[guarded[0]].span);
    auto run = [&] {
      for (Inst inst : guarded) Copy(inst);
      builder_.Yield(MapAll(leaving));
    };
    Inst choice = builder_.Branch(guard, types, run, [&] { builder_.Yield(ZerosOf(types)); });
    for (uint32_t n = 0; n < leaving.size(); ++n) MapNamed(leaving[n], into_->Result(choice, n));
  }

  /// The values among `made` that an instruction reads which lies in none of `insts`, in order.
  std::vector<Value> ReadOutside(const std::vector<Inst>& insts, const IndexSet<Value>& made) const {
    std::vector<Value> read;
    for (Inst reader : structure_.Order()) {
      bool inside = std::any_of(insts.begin(), insts.end(), [&](Inst inst) {
        return inst == reader || structure_.Contains(inst, reader);
      });
      if (inside) continue;
      for (Value v : from_.Operands(reader)) {
        if (made.Has(v)) read.push_back(v);
      }
    }
    std::sort(read.begin(), read.end());
    read.erase(std::unique(read.begin(), read.end()), read.end());
    return read;
  }

  /// The same loop, with no iterations where the guard does not hold.
  void WriteParallel(Inst inst, Value guard) {
    const ir::InstData& data = from_[inst];
    builder_.SetSpan(data.span);
    std::vector<Value> bounds;
    uint32_t block_size = 0;
    if (data.op == Op::ParallelOver) {
      const ir::Layout& layout = module_.layouts[from_.TypeOf(from_.Operand(inst, 0)).count];
      for (const ir::LayoutAxis& axis : layout.fields[data.attr].axes) {
        bounds.push_back(builder_.I32(0));
        bounds.push_back(builder_.I32(static_cast<int32_t>(axis.extent)));
      }
    } else {
      bounds = MapAll(from_.Operands(inst));
      block_size = data.attr;
    }
    bounds[1] = builder_.Make(Op::Select, {guard, bounds[1], bounds[0]});
    Inst copy = builder_.Parallel(bounds, block_size);
    (*into_)[copy].words = data.words;
    Block body = (*into_)[copy].regions[0];
    MapParams(data.regions[0], (*into_)[body].params);
    VisitBlock(data.regions[0], body);
  }

  analysis::Structure structure_;
  std::vector<unsigned char> holds_;  ///< per instruction: a `parallel` stands inside of it
  unsigned char any_ = 0;
};

}  // namespace

void GuardTasks(ir::Module& module, FoldConfig fold) {
  for (std::unique_ptr<Function>& function : module.functions) {
    if (!function->IsKernel()) continue;
    GuardRewriter rewriter(module, *function, fold);
    if (rewriter.any()) *function = std::move(*rewriter.Run());
  }
}

}  // namespace adc::transform
