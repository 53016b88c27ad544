#pragma once
// The uses that a kernel, and each task of it, makes of the memory of its parameters.

#include <cstdint>
#include <vector>

#include "ir/function.h"

namespace adc::product {

/// The uses of one parameter.
struct ParamUse {
  bool reads = false;
  bool writes = false;
  uint32_t shape_as_i32 = 0;  ///< axes, a bit each
};

/// The uses by the whole kernel, by position of the parameter.
std::vector<ParamUse> UsesOf(const ir::Function& kernel);

/// The same of each task, as analysis::TasksOf has them.
std::vector<std::vector<ParamUse>> TaskUsesOf(const ir::Function& kernel);

}  // namespace adc::product
