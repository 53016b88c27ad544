#pragma once
// Where values live: nesting of blocks, and "units".
//
// A unit is a stretch of code that is reversed as one: the body of a `for` or `parallel`, one branch of an
// `if`, the two regions of a `while` together (a test and the body that it lets run are one iteration), the
// body of the kernel. A unit is named by its first block.

#include <vector>

#include "analysis/loops.h"
#include "analysis/structure.h"

namespace adc::autodiff {

using analysis::CarriedInit, analysis::CarriedNumber, analysis::CarriedParam, analysis::CarriedYield;
using analysis::IsSerialLoop, analysis::LoopYieldBlock;

/// Stands for the whole kernel where a root of a forward run is named: everything is inside it.
inline constexpr ir::Inst kWholeKernel{uint32_t{UINT32_MAX - 1}};

class RegionTree {
 public:
  explicit RegionTree(const ir::Function& function);

  /// The unit that `block` belongs to.
  ir::Block UnitOf(ir::Block block) const { return unit_[block.raw]; }
  /// The unit in which `v` becomes available.
  ir::Block UnitOf(ir::Value v) const { return unit_[function_.DefiningBlock(v).raw]; }
  /// True when `v` is defined in a region of `inst`, at any depth.
  bool Inside(ir::Value v, ir::Inst inst) const { return Inside(function_.DefiningBlock(v), inst); }
  bool Inside(ir::Block block, ir::Inst inst) const;
  /// Units, innermost first: a unit comes after every unit nested in it.
  const std::vector<ir::Block>& PostOrder() const { return post_order_; }
  /// The instructions of a unit in order, without terminators.
  std::vector<ir::Inst> InstsOf(ir::Block unit) const;
  /// Region depth of a block; 0 for the body.
  uint32_t Depth(ir::Block block) const { return structure_.Depth(block); }
  const analysis::Structure& structure() const { return structure_; }

 private:
  const ir::Function& function_;
  analysis::Structure structure_;
  std::vector<ir::Block> unit_;
  std::vector<ir::Block> post_order_;
};

}  // namespace adc::autodiff
