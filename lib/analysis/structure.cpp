#include "analysis/structure.h"

#include <algorithm>

namespace adc::analysis {

using ir::Block, ir::Function, ir::Inst, ir::Op, ir::Value, ir::ValueKind;

Structure::Structure(const Function& function)
    : function_(&function),
      position_(function.InstCount(), UINT32_MAX),
      end_(function.InstCount(), 0),
      block_begin_(function.BlockCount(), 0),
      block_end_(function.BlockCount(), 0),
      depth_(function.BlockCount(), 0) {
  struct Frame {
    Block block;
    size_t next;
    uint32_t region;
  };
  std::vector<Frame> stack{{function.Body(), 0, 0}};
  while (!stack.empty()) {
    Frame& top = stack.back();
    Block block = top.block;
    const std::vector<Inst>& insts = function[block].insts;
    if (top.next == insts.size()) {
      block_end_[block.raw] = static_cast<uint32_t>(order_.size());
      uint32_t region = top.region;
      Inst owner = function[block].owner;
      uint32_t depth = depth_[block.raw];
      stack.pop_back();
      if (stack.empty()) break;
      if (region + 1 < function.RegionCount(owner)) {
        Block sibling = function[owner].regions[region + 1];
        block_begin_[sibling.raw] = static_cast<uint32_t>(order_.size());
        depth_[sibling.raw] = depth;
        stack.push_back({sibling, 0, region + 1});
      } else {
        end_[owner.raw] = static_cast<uint32_t>(order_.size());
      }
      continue;
    }
    Inst inst = insts[top.next++];
    position_[inst.raw] = static_cast<uint32_t>(order_.size());
    order_.push_back(inst);
    end_[inst.raw] = static_cast<uint32_t>(order_.size());
    if (function.RegionCount(inst) != 0) {
      Block region = function[inst].regions[0];
      block_begin_[region.raw] = static_cast<uint32_t>(order_.size());
      depth_[region.raw] = depth_[block.raw] + 1;
      stack.push_back({region, 0, 0});
    }
  }
}

std::vector<Inst> Structure::Enclosing(Inst inst) const {
  std::vector<Inst> around;
  for (Inst owner = (*function_)[(*function_)[inst].parent].owner; owner.Valid();
       owner = (*function_)[(*function_)[owner].parent].owner)
    around.push_back(owner);
  std::reverse(around.begin(), around.end());
  return around;
}

bool Structure::DefinedOutside(Value v, Inst loop) const {
  const ir::ValueData& data = (*function_)[v];
  switch (data.kind) {
    case ValueKind::Constant:
    case ValueKind::Global:
      return true;
    case ValueKind::Result: {
      Inst inst(data.owner);
      return inst == loop || !Contains(loop, inst);
    }
    case ValueKind::BlockParam: {
      Inst owner = (*function_)[Block(data.owner)].owner;
      return !owner.Valid() || (owner != loop && !Contains(loop, owner));
    }
  }
  return false;
}

Inst HolderIn(const Function& function, Block block, Inst inst) {
  while (inst.Valid() && function[inst].parent != block) inst = function.OwnerOf(inst);
  return inst;
}

Inst TopLevelOf(const Function& function, Inst inst) {
  return HolderIn(function, function.Body(), inst);
}

bool IsParallel(Op op) {
  return op == Op::Parallel || op == Op::ParallelOver;
}

bool IsLoop(Op op) {
  return IsSerialLoop(op) || IsParallel(op);
}

}  // namespace adc::analysis
