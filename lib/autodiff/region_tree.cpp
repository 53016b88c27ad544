#include "autodiff/region_tree.h"

#include <algorithm>

namespace adc::autodiff {

using ir::Block, ir::Function, ir::Inst, ir::Op;

RegionTree::RegionTree(const Function& function)
    : function_(function), structure_(function), unit_(function.BlockCount()) {
  unit_[function.Body().raw] = function.Body();
  std::vector<Inst> control;
  for (Inst inst : structure_.Order()) {
    uint32_t regions = function.RegionCount(inst);
    if (regions == 0) continue;
    control.push_back(inst);
    for (uint32_t r = 0; r < regions; ++r) {
      bool joined = r == 1 && function[inst].op == Op::While;
      unit_[function[inst].regions[r].raw] = function[inst].regions[joined ? 0 : r];
    }
  }
  // Nested control ends earlier: a terminator comes after it.
  std::sort(control.begin(), control.end(),
            [&](Inst left, Inst right) { return structure_.End(left) < structure_.End(right); });
  for (Inst inst : control) {
    post_order_.push_back(function[inst].regions[0]);
    if (function.RegionCount(inst) == 2 && function[inst].op != Op::While)
      post_order_.push_back(function[inst].regions[1]);
  }
  post_order_.push_back(function.Body());
}

bool RegionTree::Inside(Block block, Inst inst) const {
  if (inst == kWholeKernel) return true;
  uint32_t regions = function_.RegionCount(inst);
  for (uint32_t r = 0; r < regions; ++r) {
    Block region = function_[inst].regions[r];
    if (structure_.Begin(region) <= structure_.Begin(block) &&
        structure_.End(block) <= structure_.End(region))
      return true;
  }
  return false;
}

std::vector<Inst> RegionTree::InstsOf(Block unit) const {
  std::vector<Inst> result;
  auto append = [&](Block block) {
    for (Inst inst : function_[block].insts)
      if (!ir::IsTerminator(function_[inst].op)) result.push_back(inst);
  };
  append(unit);
  Inst owner = function_[unit].owner;
  if (owner.Valid() && function_[owner].op == Op::While) append(function_[owner].regions[1]);
  return result;
}

}  // namespace adc::autodiff
