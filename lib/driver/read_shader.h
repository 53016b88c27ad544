#pragma once
// A shader as the module of a compilation.

#include <memory>
#include <string>
#include <vector>

#include "diag/diagnostics.h"
#include "driver/options.h"
#include "ir/module.h"

namespace adc::driver {

/// Reads GLSL, HLSL or SPIR-V, by the extension of `path`. Null after errors, which are told.
std::unique_ptr<ir::Module> ReadShader(const std::string& path, const CompileOptions& options,
                                       diag::SourceManager& sources, diag::Diagnostics& diagnostics,
                                       std::vector<std::string>* dependencies);

/// What is wrong with the words of --sampler; empty: nothing.
std::string CheckSampler(std::string_view words);

}  // namespace adc::driver
