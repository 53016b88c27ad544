#pragma once
// Words of a buffer of floats that hold integers: a buffer of structs has one scalar type (docs/cpp.md), and
// an index beside a float is read as the bits of one. Such a word has no derivative, and another value of it
// is another index.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ir/function.h"

namespace adc::tool {

/// By parameter of `kernel`, which words of the last axis the kernel reads as integers alone: every load of
/// them is reinterpreted, and no bits of it become a float again (as they do where a sign bit is masked).
std::map<std::string, std::vector<uint32_t>> IntegerWords(const ir::Module& module,
                                                          const ir::Function& kernel);

}  // namespace adc::tool
