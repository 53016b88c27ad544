#pragma once
// Carried values that a reversed loop inverts instead of popping (reverse computation, docs/glossary.md).
//
//   for %t in 0..%n carry(%k = 1, %p = %a, %q = %b) {       reversed: from the final %k, %p, %q
//     %k2 = xor %k, %mask                                     %k = xor %k2, %mask
//     yield %k2, %q, %p                                       %q = first, %p = second
//   }
//
// An update is undone where that is exact: integer sums, differences and exclusive ors with something that is
// available when the iteration begins, and values that only change places (of any type).

#include "autodiff/region_tree.h"

namespace adc::autodiff {

/// Carried value `state` at the end of an iteration gives parameter `param` of that iteration.
struct Restore {
  uint32_t state = 0;
  uint32_t param = 0;
};

/// The updates to undo so that carried parameter `k` of `loop` is available in each reversed iteration, for
/// every `k` of `wanted` for which that is possible; closed: the state of an entry is the parameter of
/// another.
std::vector<Restore> PlanRestores(const ir::Function& function, const RegionTree& tree, ir::Inst loop,
                                  const std::vector<uint32_t>& wanted);

/// True when `v`, of a loop's body, can be had at the start of an iteration from its index and from outer
/// values alone: a constant, the index, an outer value.
bool AvailableAtEntry(const ir::Function& function, const RegionTree& tree, ir::Inst loop, ir::Value v);

}  // namespace adc::autodiff
