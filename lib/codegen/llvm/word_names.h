#pragma once
// Names of the words of a launch (artifact/gpu_abi.h), for people: they stand in the text of the module and
// in what a code object says of its arguments.

#include <string>
#include <vector>

#include "codegen/common/code.h"

namespace adc::codegen {

/// One name per word, in order: "x" is the address of buffer %x, "x.1" its second extent, "v.2" the third
/// component of a vector, "group0.stride", "stack3.capacity", "heap". `rows` may be null. Parameters without
/// a name are "p0", "p1".
std::vector<std::string> WordNames(const ir::Module& module, const ir::Function& kernel,
                                   const TaskRows* rows);

}  // namespace adc::codegen
