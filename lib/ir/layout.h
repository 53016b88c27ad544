#pragma once
// Where the fields of a layout lie.

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

}  // namespace adc::ir
