#pragma once
// The result of an operation on a file: a value, or the reason of the failure.

#include <optional>
#include <string>
#include <utility>

#include "support/check.h"

namespace adc {

struct FileFailure {
  std::string text;  ///< the operation that fails, its file, and the reason
  std::string help;  ///< the remedy; may be empty
};

template <class T>
class [[nodiscard]] FileResult {
 public:
  FileResult(T value) : value_(std::move(value)) {}                  // NOLINT(google-explicit-constructor)
  FileResult(FileFailure failure) : failure_(std::move(failure)) {}  // NOLINT(google-explicit-constructor)
  bool Ok() const { return value_.has_value(); }
  explicit operator bool() const { return Ok(); }
  T& operator*() {
    ADC_CHECK(value_.has_value(), "value of an operation on a file that failed");
    return *value_;
  }
  T* operator->() { return &**this; }
  const FileFailure& Failure() const { return failure_; }

 private:
  std::optional<T> value_;
  FileFailure failure_;
};

struct FileDone {};
using FileStatus = FileResult<FileDone>;

}  // namespace adc
