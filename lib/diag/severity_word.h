#pragma once

#include "diag/diagnostics.h"

namespace adc::diag {

/// The name of a severity in printed diagnostics: "error".
inline const char* SeverityWord(Severity severity) {
  return severity == Severity::Error ? "error" : severity == Severity::Warning ? "warning" : "remark";
}

}  // namespace adc::diag
