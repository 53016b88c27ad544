#pragma once
// Which back ends this adc was built with (ADC_BACKENDS of CMake). Without LLVM, codegen/without_llvm stands
// where codegen/llvm, cpu, nvptx and amdgpu are else.

#include <optional>

#include "diag/diagnostics.h"
#include "target/target.h"

namespace adc::codegen {

/// E0704, where this adc has no back end for targets of the kind.
std::optional<diag::Diagnostic> WhyNoBackEnd(const target::Target& target);

}  // namespace adc::codegen
