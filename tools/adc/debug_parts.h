#pragma once
// Code of each form without what only debuggers read: places in the source, and its text.

#include "artifact/strip.h"

namespace adc::tool {

/// Takes it out of the bytes of a section of kind `kind`; leaves them where there is none. Fails for machine
/// code that is no ELF file, and in a build without LLVM.
bool TakeDebugOut(uint32_t kind, artifact::Vector<uint8_t>* bytes, artifact::Error* error);

}  // namespace adc::tool
