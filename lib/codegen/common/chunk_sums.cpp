#include "codegen/common/chunk_sums.h"

#include <map>

#include "codegen/common/axis_use.h"

namespace adc::codegen {
namespace {

/// Memory that may overlap: a buffer, a field of a layout, or all parameters that say `alias` together.
struct Place {
  uint32_t param = ir::kNoAttr;
  uint32_t field = ir::kNoAttr;
  friend auto operator<=>(const Place&, const Place&) = default;
};

struct PlaceUse {
  std::optional<Reduction> reduction;
  bool mixed = false;
};

/// How a place is touched. Where all indices are literals its cells do not overlap, and go by themselves.
struct PlaceUses {
  PlaceUse whole;
  bool literal = true;
  std::map<std::vector<int64_t>, PlaceUse> cells;
};

/// Tables of gathered sums that one task may have.
constexpr size_t kMaxTables = 12;

struct Accumulation {
  ir::Inst inst;
  Place place;
  bool conditional = false;
};

class Finder {
 public:
  Finder(const ir::Function& kernel, uint32_t first, ir::Inst loop)
      : kernel_(kernel), first_(first), loop_(loop), axes_(kernel, loop) {
    MarkUses(kernel[loop].regions[0]);
  }

  ChunkSums Find() {
    Walk(kernel_[loop_].regions[0], false);
    const std::vector<ir::Inst>& task = kernel_[kernel_[loop_].parent].insts;
    for (size_t position = first_; task[position] != loop_; ++position) {
      if (ir::IsAccess(kernel_[task[position]].op)) Note(task[position], std::nullopt);
    }
    ChunkSums sums;
    std::map<std::vector<uint32_t>, uint32_t> known;
    for (const Accumulation& a : accumulations_) {
      const PlaceUse* use = UseOf(a);
      if (use->mixed) continue;
      if (!IsUniform(a.inst)) {
        if (IsGathered(a.inst)) Gather(a, sums);
        continue;
      }
      const ir::InstData& data = kernel_[a.inst];
      std::vector<uint32_t> key{data.attr, data.component};
      for (ir::Value v : kernel_.Operands(a.inst).first(1u + data.index_count)) key.push_back(v.raw);
      auto [place, fresh] = known.try_emplace(key, static_cast<uint32_t>(sums.sums.size()));
      if (fresh) sums.sums.push_back({a.inst, *use->reduction, a.conditional});
      if (!a.conditional) sums.sums[place->second].conditional = false;
      sums.sum_of.Set(a.inst) = place->second;
    }
    return sums;
  }

 private:
  void MarkUses(ir::Block block) {
    for (ir::Inst inst : kernel_[block].insts) {
      for (ir::Value v : kernel_.Operands(inst)) used_.Insert(v);
      for (ir::Block region : kernel_[inst].regions) {
        if (region.Valid()) MarkUses(region);
      }
    }
    inside_.Insert(block);
  }

  void Walk(ir::Block block, bool conditional) {
    for (ir::Inst inst : kernel_[block].insts) {
      const ir::InstData& data = kernel_[inst];
      if (ir::IsAccess(data.op)) {
        std::optional<Reduction> reduction = ReductionOf(data.op);
        if (data.result_count != 0 && used_.Has(kernel_.Result(inst))) reduction.reset();
        // A plain sum is that of one iteration alone: no other meets it in its cell, there is nothing to put
        // off.
        bool plain = data.op == ir::Op::AddTo && (data.flags & ir::kFlagPlain) != 0;
        if (std::optional<Place> place = Note(inst, reduction); place && reduction && !plain)
          accumulations_.push_back({inst, *place, conditional});
      }
      for (ir::Block region : data.regions) {
        if (region.Valid()) Walk(region, true);
      }
    }
  }

  /// Records how an access touches its place; empty for thread-local arrays and module constants.
  std::optional<Place> Note(ir::Inst inst, std::optional<Reduction> reduction) {
    ir::Value base = kernel_.Operand(inst, 0);
    const ir::ValueData& data = kernel_[base];
    if (data.kind != ir::ValueKind::BlockParam) return std::nullopt;
    Place place{data.number, kernel_[inst].attr};
    if (kernel_.params[data.number].alias) place = {};
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

  /// Sums whose cell misses an axis of the loop: many iterations meet there.
  bool IsGathered(ir::Inst inst) const {
    if (ReductionOf(kernel_[inst].op) != Reduction::Add) return false;
    // Sums of f16 are rounded to f16 at every step, in memory as anywhere.
    ir::Scalar scalar = kernel_.TypeOf(kernel_.AccessValues(inst)[0]).scalar;
    if (scalar == ir::Scalar::I1 || scalar == ir::Scalar::F16) return false;
    uint32_t used = 0;
    for (ir::Value index : kernel_.Indices(inst)) used |= axes_.Of(index);
    return used != axes_.All();
  }

  void Gather(const Accumulation& a, ChunkSums& sums) {
    auto [place, fresh] = tables_.try_emplace(a.place, static_cast<uint32_t>(sums.gathered.size()));
    if (fresh && sums.gathered.size() == kMaxTables) {
      tables_.erase(place);
      return;
    }
    // Parameters that say `alias` share one place, and may differ in type.
    if (fresh) sums.gathered.push_back(a.inst);
    ir::Inst first = sums.gathered[place->second];
    if (kernel_.TypeOf(kernel_.AccessValues(first)[0]) != kernel_.TypeOf(kernel_.AccessValues(a.inst)[0]))
      return;
    sums.gathered_of.Set(a.inst) = place->second;
  }

  bool IsUniform(ir::Inst inst) const {
    for (ir::Value index : kernel_.Indices(inst)) {
      if (inside_.Has(kernel_.DefiningBlock(index))) return false;
    }
    return true;
  }

  const ir::Function& kernel_;
  uint32_t first_;
  ir::Inst loop_;
  AxisUse axes_;
  std::map<Place, uint32_t> tables_;
  IndexSet<ir::Value> used_;
  IndexSet<ir::Block> inside_;
  std::map<Place, PlaceUses> uses_;
  std::vector<Accumulation> accumulations_;
};

}  // namespace

std::optional<Reduction> ReductionOf(ir::Op op) {
  if (op == ir::Op::AtomicAdd || op == ir::Op::AtomicSub || op == ir::Op::AddTo) return Reduction::Add;
  if (op == ir::Op::AtomicMin) return Reduction::Min;
  if (op == ir::Op::AtomicMax) return Reduction::Max;
  if (op == ir::Op::AtomicAnd) return Reduction::And;
  if (op == ir::Op::AtomicOr) return Reduction::Or;
  if (op == ir::Op::AtomicXor) return Reduction::Xor;
  return std::nullopt;
}

ChunkSums FindChunkSums(const ir::Function& kernel, uint32_t first, ir::Inst loop) {
  return Finder(kernel, first, loop).Find();
}

}  // namespace adc::codegen
