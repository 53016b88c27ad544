#include "raise/private_sums.h"

#include <algorithm>
#include <map>
#include <set>

#include "analysis/memory.h"
#include "analysis/tasks.h"
#include "analysis/uses.h"
#include "ir/reduction.h"
#include "ir/words.h"
#include "raise/axis_use.h"

namespace adc::raise {
namespace {

using ir::Reduction, ir::ReductionOf;

struct PlaceUse {
  std::optional<Reduction> reduction;
  bool mixed = false;
};

/// How a class of memory is touched. Where all indices are literals its cells do not overlap, and go by
/// themselves.
struct PlaceUses {
  PlaceUse whole;
  bool literal = true;
  std::map<std::vector<int64_t>, PlaceUse> cells;
};

/// Tables of gathered sums that one task may have.
constexpr size_t kMaxTables = 12;

struct Accumulation {
  ir::Inst inst;
  uint32_t place = 0;  ///< its class of memory
  bool conditional = false;
};

/// Of a kernel; words that are added change none of it.
struct KernelFacts {
  explicit KernelFacts(const ir::Function& kernel) : structure(kernel), memory(structure), uses(kernel) {}
  analysis::Structure structure;
  analysis::MemoryClasses memory;
  analysis::Uses uses;
};

class Marker {
 public:
  Marker(ir::Function& kernel, const KernelFacts& facts, const analysis::Task& task,
         const RaiseConfig& config)
      : kernel_(kernel),
        facts_(facts),
        task_(task),
        config_(config),
        loop_(task.parallel),
        axes_(kernel, loop_) {}

  void Run() {
    Walk(kernel_[loop_].regions[0], false);
    const std::vector<ir::Inst>& insts = kernel_[kernel_.Body()].insts;
    // The accesses of the prologue read.
    for (uint32_t position = task_.first; insts[position] != loop_; ++position) {
      for (ir::Inst inst : facts_.structure.Within(insts[position]))
        if (ir::IsAccess(kernel_[inst].op)) Note(inst, std::nullopt);
    }
    for (const Accumulation& a : accumulations_) {
      if (UseOf(a)->mixed) continue;
      if (IsUniform(a.inst)) {
        kernel_[a.inst].words.Add(ir::Word::Private);
        if (!a.conditional) kernel_[a.inst].words.Add(ir::Word::Always);
      } else if (IsGathered(a.inst) && HasTable(a.inst)) {
        kernel_[a.inst].words.Add(ir::Word::Gathered);
        if (IsOfTurn(a.inst)) kernel_[a.inst].words.Add(ir::Word::OfTurn);
      } else if (MayMeet(a.inst)) {
        kernel_[a.inst].words.Add(ir::Word::MayMeet);
      }
    }
  }

 private:
  void Walk(ir::Block block, bool conditional) {
    for (ir::Inst inst : kernel_[block].insts) {
      const ir::InstData& data = kernel_[inst];
      if (ir::IsAccess(data.op)) {
        std::optional<Reduction> reduction = ReductionOf(data.op);
        if (data.result_count != 0 && facts_.uses.IsUsed(kernel_.Result(inst))) reduction.reset();
        // A plain sum is that of one iteration alone: no other meets it in its cell, there is nothing to put
        // off.
        bool plain = data.op == ir::Op::AddTo && data.Has(ir::Word::Plain);
        if (std::optional<uint32_t> place = Note(inst, reduction); place && reduction && !plain)
          accumulations_.push_back({inst, *place, conditional});
      }
      for (ir::Block region : data.regions) {
        if (region.Valid()) Walk(region, true);
      }
    }
  }

  /// Records how an access touches its class of memory; empty for thread-local arrays and module constants.
  std::optional<uint32_t> Note(ir::Inst inst, std::optional<Reduction> reduction) {
    ir::Value base = kernel_.Operand(inst, 0);
    const ir::ValueData& data = kernel_[base];
    if (data.kind != ir::ValueKind::BlockParam) return std::nullopt;
    uint32_t place = facts_.memory.ClassOf(inst);
    PlaceUses& uses = uses_[place];
    Touch(uses.whole, reduction);
    std::optional<std::vector<int64_t>> cell = LiteralCell(inst);
    if (cell && !kernel_.params[data.number].alias) {
      Touch(uses.cells[*cell], reduction);
    } else {
      uses.literal = false;
    }
    return place;
  }

  static void Touch(PlaceUse& use, std::optional<Reduction> reduction) {
    if (!reduction || (use.reduction && *use.reduction != *reduction)) use.mixed = true;
    if (!use.reduction) use.reduction = reduction;
  }

  std::optional<std::vector<int64_t>> LiteralCell(ir::Inst inst) const {
    std::vector<int64_t> cell;
    for (ir::Value index : kernel_.Indices(inst)) {
      std::optional<int64_t> literal = kernel_.IntegerConstant(index);
      if (!literal) return std::nullopt;
      cell.push_back(*literal);
    }
    return cell;
  }

  const PlaceUse* UseOf(const Accumulation& a) {
    PlaceUses& uses = uses_[a.place];
    return uses.literal ? &uses.cells[*LiteralCell(a.inst)] : &uses.whole;
  }

  /// Sums whose cell misses an axis of the loop: many iterations meet there. Where each update of memory is a
  /// loop of exchanges, as of f16 everywhere, all that may meet.
  bool IsGathered(ir::Inst inst) const {
    if (ReductionOf(kernel_[inst].op) != Reduction::Add) return false;
    ir::Scalar scalar = kernel_.TypeOf(kernel_.AccessValues(inst)[0]).scalar;
    if (scalar == ir::Scalar::I1) return false;
    // A processor rounds sums of f16 to f16 at every step, in memory as anywhere.
    if (scalar == ir::Scalar::F16) return config_.device;
    if (ir::IsFloat(scalar) && config_.exchanges_floats) return true;
    uint32_t used = 0;
    for (ir::Value index : kernel_.Indices(inst)) used |= axes_.Of(index);
    return used != axes_.All();
  }

  /// Whether all iterations come to the cell in the same turn of the loop right around: its bounds and the
  /// cell are computed from the turn and from values that no iteration decides, and from nothing else.
  bool IsOfTurn(ir::Inst inst) const {
    ir::Block body = kernel_[inst].parent;
    ir::Inst loop = kernel_[body].owner;
    ir::Scalar scalar = kernel_.TypeOf(kernel_.AccessValues(inst)[0]).scalar;
    if (!config_.device || !loop.Valid() || kernel_[loop].op != ir::Op::For || ir::BitWidth(scalar) < 32)
      return false;
    auto is_alike = [&](ir::Value v) { return IsAlikeInTurn(v, body); };
    return std::ranges::all_of(kernel_.Indices(inst), is_alike) &&
           std::ranges::all_of(kernel_.Operands(loop).first(2), is_alike);
  }

  bool IsAlikeInTurn(ir::Value v, ir::Block body) const {
    ir::Inst made = kernel_.DefiningInst(v);
    if (made.Valid() && kernel_[made].parent == body) {
      return ir::InfoOf(kernel_[made].op).effect == ir::Effect::Pure && kernel_.RegionCount(made) == 0 &&
             std::ranges::all_of(kernel_.Operands(made), [&](ir::Value o) { return IsAlikeInTurn(o, body); });
    }
    bool is_carried = !made.Valid() && !kernel_.IsConstant(v) && kernel_.DefiningBlock(v) == body;
    return is_carried ? v == kernel_[body].params[0] : axes_.Of(v) == 0;
  }

  /// Sums of floats on a device where no index tells neighbouring iterations apart: it comes from data, or is
  /// coarser than the iteration.
  bool MayMeet(ir::Inst inst) const {
    if (!config_.device || ReductionOf(kernel_[inst].op) != Reduction::Add) return false;
    if (!ir::IsFloat(kernel_.TypeOf(kernel_.AccessValues(inst)[0]).scalar)) return false;
    return std::ranges::none_of(kernel_.Indices(inst), [&](ir::Value v) { return axes_.IsSpread(v); });
  }

  /// A table per buffer or field, as far as there are some. A device that exchanges floats needs none: it
  /// asks whether the place is one of sums alone.
  bool HasTable(ir::Inst inst) {
    if (config_.exchanges_floats) return true;
    std::pair<uint32_t, uint32_t> of{kernel_[kernel_.Operand(inst, 0)].number, kernel_[inst].attr};
    if (tables_.size() < kMaxTables) tables_.insert(of);
    return tables_.contains(of);
  }

  bool IsUniform(ir::Inst inst) const {
    return std::ranges::all_of(kernel_.Indices(inst),
                               [&](ir::Value v) { return facts_.structure.DefinedOutside(v, loop_); });
  }

  ir::Function& kernel_;
  const KernelFacts& facts_;
  const analysis::Task& task_;
  const RaiseConfig& config_;
  ir::Inst loop_;
  AxisUse axes_;
  std::set<std::pair<uint32_t, uint32_t>> tables_;
  std::map<uint32_t, PlaceUses> uses_;
  std::vector<Accumulation> accumulations_;
};

}  // namespace

void MarkPrivateSums(ir::Module&, ir::Function& kernel, const RaiseConfig& config) {
  KernelFacts facts(kernel);
  for (const analysis::Task& task : analysis::TasksOf(kernel)) {
    // The threads of a team run one iteration: none has a sum of its own iterations.
    bool together = task.kind == analysis::TaskKind::Parallel && kernel[task.parallel].Has(ir::Word::Team);
    if (task.kind == analysis::TaskKind::Parallel && !together) Marker(kernel, facts, task, config).Run();
  }
}

}  // namespace adc::raise
