#pragma once
// Refuses gradients that read what their kernels should have saved.

#include <functional>

#include "diag/diagnostics.h"
#include "ir/function.h"

namespace adc::autodiff {

/// A gradient may run in a later state of a buffer that is marked `save`; of a kernel that is `overwritten`
/// also of every buffer that it writes. So it must read nothing there. This looks at the gradients
/// themselves, and not at what was planned: it finds every read of reverse mode, of a vjp, or of a gradient
/// of the user's.
///
/// A gradient that the kernel names is asked for the buffers marked `save` only: the user answers for its
/// other reads.
///
/// Requires: Phase::Differentiated, no calls. Changes nothing. Errors: E0453, once per read. False after one.
bool CheckSaved(const ir::Module& module, const std::function<bool(const ir::Function&)>& overwritten,
                diag::Diagnostics& diagnostics);

}  // namespace adc::autodiff
