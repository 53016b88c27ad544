#pragma once
// Refuses a gradient whose adjoint sweep would read what the kernel has overwritten.

#include "autodiff/to_be_recorded.h"
#include "diag/diagnostics.h"

namespace adc::autodiff {

/// Reports every place at which the gradient of `kernel` could not be right: loads whose value is needed but
/// may be overwritten later in the kernel, active loads that race with another iteration, atomics without a
/// derivative. False after an error. Proves, never assumes: a load that cannot be shown to be right is
/// refused, and the message names both places. The promises `disjoint`, `settled` and `writeonce` are trusted
/// where they are not provably broken.
bool CheckReverse(const ir::Module& module, const ir::Function& kernel, const Activity& activity,
                  const AdjointWork& work, const RecordingPlan& plan, diag::Diagnostics& diagnostics);

}  // namespace adc::autodiff
