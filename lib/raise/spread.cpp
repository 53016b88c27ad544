#include "raise/spread.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "analysis/loops.h"
#include "analysis/structure.h"
#include "analysis/tasks.h"
#include "analysis/uses.h"
#include "analysis/walk.h"
#include "ir/module.h"
#include "ir/reduction.h"
#include "ir/words.h"
#include "raise/axis_use.h"
#include "raise/carried_sums.h"

namespace adc::raise {
namespace {

using ir::Block, ir::Inst, ir::Op, ir::Value;

/// Loops around of so few turns every thread of a team may run.
constexpr uint64_t kFewTurns = 16;
/// Loops of fewer turns leave a team without work.
constexpr uint64_t kManyTurns = 64;

/// One access of a buffer.
struct Touch {
  Inst inst;
  Inst loop;           ///< apart, in which it stands; invalid: around them
  uint32_t begin = 0;  ///< positions of the instruction, or of the loop around it that repeats it
  uint32_t end = 0;
};

class Spreader {
 public:
  Spreader(ir::Function& kernel, Inst parallel)
      : kernel_(kernel),
        parallel_(parallel),
        uses_(kernel),
        structure_(kernel),
        carried_sums_(kernel, uses_) {}

  void Run() {
    if (!FitsAround(kernel_[parallel_].regions[0], {}) || loops_.empty()) return;
    for (const auto& [place, touches] : touches_) {
      if (!FitsPlace(touches)) return;
    }
    kernel_[parallel_].words.Add(ir::Word::Team);
    for (Inst loop : loops_) kernel_[loop].words.Add(ir::Word::Apart);
  }

 private:
  // ---- Around the loops

  /// `repeated`: the outermost loop around that holds the block; invalid where none does.
  bool FitsAround(Block block, Inst repeated) {
    for (Inst inst : kernel_[block].insts) {
      const ir::InstData& data = kernel_[inst];
      if (data.op == Op::For && FitsApart(inst)) {
        loops_.push_back(inst);
        continue;
      }
      bool is_apart = data.op == Op::For && data.Has(ir::Word::Apart);
      if (is_apart || !CanStandAround(inst)) return false;
      if (ir::IsAccess(data.op)) Note(inst, {}, repeated.Valid() ? repeated : inst);
      bool is_loop = analysis::IsSerialLoop(data.op);
      size_t before = loops_.size();
      for (uint32_t region = 0; region < kernel_.RegionCount(inst); ++region) {
        Inst around = is_loop && !repeated.Valid() ? inst : repeated;
        if (!FitsAround(data.regions[region], around)) return false;
      }
      // Every thread would run the whole of it.
      bool is_long = is_loop && analysis::ConstantTrips(kernel_, inst).value_or(kFewTurns + 1) > kFewTurns;
      if (is_long && loops_.size() == before) return false;
    }
    return true;
  }

  bool CanStandAround(Inst inst) const {
    const ir::InstData& data = kernel_[inst];
    if (ir::IsAtomic(data.op) && IsRead(inst)) return false;
    // A sum of the thread's own iterations a team would make one by one.
    if (ir::IsAccess(data.op) && data.Has(ir::Word::Private)) return false;
    return ir::ClassOf(data.op) != ir::OpClass::Row && data.op != Op::Call;
  }

  bool IsRead(Inst inst) const {
    return kernel_[inst].result_count != 0 && uses_.IsUsed(kernel_.Result(inst));
  }

  // ---- In a loop

  /// Whether threads may share the turns; notes what these touch then.
  bool FitsApart(Inst loop) {
    const ir::InstData& data = kernel_[loop];
    std::optional<uint64_t> trips = analysis::ConstantTrips(kernel_, loop);
    if (kernel_.IntegerConstant(kernel_.Operand(loop, 2)) != 1 || trips.value_or(kManyTurns) < kManyTurns ||
        !IsNatural(kernel_.Operand(loop, 0)) || !IsKnownAtLaunch(kernel_.Operand(loop, 0)) ||
        !IsKnownAtLaunch(kernel_.Operand(loop, 1)))
      return false;
    for (uint32_t n = 0; n < data.result_count; ++n) {
      if (!IsWord(kernel_.Result(loop, n)) || !carried_sums_.IsSum(loop, n)) return false;
    }
    if (Decides(loop)) return false;
    std::vector<Inst> accesses;
    for (Inst inst : structure_.Within(loop).subspan(1)) {
      if (!FitsInTurn(inst, loop)) return false;
      if (ir::IsAccess(kernel_[inst].op)) accesses.push_back(inst);
    }
    for (Inst inst : accesses) Note(inst, loop, loop);
    return true;
  }

  /// Whether a sum of floats that the loop carries decides about something: it is computed as it is written
  /// then. A value that takes part in a sum goes into nothing else.
  bool Decides(Inst loop) const {
    IndexSet<Value> summed;
    auto note = [&](Value v) { summed.Insert(v); };
    auto note_carried = [&](Inst inst) {
      const std::vector<Value>& params = kernel_[kernel_[inst].regions[0]].params;
      std::for_each(params.begin() + 1, params.end(), note);
    };
    note_carried(loop);
    for (Inst inst : structure_.Within(loop).subspan(1)) {
      const ir::InstData& data = kernel_[inst];
      bool sums = std::ranges::any_of(kernel_.Operands(inst), [&](Value v) { return summed.Has(v); });
      if (!sums) continue;
      bool is_float = data.result_count != 0 && ir::IsFloat(kernel_.TypeOf(kernel_.Result(inst)).scalar);
      if (is_float && (data.op == Op::Add || data.op == Op::Sub) && data.Has(ir::Word::AsWritten))
        return true;
      Inst leaves = ir::IsTerminator(data.op) ? kernel_[data.parent].owner : inst;
      if (data.op == Op::For) note_carried(inst);
      for (uint32_t n = 0; n < kernel_[leaves].result_count; ++n) note(kernel_.Result(leaves, n));
    }
    return false;
  }

  /// A number that is made of arguments, extents and counters.
  bool IsKnownAtLaunch(Value v) const {
    Inst made = kernel_.DefiningInst(v);
    if (!made.Valid() || kernel_[made].op == Op::Shape) return true;
    if (ir::InfoOf(kernel_[made].op).effect != ir::Effect::Pure || kernel_.RegionCount(made) != 0)
      return false;
    return std::ranges::all_of(kernel_.Operands(made), [&](Value operand) {
      return !ir::IsFloat(kernel_.TypeOf(operand).scalar) && IsKnownAtLaunch(operand);
    });
  }

  /// Whether an integer is known not to be negative: then the numbers of turns do not wrap.
  bool IsNatural(Value v) const {
    if (std::optional<int64_t> constant = kernel_.IntegerConstant(v)) return *constant >= 0;
    Inst made = kernel_.DefiningInst(v);
    if (!made.Valid()) return IsNaturalCounter(v);
    bool is_add = kernel_[made].op == Op::Add && kernel_[made].Has(ir::Word::NoWrap);
    bool widens = kernel_[made].op == Op::Cast && kernel_.TypeOf(v).Is(ir::Scalar::I64) &&
                  kernel_.TypeOf(kernel_.Operand(made, 0)).Is(ir::Scalar::I32);
    if (!is_add && !widens) return kernel_[made].op == Op::Shape;
    return std::ranges::all_of(kernel_.Operands(made), [&](Value operand) { return IsNatural(operand); });
  }

  bool IsNaturalCounter(Value v) const {
    Inst owner = analysis::LoopOfIndex(kernel_, v);
    if (!owner.Valid() || kernel_[owner].op == Op::ParallelOver) return owner.Valid();
    return IsNatural(kernel_.Operand(owner, 2 * kernel_[v].number));
  }

  bool FitsInTurn(Inst inst, Inst loop) const {
    const ir::InstData& data = kernel_[inst];
    if (!CanStandAround(inst)) return false;
    if (!ir::IsAccess(data.op) || data.op == Op::Load) return true;
    Inst array = ArrayOf(inst);
    if (array.Valid()) return structure_.Contains(loop, array);
    // Many threads that come to one cell would wait for each other, and each would round a sum of f16.
    if (IsSum(inst)) return ChangesWith(inst, loop) && IsWord(kernel_.AccessValues(inst)[0]);
    return IsOwn(inst, loop);
  }

  bool IsWord(Value v) const { return ir::BitWidth(kernel_.TypeOf(v).scalar) >= 32; }

  /// The array that is accessed; invalid for other memory.
  Inst ArrayOf(Inst access) const { return kernel_.DefiningInst(kernel_.Operand(access, 0)); }

  /// Whether an index is computed in the loop.
  bool ChangesWith(Inst access, Inst loop) const {
    return std::ranges::any_of(kernel_.Indices(access),
                               [&](Value v) { return !structure_.DefinedOutside(v, loop); });
  }

  /// Whether no other turn comes to the element: one index is the counter, or so far from it as in all turns.
  bool IsOwn(Inst access, Inst loop) const {
    Value counter = kernel_[kernel_[loop].regions[0]].params[0];
    return std::ranges::any_of(kernel_.Indices(access), [&](Value v) { return Follows(v, counter, loop); });
  }

  bool Follows(Value v, Value counter, Inst loop) const {
    if (v == counter) return true;
    Inst made = kernel_.DefiningInst(v);
    if (!made.Valid()) return false;
    auto is_fixed = [&](uint32_t n) { return structure_.DefinedOutside(kernel_.Operand(made, n), loop); };
    auto follows = [&](uint32_t n) { return Follows(kernel_.Operand(made, n), counter, loop); };
    Op op = kernel_[made].op;
    // A counter of 32 bits fits 64.
    if (op == Op::Cast)
      return kernel_.TypeOf(v).Is(ir::Scalar::I64) &&
             kernel_.TypeOf(kernel_.Operand(made, 0)).Is(ir::Scalar::I32) && follows(0);
    return (op == Op::Add || op == Op::Sub) && ((is_fixed(0) && follows(1)) || (is_fixed(1) && follows(0)));
  }

  // ---- Memory

  /// Notes an access of a buffer, which `around` repeats. Buffers that may overlap are one place.
  void Note(Inst inst, Inst loop, Inst around) {
    if (kernel_[inst].op == Op::Alloca || ArrayOf(inst).Valid()) return;
    const ir::ValueData& base = kernel_[kernel_.Operand(inst, 0)];
    if (base.kind != ir::ValueKind::BlockParam) return;  // a constant of the module
    uint32_t place = kernel_.params[base.number].alias ? ir::kNoAttr : base.number;
    touches_[place].push_back({inst, loop, structure_.Position(around),
                               std::max(structure_.End(around), structure_.Position(around) + 1)});
  }

  bool FitsPlace(const std::vector<Touch>& touches) const {
    return std::ranges::all_of(touches, [&](const Touch& write) {
      return kernel_[write.inst].op == Op::Load || FitsWrite(write, touches);
    });
  }

  bool FitsWrite(const Touch& write, const std::vector<Touch>& touches) const {
    bool is_own = write.loop.Valid() && !IsSum(write.inst);
    return std::ranges::all_of(touches, [&](const Touch& other) {
      // No other access may come to an element that a turn has for itself.
      if (is_own) return other.loop == write.loop && IsSameElement(other.inst, write.inst);
      return kernel_[other.inst].op != Op::Load || other.end <= write.begin;
    });
  }

  /// An update that meets others in its cell.
  bool IsSum(Inst write) const {
    return ir::ReductionOf(kernel_[write].op).has_value() && !kernel_[write].Has(ir::Word::Plain);
  }

  bool IsSameElement(Inst a, Inst b) const {
    return std::ranges::equal(kernel_.Indices(a), kernel_.Indices(b)) && kernel_[a].attr == kernel_[b].attr &&
           kernel_.Operand(a, 0) == kernel_.Operand(b, 0);
  }

  ir::Function& kernel_;
  Inst parallel_;
  analysis::Uses uses_;
  analysis::Structure structure_;
  CarriedSums carried_sums_;
  std::vector<Inst> loops_;
  std::map<uint32_t, std::vector<Touch>> touches_;  ///< by parameter
};

}  // namespace

void SpreadLoops(ir::Module&, ir::Function& kernel, const RaiseConfig& config) {
  if (!config.may_team || ir::IsCounting(kernel.role)) return;
  constexpr ir::Words kOtherForms = {ir::Word::Team, ir::Word::Recheck, ir::Word::Fours, ir::Word::Sparse};
  for (const analysis::Task& task : analysis::TasksOf(kernel)) {
    if (task.kind != analysis::TaskKind::Parallel || !kernel[task.parallel].words.Of(kOtherForms).IsEmpty())
      continue;
    Spreader(kernel, task.parallel).Run();
  }
}

bool MeetsInTurns(const ir::Function& kernel, Inst loop) {
  AxisUse axes(kernel, analysis::TopLevelOf(kernel, loop));
  bool meets = false, loads_alike = true;
  analysis::ForEachInst(kernel, kernel[loop].regions[0], [&](Inst inst) {
    meets |= ir::IsAccess(kernel[inst].op) && kernel[inst].Has(ir::Word::OfTurn);
    if (kernel[inst].op != Op::Load || kernel.DefiningInst(kernel.Operand(inst, 0)).Valid()) return;
    loads_alike &= std::ranges::all_of(kernel.Indices(inst), [&](Value v) { return axes.Of(v) == 0; });
  });
  return meets && loads_alike;
}

}  // namespace adc::raise
