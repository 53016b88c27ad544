#pragma once
// A shader as the module of a compilation.

#include <memory>
#include <string>
#include <vector>

#include "diag/diagnostics.h"
#include "driver/options.h"
#include "ir/module.h"

namespace adc::driver {

/// Reads GLSL, HLSL or SPIR-V, by the extension of `path`. Null after errors, which are reported. `open`: the
/// text of a GLSL or HLSL file in an editor; null: the file is read.
std::unique_ptr<ir::Module> ReadShader(const std::string& path, const CompileOptions& options,
                                       diag::SourceManager& sources, diag::Diagnostics& diagnostics,
                                       std::vector<std::string>* dependencies,
                                       const std::string* open = nullptr);

/// Several shaders as one module. The names of --diff have to be in one of them.
std::unique_ptr<ir::Module> ReadShaders(const std::vector<std::string>& paths, const CompileOptions& options,
                                        diag::SourceManager& sources, diag::Diagnostics& diagnostics,
                                        std::vector<std::string>* dependencies);

/// The error in the words of --sampler; empty: there is none.
std::string CheckSampler(std::string_view words);

}  // namespace adc::driver
