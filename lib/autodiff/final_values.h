#pragma once
// What the kernel has saved, for its gradient, of cells in which an `atomic min` or `max` has a winner.

#include "analysis/memory.h"

namespace adc::autodiff {

/// The gradient of an extremum finds the winner by what the cell holds when all its iterations are done.
/// Where the buffer does not last until then, the kernel copies it to a buffer of saved values after the
/// task:
///
///   parallel %i in ... { atomic max %m[...], %v }
///   parallel %k in 0..shape(%m, 0) { store %saved.f32[%k], (load %m[%k]) }
///
/// This finds such copies, and proves that each is one: it runs whenever the kernel does, holds every element
/// under the number that it has in C order, and between the extremum and the copy nothing writes the buffer
/// but the same kind of extremum.
///
/// Requires: phase Scalar. Guarantees: where `Of(extremum)` is valid, element number n of its buffer is in
/// slot n, as the kernel left it there.
class FinalValues {
 public:
  explicit FinalValues(const ir::Function& function);

  /// The store to a saved buffer, of the first copy behind `extremum`; invalid where there is none.
  ir::Inst Of(ir::Inst extremum) const { return store_.Get(extremum); }
  /// True when nothing but its own kind changes the buffer of `extremum` from the end of what holds it at the
  /// top level to before `position`.
  static bool LastsUntil(const analysis::Structure& structure, const analysis::MemoryClasses& memory,
                         ir::Inst extremum, uint32_t position);

 private:
  SideTable<ir::Inst, ir::Inst> store_;
};

/// `atomic min` and `max`.
inline bool IsExtremum(ir::Op op) {
  return op == ir::Op::AtomicMin || op == ir::Op::AtomicMax;
}

}  // namespace adc::autodiff
