#pragma once
// Where a derivative ends: in a buffer that is not marked `diff`, and in arithmetic on the bits of a float.

#include "diag/diagnostics.h"
#include "ir/function.h"

namespace adc::autodiff {

/// Warns (W0417), once for each buffer or field, of a float without `diff` into which `kernel` stores what
/// depends on a `diff` input and from which it reads again what reaches a `diff` output. Warns (W0418), once
/// for each operation, where such a value comes back from its bits, which were changed in a way that
/// transform/float_bits.h does not see through. Requires Phase::Scalar.
void WarnOfStoppedDerivatives(const ir::Module& module, const ir::Function& kernel,
                              diag::Diagnostics& diagnostics);

}  // namespace adc::autodiff
