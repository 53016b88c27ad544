#pragma once
// The buffers that the kernel has saved for its gradient as a task has left them.

#include "analysis/memory.h"

namespace adc::autodiff {

/// The gradient of an extremum finds the winner by the value of the cell when all its iterations are done,
/// and a named vjp is given the buffers as its function left them. Where such a buffer does not last until
/// then, the kernel copies it to a buffer of saved values after the task:
///
///   parallel %i in ... { atomic max %m[...], %v }
///   parallel %k in 0..shape(%m, 0) { store %saved.f32[%k], (load %m[%k]) }
///
/// This finds such copies, and proves that each is one: it runs whenever the kernel does, holds every element
/// under the number that it has in C order, and between the reader (an extremum, or an opened call) and the
/// copy nothing writes the buffer, but for an extremum the same kind of extremum.
///
/// Requires: phase Scalar. Guarantees: where `Of(reader, base, component)` is valid, element number n of
/// `base` is in slot n, as the kernel left it there. Writes in the reader's own task are not looked at.
class FinalValues {
 public:
  explicit FinalValues(const ir::Function& function);

  /// The store to a saved buffer, of the first copy after `reader`; invalid where there is none.
  ir::Inst Of(ir::Inst reader, ir::Value base, uint32_t component) const;

 private:
  void AddCopies(const analysis::Structure& structure, const analysis::MemoryClasses& memory, ir::Inst reader,
                 ir::Value base);

  struct Copied {
    ir::Inst load, store;
  };
  const ir::Function& function_;
  std::vector<Copied> copies_;                          ///< in textual order
  SideTable<ir::Inst, std::vector<Copied>> of_reader_;  ///< those that hold what it left
};

/// `atomic min` and `max`.
inline bool IsExtremum(ir::Op op) {
  return op == ir::Op::AtomicMin || op == ir::Op::AtomicMax;
}

}  // namespace adc::autodiff
