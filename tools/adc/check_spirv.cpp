#include "check_spirv.h"

#include "codegen/spirv/tools.h"

namespace adc::tool {

SpirvCheck CheckOfSpirv() {
  return [](void*, const uint32_t* words, size_t count) {
    constexpr uint32_t kNewest = 13;  // by the rules of Vulkan 1.3, which those of 1.2 are among
    return codegen::spirv::Validate({words, words + count}, kNewest).empty() ? 1 : 0;
  };
}

}  // namespace adc::tool
