#pragma once
// Finds out whether invocations of a workgroup access one element between two barriers, by running their
// indices.

#include "transform/workgroup_facts.h"

namespace adc::transform {

/// Follows the invocations of one workgroup of a loop marked `workgroup` through its body, with the values of
/// integers at compile time: numbers, or sums of multiples of values that are the same for the whole
/// workgroup. Two invocations that access one element without a barrier between them, at least one with a
/// store, are an error (E0307); where an index or a condition is not known, a warning (W0464).
///
/// Requires: the same as SplitWorkgroups, and facts that are good.
void CheckWorkgroupRaces(const ir::Module& module, const ir::Function& function, ir::Inst loop,
                         const WorkgroupFacts& facts, diag::Diagnostics& diagnostics);

}  // namespace adc::transform
