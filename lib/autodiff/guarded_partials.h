#pragma once
// Which partial derivatives are not multiplied by an adjoint of zero.
//
//   %r = rcp %x                                     x.adj += g == 0 ? 0 : g * (-%r * %r)
//   for %t in 0..%n {                      ->
//     if (gt %x, 0.0) { ... %r ... }
//   }
//
// What only a branch or the body of a loop reads has the adjoint 0 where that does not run, and 0 times the
// partial of `rcp` at 0 is NaN, although no result depends on %r. transform/sink_singular.h computes it in
// the branch where there is one branch alone; what that cannot move (read in two branches, in a loop, in a
// `parallel`) is found here.
//
// Requires: a function in Phase::Scalar. Guarantees: every instruction whose result is read in its own block,
// by something that has an effect or leaves the block, is left out (a comparison does not count): there a
// zero adjoint is a matter of numbers, and a domain error shows. Breaks: nothing, it only looks. Linear time.

#include "ir/function.h"

namespace adc::autodiff {

/// Operations on floats that have an infinite partial somewhere, or read what such an operation makes, and
/// whose results may go unread.
IndexSet<ir::Inst> FindGuardedPartials(const ir::Function& function);

}  // namespace adc::autodiff
