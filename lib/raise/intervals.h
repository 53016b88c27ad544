#pragma once
// An interval for each value of i32: of constants, counters, extents, and what is computed from them.

#include <cstdint>

#include "ir/function.h"

namespace adc::raise {

struct Interval {
  int64_t low = INT32_MIN;
  int64_t high = INT32_MAX;

  bool Fits() const { return low >= INT32_MIN && high <= INT32_MAX; }
};

/// Const once made; stale after the function is edited.
class Intervals {
 public:
  Intervals(const ir::Module& module, const ir::Function& kernel);

  Interval Of(ir::Value v) const;
  /// Whether the result of `inst`, an operation on i32, is the one over the integers.
  bool IsExact(ir::Inst inst) const { return exact_.Has(inst); }

 private:
  void Enter(ir::Inst inst);
  Interval BetweenOf(ir::Inst loop, uint32_t first) const;
  void BindCounters(ir::Inst loop);
  void BindResult(ir::Inst inst);

  const ir::Module& module_;
  const ir::Function& kernel_;
  SideTable<ir::Value, Interval> bounds_;
  IndexSet<ir::Inst> exact_;
};

}  // namespace adc::raise
