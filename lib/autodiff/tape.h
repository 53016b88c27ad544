#pragma once
// The stacks of one loop: the values that its forward run pushes in each iteration, and the adjoint sweep
// pops.

#include <utility>
#include <vector>

#include "autodiff/to_be_recorded.h"

namespace adc::autodiff {

/// A value pushed in each iteration of a loop.
struct TapeEntry {
  ir::Value value;
  ir::Value stack;
};

/// The stacks of an UndoPlan.
struct UndoStacks {
  /// Per store: index stack (may be invalid), old value.
  std::vector<std::pair<ir::Value, ir::Value>> stores;
  std::vector<ir::Value> snapshots, before;
};

struct Tape {
  std::vector<TapeEntry> entries;
  UndoPlan undo;
  UndoStacks undo_stacks;
};

/// The loop over steps whose tape the forward run of `segments` has filled where `is_last` holds.
struct FilledSteps {
  ir::Inst loop, segments;
  ir::Value is_last;
};

}  // namespace adc::autodiff
