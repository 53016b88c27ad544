#pragma once
// Loops over units, whose short inner loops run side by side.
//
//   for %o in 0..32 {                              for %b in 0..8 {
//     %s = for %j in 0..32 carry(%s = 0.0) {         %s0, %s1, ... = for %j in 0..32 carry(...) {
//       yield %s + %w[%o, %j] * %h[%j]                 yield %s0 + %w[4 * %b, %j] * %h[%j], ...
//     }                                      ->      }
//     store %g[%o], %s                               store %g[4 * %b], %s0
//   }                                                ...
//                                                  }
//
// An element that all units read, as an input of a layer, is loaded once for four of them, and the updates of
// an element that they all add to follow one another. So the arrays of an iteration, which a device's thread
// has in slow memory, are touched a quarter as often. An inner loop in a branch runs for all units: the
// results of a unit without the branch's condition are left out value by value.
//
// Elements of a buffer that all units add to, as the adjoint of a layer's inputs, become an array of the
// thread's own, and are updated after the nest: a store to a buffer goes to far memory at once. That alone
// regroups sums, where they may be (`may_team`). Each other element sees the same accesses in the same order,
// but for sums in which iterations meet, whose order is open anyway.

#include "ir/function.h"
#include "raise/config.h"

namespace adc::raise {

/// Requires: a kernel of a raised module. Guarantees: in a nest that it rewrites, bounds of the outer loop
/// are constants, and no access is made that the nest did not make, but for elements that the iteration
/// accesses anyway. Breaks: nothing.
void UnrollAndJam(ir::Module& module, ir::Function& kernel, const RaiseConfig& config);

}  // namespace adc::raise
