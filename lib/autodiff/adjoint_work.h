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
  /// Calls `read` for every primal value that the reverse sweep of `inst` itself reads (of control: the
  /// values that its reversed form needs to start, not those that its regions need).
  template <class Read>
  void ForEachRead(ir::Inst inst, Read&& read) const;

 private:
  bool Compute(ir::Inst inst);
  void AppendReads(ir::Inst inst, std::vector<ir::Value>& reads) const;

  const ir::Function& function_;
  const Activity& activity_;
  SideTable<ir::Inst, unsigned char> has_;
  SideTable<ir::Inst, unsigned char> touches_memory_;
};

template <class Read>
void AdjointWork::ForEachRead(ir::Inst inst, Read&& read) const {
  std::vector<ir::Value> reads;
  AppendReads(inst, reads);
  for (ir::Value v : reads) read(v);
}

/// A bit per operand that is active.
uint8_t ActiveOperandMask(const ir::Function& function, const Activity& activity, ir::Inst inst);

}  // namespace adc::autodiff
