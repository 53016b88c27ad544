#pragma once
// The places of the fields of a layout.

#include "ir/module.h"

namespace adc::ir {

struct LayoutProblem {
  diag::SourceSpan span;  ///< of the field at fault; invalid: the layout
  std::string text;       ///< empty: no problem
};

/// Fills offset and axes of every field, and the size and alignment of the layout, from its tree. As in C:
/// members of a cell lie in order, each aligned to its scalar, and a cell is padded to its largest alignment;
/// a `dense` is an array of cells in C order, and so is one inside a cell. Axis k of a field splits over the
/// extents k of the `dense` around it, outermost first. Refuses what exceeds 63 bits of bytes, 31 bits of
/// cells per axis, or 8 axes.
LayoutProblem ComputeLayout(Layout& layout);

/// A digit of an index: index / divisor % modulus, and the bytes that each step of it is worth.
struct LayoutDigit {
  uint64_t divisor = 1;
  uint64_t modulus = 0;  ///< 0: the first digit of an index in range, which needs none
  uint64_t stride = 0;
};

/// The digits of an index of `axis`, without those that are always 0.
std::vector<LayoutDigit> DigitsOf(const LayoutAxis& axis);

/// Bytes from cell 0 of `axis` to cell `index`.
uint64_t OffsetOf(const LayoutAxis& axis, uint64_t index);

}  // namespace adc::ir
