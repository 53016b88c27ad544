#pragma once
// Reverse mode: a kernel becomes its gradient.
//
// Adds `<k>.grad` to the module, which accumulates into the adjoints of the memory that `k` reads and
// consumes the adjoints of the memory that `k` overwrites. It runs after `k`, on the buffers as `k` left
// them, and redoes no side effect of `k`. Requires: Phase::Scalar; `primal` is a kernel whose tasks are
// isolated. Guarantees: the primal is not touched; the new kernel is well formed, holds adstacks (each pushed
// by one loop, by two copies of it where it keeps checkpoints, and popped by its reversed twin at the same
// slot) and `add_to`; the gradient is right, or an error says why it cannot be. Breaks: nothing.

#include "autodiff/checkpoint.h"
#include "autodiff/provisions.h"
#include "diag/diagnostics.h"
#include "ir/function.h"

namespace adc::autodiff {

struct ReverseConfig {
  /// Values that the kernel left in `writeonce` buffers are read there rather than computed again. To be off
  /// where the gradient is differentiated in turn: that derivative moves the inputs, and not the values that
  /// the kernel stored.
  bool reread_stored = true;
};

/// The new kernel, or null after an error was reported. `provisions` gets the provisions of the primal
/// values, where it is given and the gradient is not the user's own. `checkpoints`: the last result of
/// SegmentForCheckpoints for `primal`; the gradient is derived from that copy, which leaves the module.
ir::Function* DeriveReverse(ir::Module& module, ir::Function& primal, const ReverseConfig& config,
                            diag::Diagnostics& diagnostics, ProvisionRecord* provisions = nullptr,
                            SegmentedKernel* checkpoints = nullptr);

}  // namespace adc::autodiff
