#pragma once
// Visits instructions region by region, in textual order.

#include "ir/function.h"

namespace adc::analysis {

/// Calls `visit(inst)` for every instruction of `block` and, after it, of its regions. `visit` may not add
/// instructions to blocks that are still being walked. Nesting is bounded by ir::kMaxNesting.
template <class Visit>
void ForEachInst(const ir::Function& function, ir::Block block, Visit&& visit) {
  for (ir::Inst inst : function[block].insts) {
    visit(inst);
    for (uint32_t region = 0; region < function.RegionCount(inst); ++region)
      ForEachInst(function, function[inst].regions[region], visit);
  }
}

template <class Visit>
void ForEachInst(const ir::Function& function, Visit&& visit) {
  ForEachInst(function, function.Body(), visit);
}

}  // namespace adc::analysis
