#pragma once

#include "diag/diagnostics.h"

namespace adc::diag {

/// What printed diagnostics call a severity: "error".
inline const char* SeverityWord(Severity severity) {
  return severity == Severity::Error ? "error" : severity == Severity::Warning ? "warning" : "remark";
}

}  // namespace adc::diag
