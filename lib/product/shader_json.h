#pragma once
// The JSON for a host program that binds the SPIR-V of a shader's kernel without the loader.

#include <string>

#include "artifact/metadata.h"
#include "ir/function.h"

namespace adc::product {

/// `json`, the metadata of kernels that were read from shaders, with one more key, `shader`: an object per
/// kernel that --emit=spirv makes with the shader's bindings (docs/shaders.md). Keys ascend and numbers are
/// integers, as they do and are in the metadata.
std::string WithShaderBindings(const std::string& json, const ir::Module& module,
                               const artifact::Metadata& metadata, uint32_t adjoint_set);

}  // namespace adc::product
