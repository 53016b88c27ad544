#include "raise/teams.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>

#include "analysis/loops.h"
#include "analysis/structure.h"
#include "analysis/tasks.h"
#include "analysis/uses.h"
#include "analysis/walk.h"
#include "ir/builder.h"
#include "ir/module.h"
#include "ir/words.h"
#include "raise/carried_sums.h"

namespace adc::raise {
namespace {

using ir::Block, ir::Inst, ir::Op, ir::Value;

constexpr uint32_t kLargestTeam = 1024;

/// The uses that the task makes of one of its arrays.
struct ArrayUse {
  std::set<uint32_t> loops;    ///< that are apart
  bool around = false;         ///< it is used around them as well
  bool own = true;             ///< each turn uses its own element alone, that of its number
  bool distinct = true;        ///< the same, of whatever number
  int64_t turns = 0;           ///< the most that a loop has which uses it
  bool wide = false;           ///< sums of more bits than threads add atomically
  std::set<uint32_t> summed;   ///< loops in which turns sum into elements that are not their own
  std::set<uint32_t> changed;  ///< loops in which turns change their own element, and not by a sum
};

/// A sum into an element of an array, as a load, an addition and a store.
struct ArraySum {
  Inst store;
  std::vector<Value> added;
  Inst array, loop;
};

class TeamMaker {
 public:
  TeamMaker(ir::Module& module, ir::Function& kernel, Inst parallel, const RaiseConfig& config)
      : module_(module),
        kernel_(kernel),
        parallel_(parallel),
        config_(config),
        uses_(kernel),
        structure_(kernel),
        carried_sums_(kernel, uses_) {}

  void Run() {
    Block body = kernel_[parallel_].regions[0];
    if (!FitsAround(body) || size_ == 0 || trips_.count(size_) != 0 || !PlaceArrays()) return;
    kernel_[parallel_].words.Add(ir::Word::Team);
    kernel_[parallel_].component = size_;
    for (Inst array : common_) kernel_[array].words.Add(ir::Word::Common);
    for (Inst array : own_) kernel_[array].words.Add(ir::Word::Own);
    for (Inst sum : plain_) kernel_[sum].words.Remove(ir::Word::Plain);
    for (const ArraySum& sum : sums_) WriteSum(sum);
    for (const ArraySum& sum : own_sums_) {
      if (arrays_[sum.array].summed.count(sum.loop.raw) != 0) WriteSum(sum);
    }
    for (Inst sum : meeting_) kernel_[sum].words.Add(ir::Word::MayMeet);
  }

 private:
  bool IsApart(Inst inst) const { return kernel_[inst].op == Op::For && kernel_[inst].Has(ir::Word::Apart); }

  /// An array of the task; invalid for other memory.
  Inst ArrayOf(Inst access) const { return kernel_.DefiningInst(kernel_.Operand(access, 0)); }

  // ---- Around loops that are apart

  bool FitsAround(Block block) {
    for (Inst inst : kernel_[block].insts) {
      const ir::InstData& data = kernel_[inst];
      if (IsApart(inst)) {
        if (!FitsApart(inst)) return false;
        continue;
      }
      bool reads_old = ir::IsAtomic(data.op) && data.result_count != 0 && uses_.IsUsed(kernel_.Result(inst));
      bool gated = data.op == Op::RowClaim && block != kernel_[parallel_].regions[0];
      if (reads_old || gated || data.op == Op::Call) return false;
      if (ir::IsAccess(data.op) && ArrayOf(inst).Valid()) arrays_[ArrayOf(inst)].around = true;
      if (data.op == Op::For && !FitsLoop(inst)) return false;
      for (uint32_t region = 0; region < kernel_.RegionCount(inst); ++region) {
        if (!FitsAround(data.regions[region])) return false;
      }
    }
    return true;
  }

  /// Whether a loop around those that are apart may stay. One that holds none and writes, one thread would
  /// run while the others wait for each of its writes; one of as many turns as there are invocations is over
  /// these, in order.
  bool FitsLoop(Inst loop) {
    bool writes = false, holds_apart = false;
    analysis::ForEachInst(kernel_, kernel_[loop].regions[0], [&](Inst inst) {
      writes = writes || kernel_[inst].op == Op::RowStore ||
               (ir::IsAccess(kernel_[inst].op) && kernel_[inst].op != Op::Load);
      holds_apart = holds_apart || IsApart(inst);
    });
    if (!holds_apart) trips_.insert(analysis::ConstantTrips(kernel_, loop).value_or(0));
    return holds_apart || !writes;
  }

  // ---- In a loop that is apart

  bool FitsApart(Inst loop) {
    const ir::InstData& data = kernel_[loop];
    if (data.attr != ir::kNoAttr) size_ = data.attr;
    if (size_ > kLargestTeam || kernel_.IntegerConstant(kernel_.Operand(loop, 0)) != 0 ||
        kernel_.IntegerConstant(kernel_.Operand(loop, 2)) != 1)
      return false;
    Block body = data.regions[0];
    for (uint32_t n = 0; n < data.result_count; ++n) {
      bool is_word = ir::BitWidth(kernel_.TypeOf(kernel_.Result(loop, n)).scalar) >= 32;
      if (!is_word || !carried_sums_.IsSum(loop, n)) return false;
      carried_.insert(kernel_.TypeOf(kernel_.Result(loop, n)).scalar);
    }
    loop_ = loop;
    bool fits = true;
    analysis::ForEachInst(kernel_, body, [&](Inst inst) { fits = fits && FitsInTurn(inst, loop); });
    return fits;
  }

  bool IsInside(Value v) const { return !structure_.DefinedOutside(v, loop_); }

  bool FitsInTurn(Inst inst, Inst loop) {
    const ir::InstData& data = kernel_[inst];
    Value counter = kernel_[kernel_[loop].regions[0]].params[0];
    if (data.op == Op::RowClaim || data.op == Op::Call) return false;
    if (data.op == Op::RowLoad || data.op == Op::RowStore)
      return IsOwnSlot(kernel_.Operand(inst, 1), counter);
    if (!ir::IsAccess(data.op)) return true;
    Inst array = ArrayOf(inst);
    if (!array.Valid()) {
      if (data.op == Op::AddTo && data.Has(ir::Word::Plain)) plain_.push_back(inst);
      return true;
    }
    if (structure_.Contains(loop, array)) return true;
    ArrayUse& use = arrays_[array];
    use.loops.insert(loop.raw);
    bool own = Unwidened(kernel_.Indices(inst)[0]) == counter;
    use.own = use.own && own;
    use.turns = std::max(use.turns, MostTurns(loop));
    use.distinct = use.distinct && IsOwnSlot(kernel_.Indices(inst)[0], counter);
    if (data.op == Op::Load) return true;
    return own ? FitsOwnWrite(inst, array, loop) : FitsArrayWrite(inst, array, loop);
  }

  /// A write to the turn's own element. Where others sum into it, it has to be a sum as well.
  bool FitsOwnWrite(Inst inst, Inst array, Inst loop) {
    ArrayUse& use = arrays_[array];
    if (kernel_[inst].op == Op::AddTo) {
      use.wide = use.wide || !IsSummable(inst);
      return true;
    }
    if (kernel_[inst].op != Op::Store) return false;
    Value value = kernel_.AccessValues(inst)[0];
    std::set<uint32_t> seen;
    if (IsAlone(value, inst) || !ReadsElement(value, inst, seen)) return true;
    ArraySum sum{inst, {}, array, loop};
    if (IsSummable(inst) && FindSum(value, sum)) {
      own_sums_.push_back(std::move(sum));
    } else {
      use.changed.insert(loop.raw);
    }
    return true;
  }

  /// The most turns that the loop has; INT64_MAX where they are not known.
  int64_t MostTurns(Inst loop) const {
    Value high = kernel_.Operand(loop, 1);
    auto most = [&](Value v) { return kernel_.IntegerConstant(v).value_or(INT64_MAX); };
    Inst made = kernel_.DefiningInst(high);
    if (!made.Valid() || kernel_[made].op != Op::Select) return most(high);
    return std::max(most(kernel_.Operand(made, 1)), most(kernel_.Operand(made, 2)));
  }

  /// `v` before it was widened: a counter of 32 bits fits.
  Value Unwidened(Value v) const {
    Inst made = kernel_.DefiningInst(v);
    bool widens = made.Valid() && kernel_[made].op == Op::Cast && kernel_.TypeOf(v).Is(ir::Scalar::I64) &&
                  kernel_.TypeOf(kernel_.Operand(made, 0)).Is(ir::Scalar::I32);
    return widens ? kernel_.Operand(made, 0) : v;
  }

  /// A slot that no other turn has: the counter, or so far from it as all turns have it.
  bool IsOwnSlot(Value slot, Value counter) const {
    slot = Unwidened(slot);
    Inst made = kernel_.DefiningInst(slot);
    if (slot == counter) return true;
    if (!made.Valid() || kernel_[made].op != Op::Add) return false;
    Value a = Unwidened(kernel_.Operand(made, 0)), b = Unwidened(kernel_.Operand(made, 1));
    return (a == counter && !IsInside(b)) || (b == counter && !IsInside(a));
  }

  /// Whether a write to an element that is not the turn's own may be made beside those of other turns. A
  /// value that is no sum comes from another element: then the source makes sure that no turns meet there.
  bool FitsArrayWrite(Inst inst, Inst array, Inst loop) {
    if (kernel_[inst].op == Op::AddTo) return NoteSum(inst, array, loop);
    if (kernel_[inst].op != Op::Store) return false;
    Value value = kernel_.AccessValues(inst)[0];
    std::set<uint32_t> seen;
    if (IsAlone(value, inst) || !ReadsElement(value, inst, seen)) return true;
    ArraySum sum{inst, {}, array, loop};
    if (!FindSum(value, sum) || !NoteSum(inst, array, loop)) return false;
    sums_.push_back(std::move(sum));
    return true;
  }

  /// Whether no other turn comes to the element: a turn may put back a value that it has overwritten, and an
  /// element that it has set to a constant is its own, since it writes there without adding.
  bool IsAlone(Value value, Inst store) const {
    Inst made = kernel_.DefiningInst(value);
    if (made.Valid() && IsElementOf(made, store)) return true;
    for (Inst before : kernel_[kernel_[store].parent].insts) {
      if (before == store) return false;
      if (kernel_[before].op == Op::Store && IsSameElement(before, store) &&
          kernel_.IsConstant(kernel_.AccessValues(before)[0]))
        return true;
    }
    return false;
  }

  /// Whether threads add a value of this type atomically.
  bool IsSummable(Inst sum) const {
    uint32_t bits = ir::BitWidth(kernel_.TypeOf(kernel_.AccessValues(sum)[0]).scalar);
    return bits == 32 || (bits == 64 && config_.wide_team_sums);
  }

  /// A sum into an element of an array; of floats, neighbouring turns may come to one.
  bool NoteSum(Inst sum, Inst array, Inst loop) {
    ir::Scalar scalar = kernel_.TypeOf(kernel_.AccessValues(sum)[0]).scalar;
    if (!IsSummable(sum)) return false;
    arrays_[array].summed.insert(loop.raw);
    Value counter = kernel_[kernel_[loop].regions[0]].params[0];
    if (ir::IsFloat(scalar) && !IsSpread(kernel_.Indices(sum)[0], counter)) meeting_.push_back(sum);
    return true;
  }

  /// Whether `v` differs between neighbouring turns, as far as its operations tell.
  bool IsSpread(Value v, Value counter) const {
    if (v == counter) return true;
    Inst made = kernel_.DefiningInst(v);
    if (!made.Valid() || !IsInside(v)) return false;
    Op op = kernel_[made].op;
    if (ir::IsAccess(op) || kernel_.RegionCount(made) != 0) return true;
    if (op == Op::Div || op == Op::FloorDiv || op == Op::Shr) return false;
    for (Value operand : kernel_.Operands(made)) {
      if (IsSpread(operand, counter)) return true;
    }
    return false;
  }

  bool IsSameElement(Inst a, Inst b) const {
    return kernel_.Operand(a, 0) == kernel_.Operand(b, 0) && kernel_.Indices(a)[0] == kernel_.Indices(b)[0] &&
           kernel_[a].component == kernel_[b].component;
  }

  bool IsElementOf(Inst load, Inst store) const {
    return kernel_[load].op == Op::Load && IsSameElement(load, store);
  }

  /// Whether `v` is made, inside of the loop, of what the element of `store` held.
  bool ReadsElement(Value v, Inst store, std::set<uint32_t>& seen) const {
    Inst made = kernel_.DefiningInst(v);
    if (!IsInside(v) || !made.Valid() || !seen.insert(made.raw).second) return false;
    if (IsElementOf(made, store)) return true;
    for (Value operand : kernel_.Operands(made)) {
      if (ReadsElement(operand, store, seen)) return true;
    }
    bool reads = false;
    for (uint32_t region = 0; region < kernel_.RegionCount(made); ++region) {
      analysis::ForEachInst(kernel_, kernel_[made].regions[region], [&](Inst inner) {
        reads = reads || IsElementOf(inner, store);
        for (Value operand : kernel_.Operands(inner)) reads = reads || ReadsElement(operand, store, seen);
      });
    }
    return reads;
  }

  /// v = (((old + a) + b) + c): finds the summands that are added to the old value of the element of
  /// `sum.store`. No other instruction reads the sums, and none writes the element in between.
  bool FindSum(Value v, ArraySum& sum) const {
    Inst made = kernel_.DefiningInst(v);
    Block block = kernel_[sum.store].parent;
    if (!made.Valid() || kernel_[made].parent != block || uses_.Of(v).size() != 1) return false;
    if (IsElementOf(made, sum.store)) return IsUntouched(made, sum.store);
    if (kernel_[made].op != Op::Add) return false;
    for (uint32_t side = 0; side < 2; ++side) {
      ArraySum one = sum;
      if (!FindSum(kernel_.Operand(made, side), one)) continue;
      one.added.push_back(kernel_.Operand(made, 1 - side));
      sum = std::move(one);
      return true;
    }
    return false;
  }

  /// Whether nothing between two instructions of a block writes the array of `store`.
  bool IsUntouched(Inst load, Inst store) const {
    const std::vector<Inst>& insts = kernel_[kernel_[store].parent].insts;
    auto at = std::find(insts.begin(), insts.end(), load), end = std::find(at, insts.end(), store);
    bool untouched = true;
    auto look = [&](Inst inst) {
      bool writes = ir::IsAccess(kernel_[inst].op) && kernel_[inst].op != Op::Load;
      if (writes && kernel_.Operand(inst, 0) == kernel_.Operand(store, 0)) untouched = false;
    };
    for (++at; at < end; ++at) analysis::ForEachInst(kernel_, *at, look);
    return untouched;
  }

  // ---- Arrays

  bool PlaceArrays() {
    uint64_t bytes = uint64_t{size_} * 8 * carried_.size();
    for (const auto& [array, use] : arrays_) {
      ir::Type type = kernel_.TypeOf(kernel_.Result(array));
      bool is_tape = kernel_[array].Has(ir::Word::Unset);
      // A tape is filled and read in one turn; each thread has for itself an array that no turn uses.
      if (use.loops.empty() || (is_tape && use.loops.size() == 1 && !use.around)) continue;
      if (use.own && !use.around && type.Components() == 1 && use.turns <= int64_t{size_}) {
        own_.push_back(array);
        continue;
      }
      if ((is_tape && !use.distinct) || use.wide) return false;
      for (uint32_t loop : use.changed) {
        if (use.summed.count(loop) != 0) return false;
      }
      common_.push_back(array);
      bytes += uint64_t{type.count} * type.Components() * (ir::BitWidth(type.scalar) == 64 ? 8 : 4);
    }
    return bytes <= config_.team_bytes;
  }

  void WriteSum(const ArraySum& sum) {
    Block block = kernel_[sum.store].parent;
    std::vector<Inst> rest = std::move(kernel_[block].insts);
    auto at = std::find(rest.begin(), rest.end(), sum.store);
    kernel_[block].insts.assign(rest.begin(), at);
    ir::Builder builder(module_, kernel_, block);
    builder.SetSpan(kernel_[sum.store].span);
    Value added = sum.added[0];
    for (size_t n = 1; n < sum.added.size(); ++n) added = builder.Make(Op::Add, {added, sum.added[n]});
    kernel_[block].insts.insert(kernel_[block].insts.end(), at, rest.end());
    kernel_[sum.store].op = Op::AddTo;
    kernel_.SetOperand(sum.store, 1u + kernel_[sum.store].index_count, added);
  }

  ir::Module& module_;
  ir::Function& kernel_;
  Inst parallel_;
  const RaiseConfig& config_;
  analysis::Uses uses_;
  analysis::Structure structure_;
  CarriedSums carried_sums_;
  uint32_t size_ = 0;
  std::set<ir::Scalar> carried_;  ///< of which there are sums
  std::set<uint64_t> trips_;      ///< of loops that hold none that is apart, where they are constant
  Inst loop_;                     ///< that is apart, and that is being looked at
  std::map<Inst, ArrayUse> arrays_;
  std::vector<Inst> common_, own_, plain_, meeting_;
  std::vector<ArraySum> sums_, own_sums_;
};

}  // namespace

void MakeTeams(ir::Module& module, ir::Function& kernel, const RaiseConfig& config) {
  if (config.team_bytes == 0 || ir::IsCounting(kernel.role)) return;
  for (const analysis::Task& task : analysis::TasksOf(kernel)) {
    if (task.kind == analysis::TaskKind::Parallel) TeamMaker(module, kernel, task.parallel, config).Run();
  }
}

}  // namespace adc::raise
