#pragma once
// Primal values that the kernel has left in buffers, where the adjoint sweep reads them again.

#include "ir/function.h"

namespace adc::autodiff {

/// For each value of `function` that is worth it: the store that keeps it.
///
/// A store counts where its buffer is `writeonce` and aliases nothing, so that the cell still holds the value
/// after the kernel, where it stands in the block that computes the value, so that it ran whenever the value
/// was computed, and where its indices are had from what is known there. It is worth it where making the
/// value again would take more than a few operations.
///
/// A store to a buffer of saved values always counts: the kernel makes it for the gradient
/// (autodiff/save_overwritten.h), and its slot is arithmetic on loop indices and arguments.
///
/// Requires: phase Scalar. Guarantees: where `Of(v)` is valid, a load of its cell gives `v` in every
/// iteration that computed `v`.
class StoredValues {
 public:
  /// None.
  StoredValues() = default;
  /// Without `reread` only saved values.
  StoredValues(const ir::Function& function, bool reread);

  /// The store that keeps `v`; invalid where there is none.
  ir::Inst Of(ir::Value v) const { return store_.Get(v); }

 private:
  SideTable<ir::Value, ir::Inst> store_;
};

/// Whether making `v` again would take more than a few operations.
bool IsWorthRereading(const ir::Function& function, ir::Value v);

}  // namespace adc::autodiff
