#include "raise/unroll_and_jam.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analysis/access.h"
#include "analysis/loops.h"
#include "analysis/walk.h"
#include "ir/module.h"
#include "transform/rewriter.h"

namespace adc::raise {
namespace {

using ir::Block, ir::Inst, ir::Op, ir::Value, ir::Word;

/// More units hold more totals of sums in registers: on one GPU eight were slower than four.
constexpr uint32_t kMostUnits = 4;
/// Of the inner loops of all units together.
constexpr size_t kMostInstructions = 96;
/// Functions as sines of a unit around its inner loops, each of which may be much code. Inside of these loops
/// there is none: it takes longer than the loads that units share.
constexpr uint32_t kMostFunctions = 2;
/// Elements of a row of sums that an array of the thread's own holds.
constexpr uint64_t kLongestRow = 64;
/// Accesses of a nest that are compared with one another.
constexpr size_t kMostAccesses = 24;

/// An inner loop of a unit, or a branch that holds one.
struct Stage {
  Inst inner;
  Inst branch;  ///< around `inner`; invalid where each unit runs it
  Inst whole() const { return branch.Valid() ? branch : inner; }
};

/// A loop over units.
struct Nest {
  std::vector<Stage> stages;  ///< of each unit, in order
  uint32_t units = 0;         ///< that run side by side
  std::vector<Inst> rows;     ///< sums in inner loops that all units make into one row of elements
};

class NestFinder {
 public:
  NestFinder(const ir::Module& module, const ir::Function& kernel, bool may_regroup)
      : kernel_(kernel), facts_(module, kernel), may_regroup_(may_regroup) {}

  std::optional<Nest> Find(Inst loop) {
    Nest nest;
    if (!HasForm(loop, &nest) || !SharesLoads(loop, nest) || !MayInterleave(loop)) return std::nullopt;
    for (const Stage& stage : nest.stages) {
      if (stage.branch.Valid() && !MayRunAlways(stage.branch)) return std::nullopt;
    }
    nest.units = UnitsOf(loop, nest);
    if (may_regroup_) FindRows(loop, &nest);
    return nest.units > 1 ? std::optional(nest) : std::nullopt;
  }

 private:
  const std::vector<Inst>& Body(Inst control) const { return kernel_[kernel_[control].regions[0]].insts; }

  /// A loop without words other than the order of its iterations.
  bool IsPlainFor(Inst inst) const {
    const ir::InstData& data = kernel_[inst];
    ir::Words others = data.words;
    others.Remove(Word::Reversed);
    return data.op == Op::For && others.IsEmpty() && data.component == ir::kNoAttr;
  }

  bool Computes(Inst inst) const {
    Op op = kernel_[inst].op;
    bool is_of_tape = ir::ClassOf(op) == ir::OpClass::Row || ir::ClassOf(op) == ir::OpClass::Stack;
    return op != Op::Alloca && !is_of_tape && kernel_.RegionCount(inst) == 0 && analysis::IsPureOrRead(op);
  }

  bool IsWrite(Inst inst) const { return kernel_[inst].op == Op::Store || kernel_[inst].op == Op::AddTo; }

  bool HasForm(Inst loop, Nest* nest) const {
    if (!IsPlainFor(loop) || kernel_[loop].result_count != 0) return false;
    for (Inst inst : Body(loop)) {
      Op op = kernel_[inst].op;
      if (Computes(inst) || IsWrite(inst) || ir::IsTerminator(op)) continue;
      std::optional<Stage> stage;
      if (op == Op::For) stage = Stage{inst, {}};
      if (op == Op::If) stage = StageOf(inst);
      if (!stage || !MayJam(loop, stage->inner)) return false;
      nest->stages.push_back(*stage);
    }
    return !nest->stages.empty() && FunctionsAround(loop, *nest) <= kMostFunctions;
  }

  bool IsFunction(Inst inst) const { return ir::ClassOf(kernel_[inst].op) == ir::OpClass::Function; }

  uint32_t FunctionsAround(Inst loop, const Nest& nest) const {
    auto count =
        static_cast<uint32_t>(std::ranges::count_if(Body(loop), [&](Inst inst) { return IsFunction(inst); }));
    for (const Stage& stage : nest.stages) {
      for (Inst inst : Body(stage.whole())) count += stage.branch.Valid() && IsFunction(inst) ? 1 : 0;
    }
    return count;
  }

  /// Of a branch that computes and then runs a loop, for what that writes.
  std::optional<Stage> StageOf(Inst branch) const {
    const std::vector<Inst>& insts = Body(branch);
    if (kernel_[branch].result_count != 0 || kernel_[kernel_[branch].regions[1]].insts.size() != 1)
      return std::nullopt;
    size_t place = 0;
    while (Computes(insts[place])) ++place;
    bool is_stage = place + 2 == insts.size() && kernel_[insts[place]].op == Op::For &&
                    kernel_[insts[place]].result_count == 0;
    return is_stage ? std::optional(Stage{insts[place], branch}) : std::nullopt;
  }

  /// An inner loop whose bounds are the same for all units, and that holds no further one.
  bool MayJam(Inst loop, Inst inner) const {
    if (!IsPlainFor(inner)) return false;
    for (uint32_t n = 0; n < 3; ++n) {
      if (!facts_.structure().DefinedOutside(kernel_.Operand(inner, n), loop)) return false;
    }
    return std::ranges::all_of(Body(inner), [&](Inst inst) {
      bool computes = Computes(inst) && !IsFunction(inst);
      return computes || IsWrite(inst) || ir::IsTerminator(kernel_[inst].op);
    });
  }

  /// Whether an inner loop loads what is the same for all units.
  bool SharesLoads(Inst loop, const Nest& nest) const {
    IndexSet<Value> own;
    own.Insert(kernel_[kernel_[loop].regions[0]].params[0]);
    bool shares = false;
    analysis::ForEachInst(kernel_, kernel_[loop].regions[0], [&](Inst inst) {
      bool is_own = std::ranges::any_of(kernel_.Operands(inst), [&](Value v) { return own.Has(v); });
      bool is_inside = std::ranges::any_of(nest.stages, [&](const Stage& stage) {
        return kernel_[inst].parent == kernel_[stage.inner].regions[0];
      });
      shares = shares || (!is_own && is_inside && kernel_[inst].op == Op::Load);
      for (uint32_t n = 0; is_own && n < kernel_[inst].result_count; ++n) own.Insert(kernel_.Result(inst, n));
    });
    return shares;
  }

  // ---- Order

  /// Whether each element sees its accesses in the order that it has now where several units take each turn
  /// of the inner loop together.
  bool MayInterleave(Inst loop) {
    std::vector<Inst> accesses;
    analysis::ForEachInst(kernel_, kernel_[loop].regions[0], [&](Inst inst) {
      if (ir::IsAccess(kernel_[inst].op) && facts_.memory().IsWritten(facts_.memory().ClassOf(inst)))
        accesses.push_back(inst);
    });
    if (accesses.size() > kMostAccesses) return false;
    for (size_t a = 0; a < accesses.size(); ++a) {
      for (size_t b = a; b < accesses.size(); ++b) {
        if (!MayInterleave(loop, accesses[a], accesses[b])) return false;
      }
    }
    return true;
  }

  bool MayInterleave(Inst loop, Inst a, Inst b) {
    if (!IsWrite(a) && !IsWrite(b)) return true;
    if (facts_.memory().ClassOf(a) != facts_.memory().ClassOf(b)) return true;
    auto is_sum = [&](Inst inst) { return kernel_[inst].op == Op::AddTo && !kernel_[inst].Has(Word::Plain); };
    if (is_sum(a) && is_sum(b)) return true;
    return MeetInOneTurn(loop, a, b) || facts_.DistinctAcross(loop, a, b);
  }

  /// Whether the two stand in one inner loop, and can touch one element in the same turn of it alone.
  bool MeetInOneTurn(Inst loop, Inst a, Inst b) const {
    Block body = kernel_[a].parent;
    if (kernel_[b].parent != body || body == kernel_[loop].regions[0]) return false;
    if (kernel_[kernel_[body].owner].op != Op::For) return false;
    Value turn = kernel_[body].params[0];
    std::span<const Value> of_a = kernel_.Indices(a), of_b = kernel_.Indices(b);
    for (size_t axis = 0; axis < std::min(of_a.size(), of_b.size()); ++axis) {
      if (of_a[axis] == turn && of_b[axis] == turn) return true;
    }
    return false;
  }

  // ---- Branches

  /// Whether a unit without the branch's condition may make the accesses of the branch, if what it writes has
  /// no effect.
  bool MayRunAlways(Inst branch) {
    bool may = true;
    analysis::ForEachInst(kernel_, kernel_[branch].regions[0], [&](Inst inst) {
      if (!may || !ir::IsAccess(kernel_[inst].op)) return;
      bool is_local = analysis::IsLocalAccess(kernel_, inst);
      if (kernel_[inst].op == Op::Store && !is_local) may = false;
      may = may && (is_local ? facts_.AllInRange(inst) : IsAccessedAnyway(branch, inst));
    });
    return may;
  }

  /// Whether the kernel accesses each element that `access` may access wherever it comes to the branch: in
  /// this buffer, or in one of the same extents.
  bool IsAccessedAnyway(Inst branch, Inst access) const {
    if (!HasBuffer(access)) return false;
    Value primal = analysis::PrimalOf(kernel_, kernel_.Operand(access, 0));
    for (Inst other : facts_.structure().Order()) {
      bool is_candidate = ir::IsAccess(kernel_[other].op) && !facts_.structure().Contains(branch, other) &&
                          HasBuffer(other) &&
                          analysis::PrimalOf(kernel_, kernel_.Operand(other, 0)) == primal;
      if (is_candidate && RunsWith(branch, other) && Covers(kernel_.Indices(other), kernel_.Indices(access)))
        return true;
    }
    return false;
  }

  bool HasBuffer(Inst access) const {
    Value base = kernel_.Operand(access, 0);
    return kernel_.IsParameter(base) && kernel_.TypeOf(base).IsBuffer();
  }

  /// Whether `inst` is executed wherever `branch` is, in each iteration of constant loops around it.
  bool RunsWith(Inst branch, Inst inst) const {
    Block block = kernel_[inst].parent;
    while (!facts_.structure().Contains(block, branch)) {
      Inst around = kernel_[block].owner;
      bool runs = around.Valid() && kernel_[around].op == Op::For &&
                  analysis::ConstantTrips(kernel_, around).value_or(0) > 0;
      if (!runs) return false;
      block = kernel_[around].parent;
    }
    return kernel_[block].owner.Valid();
  }

  struct Range {
    int64_t least, most;
    Inst loop;
  };

  /// The values of a constant or of the counter of a constant loop.
  std::optional<Range> RangeOf(Value v) const {
    if (std::optional<int64_t> number = kernel_.IntegerConstant(v)) return Range{*number, *number, {}};
    Inst loop = analysis::LoopOfIndex(kernel_, v);
    if (!loop.Valid() || kernel_[loop].op != Op::For) return std::nullopt;
    uint64_t trips = analysis::ConstantTrips(kernel_, loop).value_or(0);
    if (trips == 0) return std::nullopt;
    int64_t low = *kernel_.IntegerConstant(kernel_.Operand(loop, 0));
    int64_t step = *kernel_.IntegerConstant(kernel_.Operand(loop, 2));
    if (step != 1) return std::nullopt;
    return Range{low, low + static_cast<int64_t>(trips - 1), loop};
  }

  /// Whether `all` takes each value that `some` takes, where axes are counted apart from one another.
  bool Covers(std::span<const Value> all, std::span<const Value> some) const {
    if (all.size() != some.size()) return false;
    std::vector<Inst> counted;
    for (size_t axis = 0; axis < all.size(); ++axis) {
      if (all[axis] == some[axis]) continue;
      std::optional<Range> outer = RangeOf(all[axis]), inner = RangeOf(some[axis]);
      if (!outer || !inner || inner->least < outer->least || inner->most > outer->most) return false;
      if (!outer->loop.Valid()) continue;
      if (std::ranges::find(counted, outer->loop) != counted.end()) return false;
      counted.push_back(outer->loop);
    }
    return std::ranges::none_of(all, [&](Value v) { return std::ranges::count(all, v) > 1; });
  }

  // ---- Size

  uint32_t UnitsOf(Inst loop, const Nest& nest) const {
    uint64_t trips = analysis::ConstantTrips(kernel_, loop).value_or(1);
    size_t longest = 0;
    for (const Stage& stage : nest.stages) longest = std::max(longest, Body(stage.inner).size());
    uint32_t units = kMostUnits;
    while (units > 1 && (trips % units != 0 || units * longest > kMostInstructions)) units /= 2;
    return units;
  }

  // ---- Rows of sums

  void FindRows(Inst loop, Nest* nest) {
    for (const Stage& stage : nest->stages) {
      std::optional<int64_t> low = kernel_.IntegerConstant(kernel_.Operand(stage.inner, 0));
      std::optional<int64_t> step = kernel_.IntegerConstant(kernel_.Operand(stage.inner, 2));
      uint64_t length = analysis::ConstantTrips(kernel_, stage.inner).value_or(0);
      if (low != 0 || step != 1 || length == 0 || length > kLongestRow) continue;
      for (Inst inst : Body(stage.inner)) {
        bool is_plain = kernel_[inst].op == Op::AddTo && kernel_[inst].Has(Word::Plain);
        if (is_plain && IsRow(loop, inst)) nest->rows.push_back(inst);
      }
    }
  }

  /// Whether the turn of the inner loop alone says which element it is, and nothing else in the nest touches
  /// these.
  bool IsRow(Inst loop, Inst sum) {
    if (!HasBuffer(sum)) return false;
    Value turn = kernel_[kernel_[sum].parent].params[0];
    uint32_t turns = 0;
    for (Value index : kernel_.Indices(sum)) {
      if (index != turn && !facts_.structure().DefinedOutside(index, loop)) return false;
      turns += index == turn ? 1 : 0;
    }
    bool alone = true;
    analysis::ForEachInst(kernel_, kernel_[loop].regions[0], [&](Inst inst) {
      bool meets =
          ir::IsAccess(kernel_[inst].op) && facts_.memory().ClassOf(inst) == facts_.memory().ClassOf(sum);
      if (meets && inst != sum) alone = false;
    });
    return alone && turns == 1;
  }

  const ir::Function& kernel_;
  analysis::AccessFacts facts_;
  bool may_regroup_;  ///< sums of floats may be made in parts
};

class Jammer final : public transform::Rewriter {
 public:
  Jammer(ir::Module& module, const ir::Function& from, std::unordered_map<Inst, Nest> nests)
      : Rewriter(module, from), nests_(std::move(nests)) {}

 private:
  /// A unit while it is written: the values in it that stand for those of the outer loop's body.
  struct Unit {
    std::vector<std::pair<Value, Value>> values;
    Value condition;  ///< of the stage that is being written; invalid where the unit runs it in any case
  };

  void Visit(Inst inst) override {
    auto nest = nests_.find(inst);
    if (nest == nests_.end()) return Copy(inst);
    Write(inst, nest->second);
  }

  void Write(Inst loop, const Nest& nest) {
    const ir::InstData data = from_[loop];
    builder_.SetSpan(data.span);
    for (Inst sum : nest.rows) rows_[sum] = MakeRow(sum);
    ir::Type type = from_.TypeOf(from_[data.regions[0]].params[0]);
    auto trips = static_cast<int64_t>(*analysis::ConstantTrips(from_, loop)), units = int64_t{nest.units};
    Value none = builder_.Int(type, 0), rounds = builder_.Int(type, trips / units),
          one = builder_.Int(type, 1);
    Inst outer = builder_.For(none, rounds, one, {}, data.words);
    InBlock((*into_)[outer].regions[0], [&] {
      Value round = (*into_)[builder_.block()].params[0];
      Value first = builder_.Make(Op::Mul, {round, builder_.Int(type, units)});
      std::vector<Unit> all(nest.units);
      for (uint32_t n = 0; n < nest.units; ++n)
        Begin(loop, first, data.Has(Word::Reversed) ? nest.units - 1 - n : n, &all[n]);
      WriteUnits(loop, nest, all);
      builder_.SetSpan(data.span);
      builder_.Yield({});
    });
    for (Inst sum : nest.rows) AddRow(sum);
  }

  /// Gives a unit its counter.
  void Begin(Inst loop, Value first, uint32_t number, Unit* unit) {
    Value counter = from_[from_[loop].regions[0]].params[0];
    ir::Type type = from_.TypeOf(counter);
    int64_t low = *from_.IntegerConstant(from_.Operand(loop, 0));
    int64_t step = *from_.IntegerConstant(from_.Operand(loop, 2));
    Value turn = builder_.Make(Op::Add, {first, builder_.Int(type, number)});
    Value scaled = builder_.Make(Op::Mul, {turn, builder_.Int(type, step)});
    Value here = builder_.Make(Op::Add, {scaled, builder_.Int(type, low)});
    PassName(counter, here);
    unit->values.emplace_back(counter, here);
  }

  /// Stage by stage: the computations of each unit before the inner loop, then that loop for all of them.
  void WriteUnits(Inst loop, const Nest& nest, std::vector<Unit>& all) {
    std::span<const Inst> rest = from_[from_[loop].regions[0]].insts;
    for (const Stage& stage : nest.stages) {
      auto before = static_cast<size_t>(std::ranges::find(rest, stage.whole()) - rest.begin());
      for (Unit& unit : all) {
        Enter(unit);
        Compute(rest.first(before), &unit);
        unit.condition = {};
        if (!stage.branch.Valid()) continue;
        unit.condition = Map(from_.Operand(stage.branch, 0));
        std::span<const Inst> inside = from_[from_[stage.branch].regions[0]].insts;
        Compute(inside.first(inside.size() - 2), &unit);
      }
      WriteInner(stage, all);
      rest = rest.subspan(before + 1);
    }
    for (Unit& unit : all) {
      Enter(unit);
      Compute(rest.first(rest.size() - 1), &unit);
    }
  }

  void Compute(std::span<const Inst> insts, Unit* unit) {
    for (Inst inst : insts) {
      Visit(inst);
      for (uint32_t n = 0; n < from_[inst].result_count; ++n)
        unit->values.emplace_back(from_.Result(inst, n), Map(from_.Result(inst, n)));
    }
  }

  void Enter(const Unit& unit) {
    for (const auto& [from, to] : unit.values) SetMapped(from, to);
  }

  void WriteInner(const Stage& stage, std::vector<Unit>& all) {
    const ir::InstData data = from_[stage.inner];
    builder_.SetSpan(data.span);
    std::vector<Value> initial;
    for (const Unit& unit : all) {
      Enter(unit);
      for (Value v : from_.Operands(stage.inner).subspan(3)) initial.push_back(Map(v));
    }
    std::vector<Value> bounds = MapAll(from_.Operands(stage.inner).subspan(0, 3));
    Inst inner = builder_.For(bounds[0], bounds[1], bounds[2], initial, data.words);
    Block around = builder_.block(), body = (*into_)[inner].regions[0], source = data.regions[0];
    builder_.SetBlock(body);
    (*into_)[(*into_)[body].params[0]].name = from_[from_[source].params[0]].name;
    std::vector<Value> yielded;
    for (uint32_t number = 0; number < all.size(); ++number) {
      Enter(all[number]);
      SetMapped(from_[source].params[0], (*into_)[body].params[0]);
      for (uint32_t n = 0; n < data.result_count; ++n)
        SetMapped(from_[source].params[n + 1], (*into_)[body].params[1 + number * data.result_count + n]);
      for (Inst inst : from_[source].insts) {
        if (ir::IsTerminator(from_[inst].op)) {
          for (Value v : from_.Operands(inst)) yielded.push_back(Map(v));
        } else {
          VisitWhere(all[number].condition, inst);
        }
      }
    }
    builder_.SetSpan(data.span);
    builder_.Yield(yielded);
    builder_.SetBlock(around);
    for (uint32_t number = 0; number < all.size(); ++number) {
      for (uint32_t n = 0; n < data.result_count; ++n)
        all[number].values.emplace_back(from_.Result(stage.inner, n),
                                        into_->Result(inner, number * data.result_count + n));
    }
  }

  /// An array for a row of sums, filled with what adds nothing.
  Value MakeRow(Inst sum) {
    ir::Type type = from_.TypeOf(from_.AccessValues(sum)[0]);
    auto length = static_cast<uint32_t>(*analysis::ConstantTrips(from_, from_[from_[sum].parent].owner));
    Value row = builder_.Alloca(ir::Type::Array(type, length), {Word::Unset});
    Value nothing = Nothing(type);
    ForEachElement(sum,
                   [&](Value element) { builder_.Access(Op::Store, row, {&element, 1}, {&nothing, 1}); });
    return row;
  }

  /// Adds what is in the row of `sum` to its elements.
  void AddRow(Inst sum) {
    const ir::InstData data = from_[sum];
    builder_.SetSpan(data.span);
    Value turn = from_[from_[sum].parent].params[0];
    ForEachElement(sum, [&](Value element) {
      SetMapped(turn, element);
      Value total = builder_.Load(rows_.at(sum), {&element, 1}), base = Map(from_.Operand(sum, 0));
      builder_.Access(data.op, base, MapAll(from_.Indices(sum)), {&total, 1}, data.attr, data.component,
                      data.words);
    });
  }

  template <class Body>
  void ForEachElement(Inst sum, const Body& body) {
    std::vector<Value> bounds = MapAll(from_.Operands(from_[from_[sum].parent].owner).subspan(0, 3));
    Inst loop = builder_.For(bounds[0], bounds[1], bounds[2], {});
    InBlock((*into_)[loop].regions[0], [&] {
      body((*into_)[builder_.block()].params[0]);
      builder_.Yield({});
    });
  }

  /// The number that changes no number to which it is added.
  Value Nothing(ir::Type type) { return type.IsFloat() ? builder_.Float(type, -0.0) : builder_.Zero(type); }

  /// Writes an instruction of the inner loop so that it has no effect where the condition does not hold.
  void VisitWhere(Value condition, Inst inst) {
    const ir::InstData data = from_[inst];
    auto row = rows_.find(inst);
    bool is_masked = condition.Valid() && (data.op == Op::Store || data.op == Op::AddTo);
    if (!is_masked && row == rows_.end()) return Visit(inst);
    builder_.SetSpan(data.span);
    Value base = Map(from_.Operand(inst, 0)), value = Map(from_.AccessValues(inst)[0]);
    std::vector<Value> indices = MapAll(from_.Indices(inst));
    if (is_masked) {
      bool is_store = data.op == Op::Store;
      Value otherwise =
          is_store ? builder_.Load(base, indices, data.attr, data.component) : Nothing(into_->TypeOf(value));
      value = builder_.Make(Op::Select, {condition, value, otherwise});
    }
    if (row == rows_.end()) {
      builder_.Access(data.op, base, indices, {&value, 1}, data.attr, data.component, data.words);
      return;
    }
    Value turn = Map(from_[data.parent].params[0]);
    Value total = builder_.Make(Op::Add, {builder_.Load(row->second, {&turn, 1}), value});
    builder_.Access(Op::Store, row->second, {&turn, 1}, {&total, 1});
  }

  std::unordered_map<Inst, Nest> nests_;
  std::unordered_map<Inst, Value> rows_;  ///< arrays of the sums that have one
};

}  // namespace

void UnrollAndJam(ir::Module& module, ir::Function& kernel, const RaiseConfig& config) {
  if (!config.device || ir::IsCounting(kernel.role)) return;
  std::vector<Inst> loops;
  for (const analysis::Task& task : analysis::TasksOf(kernel)) {
    if (task.kind != analysis::TaskKind::Parallel || kernel[task.parallel].Has(Word::Team)) continue;
    analysis::ForEachInst(kernel, kernel[task.parallel].regions[0], [&](Inst inst) {
      bool is_nest = kernel[inst].op == Op::For && analysis::ConstantTrips(kernel, inst).value_or(0) > 1;
      if (is_nest) loops.push_back(inst);
    });
  }
  if (loops.empty()) return;
  NestFinder finder(module, kernel, config.may_team);
  std::unordered_map<Inst, Nest> nests;
  for (Inst loop : loops) {
    if (std::optional<Nest> nest = finder.Find(loop)) nests.emplace(loop, *nest);
  }
  if (nests.empty()) return;
  std::unique_ptr<ir::Function> jammed = Jammer(module, kernel, std::move(nests)).Run();
  kernel = std::move(*jammed);
}

}  // namespace adc::raise
