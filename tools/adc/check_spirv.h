#pragma once

#include <cstddef>
#include <cstdint>

namespace adc::tool {

/// Whether SPIR-V is valid, for adrt_vk_open_desc::check_spirv. Null in a program without SPIRV-Tools.
using SpirvCheck = int (*)(void* user, const uint32_t* words, size_t count);
SpirvCheck CheckOfSpirv();

}  // namespace adc::tool
