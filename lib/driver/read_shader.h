#pragma once
// A shader as the module of a compilation.

#include <memory>
#include <string>
#include <vector>

#include "diag/diagnostics.h"
#include "driver/options.h"
#include "ir/module.h"

namespace adc::driver {

/// Reads GLSL, HLSL or SPIR-V, by the extension of `path`. Null after errors, which are told. `open`: what an
/// editor has of a file of GLSL or HLSL; null: it is read.
std::unique_ptr<ir::Module> ReadShader(const std::string& path, const CompileOptions& options,
                                       diag::SourceManager& sources, diag::Diagnostics& diagnostics,
                                       std::vector<std::string>* dependencies,
                                       const std::string* open = nullptr);

/// Several shaders as one module. What --diff names has to be in one of them.
std::unique_ptr<ir::Module> ReadShaders(const std::vector<std::string>& paths, const CompileOptions& options,
                                        diag::SourceManager& sources, diag::Diagnostics& diagnostics,
                                        std::vector<std::string>* dependencies);

/// What is wrong with the words of --sampler; empty: nothing.
std::string CheckSampler(std::string_view words);

}  // namespace adc::driver
