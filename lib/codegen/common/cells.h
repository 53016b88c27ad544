#pragma once
// The places of the parameters of a kernel among the argument cells (artifact/cpu_abi.h).

#include <vector>

#include "ir/function.h"

namespace adc::codegen {

/// First cell of each parameter of `kernel`, and after the last parameter the number of cells.
std::vector<uint32_t> ParameterCells(const ir::Function& kernel);

}  // namespace adc::codegen
