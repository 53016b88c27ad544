#pragma once
// How many words the launch of a task hands over (artifact/gpu_abi.h), and whether a target takes as many.

#include "codegen/common/code.h"
#include "diag/result.h"

namespace adc::codegen {

/// Number of words that the adstacks of a task take; none where `rows` is null.
uint32_t GpuRowWords(const TaskRows* rows);

/// Number of words of a launch of a task. `rows` may be null.
uint32_t GpuWordCount(const ir::Function& kernel, const TaskRows* rows);

/// Ok, or E0604 where a launch of one of the kernel's tasks takes more words than `target` allows:
/// CUDA and HIP hand each over as a parameter of 8 bytes. Other kinds of targets take any number.
diag::Status CheckLaunchWords(const ir::Module& module, const KernelToEmit& what,
                              const target::Target& target);

}  // namespace adc::codegen
