#pragma once
// Whether a bundle's code is what its metadata says, asked of the tools that know the code: SPIR-V's
// validator, LLVM's readers and disassemblers, and readers of PTX and Metal's text.

#include <span>
#include <string>

#include "artifact/bundle.h"

namespace adc::tool {

/// Checks the code of one section. Empty, or the error.
std::string CheckCode(const artifact::Metadata& metadata, const artifact::Section& section,
                      std::span<const uint8_t> bytes);

}  // namespace adc::tool
