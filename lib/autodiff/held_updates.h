#pragma once
// Loads whose adjoint is summed in a register over a loop that does not change their address.

#include <map>
#include <vector>

#include "autodiff/adjoint_slots.h"
#include "autodiff/adjoint_work.h"

namespace adc::autodiff {

/// A load inside a serial loop whose address does not change with the loop, and whose buffer the loop does
/// not write: the adjoint sweep updates its cell once, after the outermost such loop. Const once made.
class HeldUpdates {
 public:
  /// Each load gets a slot of `slots`.
  HeldUpdates(const ir::Function& primal, const RegionTree& tree, const AdjointWork& work,
              AdjointSlots& slots);

  bool Has(ir::Inst load) const { return slot_.contains(load); }
  uint32_t SlotOf(ir::Inst load) const { return slot_.at(load); }
  /// The outermost loop.
  ir::Inst LoopOf(ir::Inst load) const { return until_.at(load); }
  /// The loads whose outermost loop is `loop`.
  const std::vector<ir::Inst>& LoadsOf(ir::Inst loop) const { return in_.Get(loop); }

 private:
  std::map<ir::Inst, uint32_t> slot_;
  SideTable<ir::Inst, std::vector<ir::Inst>> in_;
  std::map<ir::Inst, ir::Inst> until_;
};

}  // namespace adc::autodiff
