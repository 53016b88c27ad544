#pragma once
// Checks that a module is within the limits of a compilation.

#include "diag/diagnostics.h"
#include "driver/limits.h"
#include "ir/function.h"

namespace adc::driver {

/// False, with E0760, where `module` has more operations than `limits` allow. `when` ends the message: "after
/// inlining".
bool CheckOperations(const ir::Module& module, const Limits& limits, const char* when,
                     diag::Diagnostics& diagnostics);

/// False, with E0706 at each, where names of `module` are longer than a bundle takes, in which a kernel's is
/// part of the symbols of its tasks. With `asserts` also where the text of an assertion is.
bool CheckNames(const ir::Module& module, bool asserts, diag::Diagnostics& diagnostics);

/// The operations of the largest task of `kernel` (analysis/task_size.h).
uint64_t LargestTask(const ir::Function& kernel);

}  // namespace adc::driver
