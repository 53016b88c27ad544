#pragma once
// The catalogue of errors: a stable id, a title and an explanation per kind. One `.def` file per area in
// diag/errors/, and beside it a header with the area's ids as constants: `diag::E0101`.
//   ADC_ERROR(E0101, "title", "explanation with the remedy")
// Ranges: E01xx text and syntax, E02xx rules of the verifier, E03xx simplification, E04xx differentiation,
// E05xx adstacks, E06xx code generation and targets, E07xx files, bundles and the command line, E085x
// shaders. W-ids are warnings of the same areas.

#include <cstdint>
#include <string_view>

namespace adc::diag {

/// The four digits of an id, those of warnings after those of errors.
enum class ErrorId : uint16_t {};

/// The id that is written `text`: a letter and four digits.
consteval ErrorId IdOf(std::string_view text) {
  uint16_t digits = 0;
  for (char c : text.substr(1)) digits = static_cast<uint16_t>(10 * digits + (c - '0'));
  return ErrorId{static_cast<uint16_t>(digits + (text[0] == 'W' ? 10000 : 0))};
}

struct ErrorInfo {
  ErrorId number;
  std::string_view id;
  std::string_view title;
  std::string_view explanation;
};

const ErrorInfo& InfoOf(ErrorId id);
/// Every kind, in the order of the catalogue, for docs/errors.md.
uint32_t ErrorCount();
const ErrorInfo& InfoAt(uint32_t position);

}  // namespace adc::diag
