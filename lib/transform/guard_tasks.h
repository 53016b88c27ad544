#pragma once
// Takes parallel loops out of the branches of a kernel.

#include "transform/pass.h"

namespace adc::transform {

/// An `if` at the top level of a kernel may hold `parallel` loops. Each becomes a task of its own that has no
/// iterations where the branch is not taken, and the statements around it stay behind the condition.
///
/// Requires: loops that are marked `unroll` are unrolled (one at the top level may hold `parallel` too).
/// Guarantees: `parallel` stands at the top level of kernels alone. Breaks: nothing.
void GuardTasks(ir::Module& module, FoldConfig fold);

}  // namespace adc::transform
