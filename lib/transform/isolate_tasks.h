#pragma once
// Makes the tasks of a kernel stand on their own.

#include "transform/pass.h"

namespace adc::transform {

struct IsolateTasksConfig {
  /// Most instructions that are repeated in a task to have a value of an earlier one.
  uint32_t repeat_limit = 12;
};

/// Sees to it that no value crosses from one task (analysis/tasks.h) to another. A value that is cheap to
/// have again (arithmetic on parameters, constants, shapes and memory that is not written in between) is
/// computed again at the start of the task that reads it. Any other goes through memory: a new parameter of
/// the kernel, `buffer<T, 0>` with ParamRole::Scratch, which the task of the value stores and later tasks
/// load.
///
///   %s = for ... { ... }                      %s = for ... { ... }
///   parallel %i in 0..%n {              ->    store %s.scratch[], %s
///     store %y[%i], (div %x, %s)              %s.1 = load %s.scratch[]
///   }                                         parallel %i in 0..%n { store %y[%i], (div %x, %s.1) }
///
/// Requires: scalars in registers (Scalarise).
/// Guarantees: an instruction reads only parameters, constants, and values of its own task. A local array
/// that would have to cross is an error (E0305). Breaks: nothing; later passes keep tasks apart by themselves
/// (SimplifyFunction).
bool IsolateTasks(ir::Module& module, const IsolateTasksConfig& config, diag::Diagnostics& diagnostics);

}  // namespace adc::transform
