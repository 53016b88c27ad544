#include "diag/diagnostics.h"

namespace adc::diag {

Diagnostic& Diagnostics::Add(Diagnostic diagnostic) {
  bool is_error = diagnostic.severity == Severity::Error;
  if (is_error) ++error_total_;
  if (is_error && error_limit_ != 0 && error_total_ > error_limit_) {
    overflow_ = std::move(diagnostic);
    return overflow_;
  }
  all_.push_back(std::move(diagnostic));
  return all_.back();
}

}  // namespace adc::diag
