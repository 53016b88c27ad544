#pragma once
// Where each instruction stands: its number in a walk of the function in textual order, the span of numbers
// that lie inside it, and the control instructions around it.

#include "ir/function.h"

namespace adc::analysis {

/// A walk of one function in textual order. Const once made; stale after the function is edited.
class Structure {
 public:
  explicit Structure(const ir::Function& function);

  const ir::Function& function() const { return *function_; }
  /// Number of `inst` in textual order; an instruction comes before what its regions hold.
  uint32_t Position(ir::Inst inst) const { return position_[inst.raw]; }
  /// One past the number of the last instruction inside `inst` (inside a block: of its last instruction).
  uint32_t End(ir::Inst inst) const { return end_[inst.raw]; }
  uint32_t Begin(ir::Block block) const { return block_begin_[block.raw]; }
  uint32_t End(ir::Block block) const { return block_end_[block.raw]; }
  /// Every instruction in textual order.
  const std::vector<ir::Inst>& Order() const { return order_; }
  /// True when `inner` lies in a region of `outer`.
  bool Contains(ir::Inst outer, ir::Inst inner) const {
    return Position(outer) < Position(inner) && Position(inner) < End(outer);
  }
  bool Contains(ir::Block outer, ir::Inst inner) const {
    return Begin(outer) <= Position(inner) && Position(inner) < End(outer);
  }
  /// In textual order: `inst` and what it holds; what `block` holds.
  std::span<const ir::Inst> Within(ir::Inst inst) const { return Between(Position(inst), End(inst)); }
  std::span<const ir::Inst> Within(ir::Block block) const { return Between(Begin(block), End(block)); }
  /// Regions around the contents of `block`: 0 for the body of the function.
  uint32_t Depth(ir::Block block) const { return depth_[block.raw]; }
  /// The control instructions around `inst`, outermost first.
  std::vector<ir::Inst> Enclosing(ir::Inst inst) const;
  /// True when `v` has one value throughout one execution of `loop`: it is defined outside of it.
  bool DefinedOutside(ir::Value v, ir::Inst loop) const;

 private:
  std::span<const ir::Inst> Between(uint32_t begin, uint32_t end) const {
    return std::span(order_).subspan(begin, end - begin);
  }

  const ir::Function* function_;
  std::vector<ir::Inst> order_;
  std::vector<uint32_t> position_, end_, block_begin_, block_end_, depth_;
};

/// The instruction of `block` that is `inst` or holds it; invalid where there is none.
ir::Inst HolderIn(const ir::Function& function, ir::Block block, ir::Inst inst);
/// The instruction of the function's body that is `inst` or holds it.
ir::Inst TopLevelOf(const ir::Function& function, ir::Inst inst);

/// for, while, parallel or parallel over.
bool IsLoop(ir::Op op);
/// for or while: loops whose iterations run one after the other.
constexpr bool IsSerialLoop(ir::Op op) {
  return op == ir::Op::For || op == ir::Op::While;
}
/// parallel or parallel over.
bool IsParallel(ir::Op op);

}  // namespace adc::analysis
