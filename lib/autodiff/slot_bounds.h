#pragma once
// The facts by which the iterations of the loops around a saved value are numbered
// (autodiff/save_overwritten.h).

#include "autodiff/activity.h"
#include "ir/function.h"

namespace adc::autodiff {

/// Arithmetic on arguments and shapes.
bool IsFromArguments(const ir::Function& function, ir::Value v);

/// Whether arguments and shapes say how large, or how small, an integer may become. An index of a loop lies
/// between the bounds of the loop; sums are bounded where they cannot wrap.
bool HasMost(const ir::Function& function, ir::Value v);
bool HasLeast(const ir::Function& function, ir::Value v);

/// A loop whose index `v` is; and the axis of a `parallel`. Invalid where it is none, or one of a `while`.
struct IndexOf {
  IndexOf(const ir::Function& function, ir::Value v);
  ir::Inst loop;
  uint32_t axis = 0;
  /// The operand of the loop that is the lower bound; the upper one follows. Not of a `parallel` over cells.
  uint32_t Low() const { return 2 * axis; }
};

/// `v` as an index, `v + 1` or `v - c`, where that cannot wrap. Invalid index: it is something else.
struct ShiftedIndex {
  ShiftedIndex(const ir::Function& function, ir::Value v);
  ir::Value index;
  int64_t shift = 0;
};

/// An axis of a buffer in which the index of a loop lies whenever a value in the loop is computed: an access
/// next to the value, or to a block around it, says so.
struct IndexedAxis {
  ir::Value base;  ///< the buffer; invalid: there is none
  uint32_t axis = 0;
  /// No two iterations of the `parallel` around have an index in common: each stores to an element of its own
  /// there.
  bool exclusive = false;
};

/// That of `index`, a parameter of `loop`, for a value that `site` computes.
IndexedAxis AxisOfIndex(const ir::Function& function, const Activity& activity, ir::Inst site, ir::Inst loop,
                        ir::Value index);

}  // namespace adc::autodiff
