#pragma once
// The bounds record: the bounds that the loops of a kernel ran with, so that its gradient can tell whether
// they still do.
//
// A gradient runs the loops of its primal again, on the buffers as the primal left them. Where a bound has
// changed in between nothing crashes: tapes are sized for what is there now, and the adjoints are those of
// another launch. The kernel that is made here evaluates how often each loop runs, whatever decides it:
// scalars, shapes, buffers, gates around the loop, the end of a `while`. It has the plain parameters of the
// primal and three more:
//
//   %record: buffer<u64, 1>   of an earlier run
//   %status: buffer<i32, 1>   a status block (artifact/cpu_abi.h)
//   %sums:   buffer<u64, 1>   zero before it runs
//
// Both of u64 hold a tag, then for each loop a checksum of (iteration, start, trips) and the sum of its
// trips, added up in no particular order. The last task compares the two and reports the first loop that
// differs; the tasks before it only count. So a record is made by running all tasks but the last one.

#include "adstack/plan.h"

namespace adc::counting {

/// A loop whose trips are recorded: element 1 + 2n of a record has loop n's checksum, 2 + 2n its trips.
struct RecordedLoop {
  ir::Op op = ir::Op::For;  ///< For, While, Parallel
  diag::SourceSpan place;
};

struct BoundsKernel {
  ir::Function* function = nullptr;  ///< null where every loop is fixed: there is nothing to record
  adstack::AdstackPlan plan;
  std::vector<RecordedLoop> loops;
  /// Loops of the gradient that it cannot evaluate: their trips depend on the result of an atomic, on memory
  /// that the gradient writes, on a stack whose depth nothing says before the launch, or on iterations that
  /// only a trip kernel counts.
  std::vector<diag::SourceSpan> missed;
};

/// Adds the kernel that records the bounds of `gradient` to the module, planned and not lowered: "k.bounds"
/// for "k.grad", role Bounds. Loops whose trips follow from constants and from the iterations around them are
/// not recorded. `plan` is the gradient's.
///
/// *Requires*: `plan` was made from `gradient`, which still holds its abstract stacks. *Guarantees*: the
/// counts depend on memory, scalars and shapes alone, not on the order of threads. *Breaks*: nothing of
/// `gradient`.
BoundsKernel AddBoundsKernel(ir::Module& module, const ir::Function& gradient,
                             const adstack::AdstackPlan& plan, diag::Diagnostics& diagnostics);

}  // namespace adc::counting
