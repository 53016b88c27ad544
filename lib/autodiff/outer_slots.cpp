#include "autodiff/outer_slots.h"

#include <algorithm>

#include "analysis/loops.h"

namespace adc::autodiff {

using ir::Block, ir::Inst, ir::Op, ir::Value;

namespace {

std::vector<uint32_t> Ascending(std::vector<uint32_t> slots) {
  std::sort(slots.begin(), slots.end());
  slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
  return slots;
}

}  // namespace

OuterSlots::OuterSlots(const ir::Function& primal, const Activity& activity, const RegionTree& tree,
                       const AdjointWork& work, const AdjointSlots& slots, const HeldUpdates& held)
    : primal_(primal), activity_(activity), tree_(tree), work_(work), slots_(slots), held_(held) {}

std::vector<uint32_t> OuterSlots::Of(Inst structure) const {
  std::vector<uint32_t> slots;
  AddRegions(structure, structure, slots);
  return Ascending(slots);
}

std::vector<uint32_t> OuterSlots::WithInitialOf(Inst structure) const {
  std::vector<uint32_t> slots = Of(structure);
  if (primal_[structure].op == Op::If) return slots;
  for (uint32_t k = 0; k < primal_[structure].result_count; ++k)
    Add(analysis::CarriedInit(primal_, structure, k), structure, slots);
  return Ascending(slots);
}

void OuterSlots::Add(Inst inst, Inst outer, std::vector<uint32_t>& slots) const {
  if (!work_.Has(inst)) return;
  const ir::InstData& data = primal_[inst];
  if (data.op == Op::VecGet && primal_.IsConstant(primal_.Operand(inst, 1))) {
    Value source = primal_.Operand(inst, 0);
    if (activity_.Active(source) && !tree_.Inside(source, outer))
      slots.push_back(
          slots_.Of(source, static_cast<uint32_t>(*primal_.IntegerConstant(primal_.Operand(inst, 1)))));
    return;
  }
  if (held_.Has(inst)) {
    Inst until = held_.LoopOf(inst);
    if (outer == until || tree_.Inside(primal_[outer].parent, until)) slots.push_back(held_.SlotOf(inst));
    return;
  }
  for (Value v : primal_.Operands(inst)) Add(v, outer, slots);
  AddRegions(inst, outer, slots);
}

void OuterSlots::AddRegions(Inst inst, Inst outer, std::vector<uint32_t>& slots) const {
  for (Block region : primal_[inst].regions) {
    if (!region.Valid()) continue;
    for (Inst inner : primal_[region].insts) {
      if (primal_[inner].op == Op::Yield) {
        for (Value v : primal_.Operands(inner)) Add(v, outer, slots);
      } else {
        Add(inner, outer, slots);
      }
    }
  }
}

void OuterSlots::Add(Value v, Inst outer, std::vector<uint32_t>& slots) const {
  if (!activity_.Active(v) || primal_.TypeOf(v).IsArray() || tree_.Inside(v, outer)) return;
  for (uint32_t c = 0; c < slots_.CountOf(v); ++c) slots.push_back(slots_.Of(v, c));
}

}  // namespace adc::autodiff
