#pragma once
// Size kernels: what no size expression can say is counted before the launch.
//
// A `while` whose end lies in the data has no expression for its trip count. Its size kernel is the task
// itself without its effects: a kernel of the same parameters and iterations, and one more, `%sizes:
// buffer<i64, 1>`, which runs what decides how often loops run and writes the largest count of every open
// stack into %sizes[stack]. Everything else is dead there and leaves with simplification, so that usually
// nothing but loop conditions remains.
//
// Where a count depends on values that were pushed (a loop inside of a reversed loop), the size kernel keeps
// those stacks as well. Their capacity may be open itself: the launcher then runs the size kernel again with
// what it has counted, until nothing grows. Each round settles one more level of nesting. Inside a size
// kernel what does not fit is left out: pushes are dropped, and a loop that would pop what was dropped runs
// no iteration.

#include "adstack/plan.h"

namespace adc::adstack {

struct SizeKernel {
  ir::Function* function = nullptr;
  AdstackPlan plan;  ///< PlannedStack::id says which stack of the sized task each of its stacks is
};

/// True where a size kernel would help: some capacity of the task is unknown.
bool NeedsSizeKernel(const TaskPlan& task);

/// Adds the size kernels of `kernel` to the module, planned and not lowered: "k.grad.size0" for task 0, role
/// Size. Their names enter `plan`. A task whose counts depend on the result of an atomic, or on the content
/// of a stack without slots that is open itself, gets none, and needs a cap at the launch.
///
/// *Requires*: `plan` was made from `kernel`, which still holds its abstract stacks. *Breaks*: nothing of
/// `kernel`.
std::vector<SizeKernel> AddSizeKernels(ir::Module& module, const ir::Function& kernel, AdstackPlan& plan,
                                       diag::Diagnostics& diagnostics);

}  // namespace adc::adstack
