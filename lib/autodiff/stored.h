#pragma once
// Forward values that the kernel has left in memory, where the way back reads them again.

#include "ir/function.h"

namespace adc::autodiff {

/// For each value of `function` that is worth it: the store that keeps it.
///
/// A store counts where its buffer is `writeonce` and aliases nothing, so that the cell still holds the value
/// after the kernel, where it stands in the block that computes the value, so that it ran whenever the value
/// was computed, and where its indices are had from what is known there. It is worth it where making the
/// value again would take more than a few operations.
///
/// Requires: phase Scalar. Guarantees: where `Of(v)` is valid, a load of its cell gives `v` in every
/// iteration that computed `v`.
class StoredValues {
 public:
  /// None.
  StoredValues() = default;
  explicit StoredValues(const ir::Function& function);

  /// The store that keeps `v`; invalid where there is none.
  ir::Inst Of(ir::Value v) const { return store_.Get(v); }

 private:
  SideTable<ir::Value, ir::Inst> store_;
};

}  // namespace adc::autodiff
