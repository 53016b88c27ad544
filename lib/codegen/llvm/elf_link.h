#pragma once
// Linking an object into an ELF image, by LLD as a library.

#include <span>
#include <vector>

#include "diag/result.h"

namespace adc::codegen {

/// Links `object` with the arguments that a target wants beside input and output: `what` names the image in
/// messages. The linker works on files, in a fresh temporary folder that is removed again; the bytes do not
/// depend on where that is. Fails with E0603.
diag::Result<std::vector<uint8_t>> LinkElf(std::span<const uint8_t> object,
                                           std::span<const char* const> arguments, const char* what);

}  // namespace adc::codegen
