#pragma once
// Failures on files that the compiler reads or writes, as diagnostics with ids.

#include "diag/result.h"
#include "host/file_result.h"

namespace adc::driver {

/// E0701.
diag::Diagnostic CannotRead(const FileFailure& failure);
/// E0702.
diag::Diagnostic CannotWrite(const FileFailure& failure);
/// E0705.
diag::Diagnostic WouldReplace(const FileFailure& failure);

}  // namespace adc::driver
