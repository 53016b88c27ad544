#include "diag/diagnostics.h"

namespace adc::diag {

Diagnostic& Diagnostics::Add(Severity severity, ErrorId id, SourceSpan span, std::string text) {
  bool is_error = severity == Severity::Error;
  if (is_error) ++error_total_;
  if (is_error && error_limit_ != 0 && error_total_ > error_limit_) {
    overflow_ = Diagnostic{severity, id, span, std::move(text)};
    return overflow_;
  }
  all_.push_back(Diagnostic{severity, id, span, std::move(text)});
  return all_.back();
}

}  // namespace adc::diag
