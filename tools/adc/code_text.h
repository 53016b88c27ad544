#pragma once
// A bundle's code as text for people: the function of one entry point, whatever form the code has.

#include <span>
#include <string>
#include <string_view>

#include "artifact/bundle.h"
#include "diag/result.h"

namespace adc::tool {

/// The function named `symbol` in a section's bytes: disassembled, or cut out of the text. `section` is the
/// section's kind, `target` what the bundle says of its target. Fails where the bytes are no good, or have no
/// such function.
diag::Result<std::string> CodeText(uint32_t section, std::span<const uint8_t> bytes,
                                   const artifact::TargetMeta& target, std::string_view symbol);

/// The words of a SPIR-V module.
std::vector<uint32_t> SpirvWords(std::span<const uint8_t> bytes);

/// Vulkan's version as its targets count it: 12 for "1.2".
uint32_t VulkanLevel(const artifact::TargetMeta& target);

/// Where the text of entry point `symbol` begins in PTX or Metal's language: at ".entry" or "kernel"; npos
/// where there is none.
size_t FindEntry(std::string_view text, std::string_view keyword, std::string_view symbol);

}  // namespace adc::tool
