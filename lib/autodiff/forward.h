#pragma once
// Forward mode: a kernel becomes the kernel that also pushes a direction forward.
//
// Adds `<k>.jvp` to the module, which does everything that `k` does and computes tangents beside: it reads
// and writes `%x.tan` where `k` reads and writes `%x`. It runs in the place of `k`. No tape; every construct,
// adstacks included, so that it applies to reverse kernels too (forward over reverse).
// Requires: Phase::Scalar or Differentiated; `primal` is a kernel whose tasks are isolated.
// Guarantees: the primal is not touched; the new kernel is well formed.
// Breaks: nothing.

#include "diag/diagnostics.h"
#include "ir/function.h"

namespace adc::autodiff {

struct ForwardConfig {
  /// Tangents that are pushed forward at once. More than one make `<k>.jvp4`, with `%x.tan0` to `%x.tan3`.
  uint32_t directions = 1;
};

/// The new kernel, or null after an error was reported.
ir::Function* DeriveForward(ir::Module& module, ir::Function& primal, const ForwardConfig& config,
                            diag::Diagnostics& diagnostics);

}  // namespace adc::autodiff
