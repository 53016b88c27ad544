#pragma once
// The catalogue of errors: a stable id, a title and an explanation per kind. One `.def` file per room in
// diag/errors/.
//   ADC_ERROR(E0101, "title", "explanation with the remedy")
// Ranges: E01xx text and syntax, E02xx rules of the verifier, E03xx simplification, E04xx differentiation,
// E05xx adstacks, E06xx code generation and targets, E07xx files, bundles and the command line. W-ids are
// warnings of the same rooms.

#include <cstdint>
#include <string_view>

namespace adc::diag {

enum class ErrorId : uint16_t {
#define ADC_ERROR(id, title, explanation) id,
#include "diag/errors/all.def"
#undef ADC_ERROR
};

struct ErrorInfo {
  std::string_view id;
  std::string_view title;
  std::string_view explanation;
};

const ErrorInfo& InfoOf(ErrorId id);
/// Every kind, in the order of the catalogue, for docs/errors.md.
uint32_t ErrorCount();
const ErrorInfo& InfoAt(uint32_t position);

}  // namespace adc::diag
