#pragma once
// The indices of a parallel loop that a value changes with, and whether it changes with every iteration.
//
// A bit per axis. Its users decide about speed alone, so two things are left out: the trips of a serial loop,
// which change the number of its indices and not their values, and the writes of other iterations.

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
