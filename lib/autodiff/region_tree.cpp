#include "autodiff/region_tree.h"

namespace adc::autodiff {

using ir::Block;
using ir::Function;
using ir::Inst;
using ir::Op;
using ir::Value;

RegionTree::RegionTree(const Function& function)
    : function_(function),
      first_(function.BlockCount()),
      last_(function.BlockCount()),
      depth_(function.BlockCount()),
      unit_(function.BlockCount()) {
  Visit(function.Body(), 0, function.Body());
}

void RegionTree::Visit(Block block, uint32_t depth, Block unit) {
  first_[block.raw] = next_++;
  depth_[block.raw] = depth;
  unit_[block.raw] = unit;
  for (Inst inst : function_[block].insts) {
    uint32_t regions = function_.RegionCount(inst);
    for (uint32_t r = 0; r < regions; ++r) {
      Block region = function_[inst].regions[r];
      bool joined = r == 1 && function_[inst].op == Op::While;
      Visit(region, depth + 1, joined ? function_[inst].regions[0] : region);
    }
    if (regions == 0) continue;
    post_order_.push_back(function_[inst].regions[0]);
    if (regions == 2 && function_[inst].op != Op::While) post_order_.push_back(function_[inst].regions[1]);
  }
  last_[block.raw] = next_ - 1;
  if (block == function_.Body()) post_order_.push_back(block);
}

bool RegionTree::Inside(Block block, Inst inst) const {
  if (inst == kWholeKernel) return true;
  uint32_t regions = function_.RegionCount(inst);
  for (uint32_t r = 0; r < regions; ++r) {
    Block region = function_[inst].regions[r];
    if (first_[region.raw] <= first_[block.raw] && first_[block.raw] <= last_[region.raw]) return true;
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

Block LoopYieldBlock(const Function& function, Inst loop) {
  return function[loop].regions[function[loop].op == Op::While ? 1 : 0];
}

Value CarriedParam(const Function& function, Inst loop, uint32_t k) {
  Block head = function[loop].regions[0];
  return function[head].params[function[loop].op == Op::While ? k : k + 1];
}

Value CarriedInit(const Function& function, Inst loop, uint32_t k) {
  const ir::InstData& data = function[loop];
  uint32_t first = data.op == Op::For ? 3 : ((data.flags & ir::kFlagHasMax) ? 1 : 0);
  return function.Operand(loop, first + k);
}

Value CarriedYield(const Function& function, Inst loop, uint32_t k) {
  return function.Operand(function.Terminator(LoopYieldBlock(function, loop)), k);
}

}  // namespace adc::autodiff
