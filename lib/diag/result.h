#pragma once
// The result of a fallible operation: a value, or one Diagnostic that names operation, place, reason and
// remedy.

#include <optional>
#include <utility>

#include "diag/diagnostics.h"
#include "support/check.h"

namespace adc::diag {

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}                 // NOLINT(google-explicit-constructor)
  Result(Diagnostic failure) : failure_(std::move(failure)) {}  // NOLINT(google-explicit-constructor)
  bool Ok() const { return value_.has_value(); }
  explicit operator bool() const { return Ok(); }
  T& operator*() { return Value(); }
  const T& operator*() const { return const_cast<Result*>(this)->Value(); }
  T* operator->() { return &Value(); }
  T& Value() {
    ADC_CHECK(value_.has_value(), "value of a failed Result");
    return *value_;
  }
  const Diagnostic& Failure() const { return failure_; }

 private:
  std::optional<T> value_;
  Diagnostic failure_;
};

struct Unit {};
using Status = Result<Unit>;

inline Diagnostic Fail(ErrorId id, SourceSpan span, std::string text, std::string help = {}) {
  return Diagnostic{Severity::Error, id, span, std::move(text), {}, std::move(help)};
}

}  // namespace adc::diag
