#pragma once
// How many words the launch of a task hands over (artifact/gpu_abi.h).

#include "codegen/common/code.h"

namespace adc::codegen {

/// Number of words that the adstacks of a task take; none where `rows` is null.
uint32_t GpuRowWords(const TaskRows* rows);

/// Number of words of a launch of a task. `rows` may be null.
uint32_t GpuWordCount(const ir::Function& kernel, const TaskRows* rows);

}  // namespace adc::codegen
