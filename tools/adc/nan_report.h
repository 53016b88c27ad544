#pragma once
// The text of `--find-nan` and `gradcheck` about the operation that makes the first NaN (interp/find_nan.h).

#include <string>

#include "diag/source.h"
#include "interp/find_nan.h"
#include "interpret.h"

namespace adc::tool {

/// Prints what a search for `sought` in `kernel` found: an error with notes to standard error, or that there
/// is none. kExitFailed where something was found that comes out of the kernel.
int ReportNan(const interp::NanSearch& search, Sought sought, const Kernel& kernel,
              const diag::SourceManager& sources);

/// The same in one line.
std::string LineOf(const interp::FirstNan& first, Sought sought, const diag::SourceManager& sources);

}  // namespace adc::tool
