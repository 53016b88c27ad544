#pragma once
// How deep branches and loops of a module nest, by a look at its merges: before the validator, whose time
// grows with the cube of that depth.

#include <optional>
#include <string>

#include "frontend/spirv/binary.h"

namespace adc::frontend::spirv {

/// The line before an instruction, as the module says; empty and 0 where it says none.
struct NamedLine {
  std::string file;
  uint32_t line = 0, column = 0;
};

/// The first branch or loop that lies in more than `most` others. Of words that need not be valid.
std::optional<NamedLine> FindDeeper(const Words& words, size_t most);

}  // namespace adc::frontend::spirv
