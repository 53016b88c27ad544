#pragma once
// Size kernels: they count before the launch what no size expression can say.
//
// A `while` whose end lies in the data has no expression for its trip count, and a gate none for how many
// iterations pass it. The longest of many rows of a matrix has one, but it takes a step per row to evaluate;
// for a loop behind a gate that differs from iteration to iteration there is only a bound.
// A task's size kernel is the task itself without its effects: a kernel of the same parameters and
// iterations, and one more, `%sizes: buffer<i64, 1>`, zero before it runs. It runs the instructions that
// decide trips and gates, and counts: %sizes[stack] is the largest number of elements of an open stack,
// %sizes[stacks + group] the number of iterations that claim a row of a group. Everything else is dead there
// and leaves with simplification, so that usually nothing but conditions remains.
//
// Iterations that break the promise of `checked` are counted there too (counting/promises.h), after the
// stacks: %sizes[stacks + promise], and the groups after that.
//
// Where a stack's count depends on values that were pushed (a loop inside of a reversed loop), the size
// kernel keeps those stacks as well. Their capacity may be open itself: the launcher then runs the size
// kernel again with what it has counted, until nothing grows. Each round settles one more level of nesting.
// A size kernel leaves out elements that do not fit: it drops their pushes, and a loop that would pop them
// runs no iteration. A size kernel that counts rows alone keeps no such stack, and runs once: a gate that
// depends on what was popped counts as passed.

#include "adstack/plan.h"

namespace adc::counting {

struct SizeKernel {
  ir::Function* function = nullptr;
  adstack::AdstackPlan plan;  ///< PlannedStack::id says which stack of the sized task each of its stacks is
};

struct SizeKernelConfig {
  bool count_rows = true;      ///< for devices: on a CPU rows belong to workers
  bool count_elements = true;  ///< also where a capacity has an expression
};

/// A size kernel should count for the stack: nothing else says its capacity; or only an expression that
/// loops, so that a host would walk what a device does side by side, and read its buffers back for that; or
/// only a bound that may be far too large.
bool WantsCounting(const artifact::SizeExprPool& exprs, const adstack::PlannedStack& stack);

/// Adds the size kernels of `kernel` to the module, planned and not lowered: "k.grad.size0" for task 0, role
/// Size. Their names, and which groups and stacks they count, enter `plan`. A task whose stacks' counts
/// depend on the result of an atomic, on memory that the task itself has written before, or on the content of
/// a stack without slots that is open itself, gets none, and needs a cap at the launch.
///
/// *Requires*: `plan` was made from `kernel`, which still holds its abstract stacks. *Guarantees*: no count
/// is below what a launch on the same memory takes. *Breaks*: nothing of `kernel`.
std::vector<SizeKernel> AddSizeKernels(ir::Module& module, const ir::Function& kernel,
                                       adstack::AdstackPlan& plan, const SizeKernelConfig& config,
                                       diag::Diagnostics& diagnostics);

}  // namespace adc::counting
