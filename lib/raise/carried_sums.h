#pragma once
// Values that a loop carries and does nothing with but add to them, so that its turns may sum up apart.
//
//   for %i in ... carry(%s = %s0) {
//     %t = if %c { yield (add %s, %x) } else { yield %s }      %s goes through additions, branches, choices
//     and inner yield %t                                                 loops to the end of the turn, and
//     nowhere else
//   }

#include <vector>

#include "analysis/uses.h"
#include "ir/function.h"

namespace adc::raise {

class CarriedSums {
 public:
  /// `uses` of `kernel`, which stay as they are.
  CarriedSums(const ir::Function& kernel, const analysis::Uses& uses) : kernel_(kernel), uses_(uses) {}

  /// Whether result `number` of a `for` is its initial value and a sum over the turns.
  bool IsSum(ir::Inst loop, uint32_t number) const;

 private:
  /// Whether `v`, or what `uses` read, comes to the use `end` in `block` with nothing but other values added
  /// to it, and goes nowhere else.
  bool SumsInto(ir::Value v, ir::Block block, analysis::Use end) const;
  bool SumsInto(const std::vector<analysis::Use>& uses, ir::Block block, analysis::Use end) const;
  bool SumsThroughIf(const std::vector<analysis::Use>& uses, ir::Inst branch, ir::Block block,
                     analysis::Use end) const;
  bool SumsThroughSelect(const std::vector<analysis::Use>& uses, ir::Block block, analysis::Use end) const;

  const ir::Function& kernel_;
  const analysis::Uses& uses_;
};

}  // namespace adc::raise
