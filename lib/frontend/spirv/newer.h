#pragma once
// Modules that the validator does not take, although they say what they mean.

#include "frontend/spirv/binary.h"

namespace adc::frontend::spirv {

/// The module without what says nothing about what it does, and what newer compilers have new words for:
/// source languages become "unknown", non-semantic instructions and the sets that they come from go. A module
/// that is cut off within an instruction stays as it is from there on.
Words WithoutNews(const Words& words);

/// A module that glslang has made of HLSL, with the operands of atomic operations in the type of the result:
/// glslang gives a signed constant to InterlockedAdd on a byte-address buffer, whose words are unsigned.
Words WithFittingAtomics(const Words& words);

}  // namespace adc::frontend::spirv
