#pragma once
// From an object to a shared image.

#include <span>

#include "codegen/cpu/emit.h"

namespace adc::codegen {

/// Links `object` into an ELF image without needs, initialisers or names of files. The linker works on files,
/// in a fresh temporary folder that is removed again; the bytes do not depend on where that is.
diag::Result<std::vector<uint8_t>> LinkImage(std::span<const uint8_t> object, const target::Target& target,
                                             bool keep_debug);

}  // namespace adc::codegen
