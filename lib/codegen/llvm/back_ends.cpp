#include "codegen/common/back_ends.h"

namespace adc::codegen {

std::optional<diag::Diagnostic> WhyNoBackEnd(const target::Target&) {
  return std::nullopt;
}

}  // namespace adc::codegen
