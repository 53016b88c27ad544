#pragma once
// Modules of compilers that are newer than the validator.

#include "frontend/spirv/binary.h"

namespace adc::frontend::spirv {

/// The module without what says nothing about what it does, and what newer compilers have new words for:
/// source languages become "unknown", non-semantic instructions and the sets that they come from go. A module
/// that is cut off within an instruction stays as it is from there on.
Words WithoutNews(const Words& words);

}  // namespace adc::frontend::spirv
