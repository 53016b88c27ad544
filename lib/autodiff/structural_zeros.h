#pragma once
// Finds the adjoints that are 0 by structure, and keeps them from being multiplied by a partial derivative
// that is not finite: the strong zero of reverse mode.
//
// A value that is not selected contributes nothing, even if its partials are infinite or NaN. An adjoint is 0
// by structure where the result is an operand that a `select`, `min`, `max` or `clamp` does not take, where a
// branch or the body of a loop alone reads it and does not run, where an `atomic min` or `max` has another
// winner, and where a later store overwrites it; and 0 times the partial of `rcp` at 0, or of a product with
// NaN, is NaN.
//
//   %r = rcp %x                              the choice is made after the singular operation, not before it:
//   %s = select %c, %r, %w             ->      x.adj += %c ? g * (-%r * %r) : 0
//
// A value that only one side of a selection reads lies on that side (`SideOf`): its adjoint is that of the
// selection, unmasked, and an adjoint that leaves the side is masked by the condition. That costs a selection
// for each value that enters the side, in place of one for the value that leaves it. Where no one condition
// says it (two branches read it, a loop, two selections), the adjoint itself does: a strong zero
// (strong_zero.h). It holds for all operations whose adjoints are made of that one alone (`SeedOf`), so that
// they share a comparison, and an adjoint that leaves them is masked:
//
//   %p = mul %a, %b   %q = sin %p             s: the adjoint of %q, which is dropped elsewhere
//     ->   x = s * cos(%p),   a.adj += s == 0 ? 0 : x * %b,   b.adj += s == 0 ? 0 : x * %a
//
// Of values that only a single branch reads, transform/sink_singular.h computes the singular part there.
//
// Requires: a function in Phase::Scalar. Guarantees: where an adjoint of zero is a matter of numbers alone,
// because something that has an effect or leaves the block takes it in full, nothing is masked: there a
// domain error shows. Breaks: nothing, it only looks. Linear time, times the depth of selections in
// selections.

#include <array>

#include "autodiff/activity.h"

namespace adc::autodiff {

/// A side of a selection: its values count where the operand or region `arm` of `selection` is taken, and the
/// side around it counts. Selections and branches by one condition have their sides in common.
struct SelectedSide {
  uint32_t around = 0;
  uint32_t depth = 0;
  ir::Inst selection;  ///< a select, min, max or if
  uint32_t arm = 0;
};

class StructuralZeros {
 public:
  StructuralZeros(const ir::Function& function, const Activity& activity);

  /// The operation whose adjoint is 0 where that of `inst` is 0 by structure; invalid where it never is, or
  /// only numbers are multiplied. The adjoints that `inst` hands to values with another seed, or none, are 0
  /// where that of the seed is.
  ir::Inst SeedOf(ir::Inst inst) const { return seed_of_.Get(inst); }
  /// The number of the side on which the adjoint of `v` is that of what is selected; 0 where it is on none.
  uint32_t SideOf(ir::Value v) const { return side_of_.Get(v); }
  /// The same of a branch or loop that changes no memory: there is nothing to reverse where it is not
  /// selected.
  uint32_t SideOf(ir::Inst inst) const { return side_of_inst_.Get(inst); }
  /// The side that the operand, or region, `arm` of a selection stands for.
  uint32_t SideOfArm(ir::Inst selection, uint32_t arm) const { return sides_of_arms_.Get(selection)[arm]; }
  const SelectedSide& Side(uint32_t number) const { return sides_[number]; }

 private:
  class Finder;
  class SideFinder;
  class GuardFinder;

  SideTable<ir::Inst, ir::Inst> seed_of_;
  std::vector<SelectedSide> sides_;
  SideTable<ir::Value, uint32_t> side_of_;
  SideTable<ir::Inst, uint32_t> side_of_inst_;
  SideTable<ir::Inst, std::array<uint32_t, 3>> sides_of_arms_;  ///< by operand
};

}  // namespace adc::autodiff
