#pragma once
// Modules that the validator has not seen: of words that need not be valid.

#include <optional>
#include <string>

#include "frontend/spirv/binary.h"

namespace adc::frontend::spirv {

/// The line before an instruction, as the module says; empty and 0 where it says none.
struct NamedLine {
  std::string file;
  uint32_t line = 0, column = 0;
};

/// The first branch or loop that lies in more than `most` others, by a look at merges: the time of the
/// validator grows with the cube of that depth.
std::optional<NamedLine> FindDeeper(const Words& words, size_t most);

/// The module without what says nothing about what it does, and what newer compilers have new words for:
/// source languages become "unknown", non-semantic instructions and the sets that they come from go. A module
/// that is cut off within an instruction stays as it is from there on.
Words WithoutNews(const Words& words);

/// A module that glslang has made of HLSL, with the operands of atomic operations in the type of the result:
/// glslang gives a signed constant to InterlockedAdd on a byte-address buffer, whose words are unsigned.
Words WithFittingAtomics(const Words& words);

}  // namespace adc::frontend::spirv
