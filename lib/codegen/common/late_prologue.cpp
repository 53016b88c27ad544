#include "codegen/common/late_prologue.h"

namespace adc::codegen {
namespace {

using ir::Block;
using ir::Inst;
using ir::Op;

class Finder {
 public:
  Finder(const ir::Function& kernel, uint32_t first, Inst loop) : kernel_(kernel), loop_(loop) {
    const std::vector<Inst>& body = kernel[kernel[loop].parent].insts;
    for (uint32_t position = first; body[position] != loop; ++position) {
      prologue_.push_back(body[position]);
      inside_.Insert(body[position]);
    }
  }

  SideTable<Inst, Block> Find(const ChunkSums& sums) {
    Use(loop_, kernel_.Body());
    for (const ChunkSum& sum : sums.sums) Use(sum.first, kernel_.Body());
    Walk(kernel_[loop_].regions[0]);
    for (size_t n = prologue_.size(); n-- > 0;) {
      Inst inst = prologue_[n];
      Block place = ir::ClassOf(kernel_[inst].op) == ir::OpClass::Function ? kernel_.Body()
                                                                           : Outermost(used_in_.Get(inst));
      bool waits = place.Valid() && place != kernel_.Body() && place != kernel_[loop_].regions[0];
      if (waits) late_.Set(inst) = place;
      Use(inst, waits ? place : kernel_.Body());
    }
    return std::move(late_);
  }

 private:
  void Walk(Block block) {
    for (Inst inst : kernel_[block].insts) {
      Use(inst, block);
      for (Block region : kernel_[inst].regions) {
        if (region.Valid()) Walk(region);
      }
    }
  }

  /// `inst`, in `block`, uses its operands.
  void Use(Inst inst, Block block) {
    for (ir::Value v : kernel_.Operands(inst)) {
      Inst made = kernel_.DefiningInst(v);
      if (!made.Valid() || !inside_.Has(made)) continue;
      Block& used = used_in_.Set(made);
      used = used.Valid() ? Common(used, block) : block;
    }
  }

  Block Parent(Block block) const { return kernel_[kernel_[block].owner].parent; }

  uint32_t Depth(Block block) const {
    uint32_t depth = 0;
    for (; block != kernel_.Body(); block = Parent(block)) ++depth;
    return depth;
  }

  /// The innermost block around both.
  Block Common(Block a, Block b) const {
    uint32_t depth_a = Depth(a), depth_b = Depth(b);
    for (; depth_a > depth_b; --depth_a) a = Parent(a);
    for (; depth_b > depth_a; --depth_b) b = Parent(b);
    while (a != b) {
      a = Parent(a);
      b = Parent(b);
    }
    return a;
  }

  /// The block around all serial loops that `block` is in.
  Block Outermost(Block block) const {
    if (!block.Valid()) return block;
    Block result = block;
    for (; block != kernel_.Body(); block = Parent(block)) {
      Op op = kernel_[kernel_[block].owner].op;
      if (op == Op::For || op == Op::While) result = Parent(block);
    }
    return result;
  }

  const ir::Function& kernel_;
  Inst loop_;
  std::vector<Inst> prologue_;
  IndexSet<Inst> inside_;
  SideTable<Inst, Block> used_in_;
  SideTable<Inst, Block> late_;
};

}  // namespace

SideTable<Inst, Block> FindLatePrologue(const ir::Function& kernel, uint32_t first, Inst loop,
                                        const ChunkSums& sums) {
  return Finder(kernel, first, loop).Find(sums);
}

}  // namespace adc::codegen
