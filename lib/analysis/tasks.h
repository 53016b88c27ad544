#pragma once
// A kernel's tasks: the pieces of its body that run one after the other with a barrier between them.
//
// A *parallel* task is a top-level `parallel` with its *prologue*: the run of pure instructions and loads
// right before it (bounds, uniform values). Every worker computes the prologue for itself, so a load of
// memory that the parallel writes is no part of it, and neither is control flow but the guard of such a load.
// A *serial* task is everything between two parallel tasks, up to and including the last instruction that a
// prologue may not hold. Pure instructions after the last task belong to none: they have no effect.

#include <vector>

#include "ir/function.h"

namespace adc::analysis {

enum class TaskKind : uint8_t { Serial, Parallel };

struct Task {
  TaskKind kind = TaskKind::Serial;
  uint32_t first = 0;  ///< half-open range of positions in the instruction list of the body block
  uint32_t last = 0;
  ir::Inst parallel;  ///< of a parallel task: its last instruction
};

/// The tasks of a kernel in order. A kernel without effects has none.
std::vector<Task> TasksOf(const ir::Function& kernel);

}  // namespace adc::analysis
