#pragma once
// Which instructions do something in the adjoint sweep, and which primal values they read there.

#include "autodiff/activity.h"
#include "autodiff/region_tree.h"

namespace adc::autodiff {

/// An instruction has adjoint work when its reverse sweep is not empty: it makes an active value, moves one
/// into differentiable memory, overwrites differentiable memory (whose adjoint it consumes), or holds such an
/// instruction.
class AdjointWork {
 public:
  AdjointWork(const ir::Function& function, const Activity& activity);

  bool Has(ir::Inst inst) const { return has_[inst] != 0; }
  /// True for control that holds an instruction which touches adjoint memory: it has work even where no
  /// adjoint flows in through its results.
  bool TouchesMemory(ir::Inst inst) const { return touches_memory_[inst] != 0; }
  /// The primal values that the reverse sweep of `inst` itself reads (of control: the values that its
  /// reversed form needs to start, not those that its regions need).
  std::vector<ir::Value> ReadsOf(ir::Inst inst) const;

 private:
  bool Compute(ir::Inst inst);

  const ir::Function& function_;
  const Activity& activity_;
  SideTable<ir::Inst, unsigned char> has_;
  SideTable<ir::Inst, unsigned char> touches_memory_;
};

/// A bit per operand that is active.
uint8_t ActiveOperandMask(const ir::Function& function, const Activity& activity, ir::Inst inst);

}  // namespace adc::autodiff
