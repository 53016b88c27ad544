#pragma once
// Which indices of a parallel loop a value changes with, and whether it changes with every iteration.
//
// A bit per axis. What is decided from it is a matter of speed alone, so two things are left out: how long a
// serial loop runs, which changes how many of its indices there are and not what they are, and what other
// iterations write.

#include <cstdint>

#include "ir/function.h"

namespace adc::raise {

class AxisUse {
 public:
  AxisUse(const ir::Function& kernel, ir::Inst loop);

  /// The axes that `v` depends on; none for values from outside the loop.
  uint32_t Of(ir::Value v) const { return axes_.Get(v); }
  /// Every axis of the loop.
  uint32_t All() const { return all_; }
  /// Whether `v` is computed from the last axis in such a way that neighbouring iterations mostly have
  /// different values: neither read from memory, nor a quotient or a small remainder.
  bool IsSpread(ir::Value v) const { return spread_.Has(v); }

 private:
  void Walk(ir::Block block);
  void WalkControl(ir::Inst inst);
  bool Spreads(ir::Inst inst) const;

  const ir::Function& kernel_;
  uint32_t all_ = 0;
  SideTable<ir::Value, uint32_t> axes_;
  IndexSet<ir::Value> spread_;
};

}  // namespace adc::raise
