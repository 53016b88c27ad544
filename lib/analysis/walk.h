#pragma once
// Visits instructions region by region, in textual order.

#include "ir/function.h"

namespace adc::analysis {

/// Calls `visit(inst)` for `inst` and, after it, for every instruction of its regions. `visit` may not add
/// instructions to blocks that are still being walked. Nesting is bounded by ir::kMaxNesting.
template <class Visit>
void ForEachInst(const ir::Function& function, ir::Inst inst, Visit&& visit) {
  visit(inst);
  for (uint32_t region = 0; region < function.RegionCount(inst); ++region) {
    for (ir::Inst inner : function[function[inst].regions[region]].insts) ForEachInst(function, inner, visit);
  }
}

/// The same for every instruction of `block`.
template <class Visit>
void ForEachInst(const ir::Function& function, ir::Block block, Visit&& visit) {
  for (ir::Inst inst : function[block].insts) ForEachInst(function, inst, visit);
}

template <class Visit>
void ForEachInst(const ir::Function& function, Visit&& visit) {
  ForEachInst(function, function.Body(), visit);
}

}  // namespace adc::analysis
