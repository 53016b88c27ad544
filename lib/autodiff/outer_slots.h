#pragma once
// What the reverse of a branch or loop carries through: the adjoints of what lies outside of it.

#include "autodiff/activity.h"
#include "autodiff/held_updates.h"

namespace adc::autodiff {

class OuterSlots {
 public:
  /// All of them must outlive it.
  OuterSlots(const ir::Function& primal, const Activity& activity, const RegionTree& tree,
             const AdjointWork& work, const AdjointSlots& slots, const HeldUpdates& held);

  /// The slots outside of `structure` to which its reverse may contribute, ascending.
  std::vector<uint32_t> Of(ir::Inst structure) const;
  /// The same with those of the values that it begins with, if it is a loop.
  std::vector<uint32_t> WithInitialOf(ir::Inst structure) const;

 private:
  void AddRegions(ir::Inst inst, ir::Inst outer, std::vector<uint32_t>& slots) const;
  void Add(ir::Inst inst, ir::Inst outer, std::vector<uint32_t>& slots) const;
  /// Of a value, if it is active and made outside of `outer`.
  void Add(ir::Value v, ir::Inst outer, std::vector<uint32_t>& slots) const;

  const ir::Function& primal_;
  const Activity& activity_;
  const RegionTree& tree_;
  const AdjointWork& work_;
  const AdjointSlots& slots_;
  const HeldUpdates& held_;
};

}  // namespace adc::autodiff
