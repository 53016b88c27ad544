#pragma once
// HSACO for AMD's GPUs: one code object (version 5) for all kernels, for one processor.
//
// What it does: emits each task of each kernel as LLVM IR (codegen/llvm/gpu_module.h), selects instructions,
// links the object into the shared form that the driver loads. The metadata of the code object lists the
// arguments of each kernel: the words of the launch, eight bytes each, in order, and no hidden argument after
// them.

#include <span>

#include "codegen/common/code.h"

namespace adc::codegen {

/// Code for `kernels` of `module`: one payload, Hsaco. Fails also where the image cannot be linked.
diag::Result<TargetCode> EmitAmdgpu(const ir::Module& module, std::span<const KernelToEmit> kernels,
                                    const CodeConfig& config);

}  // namespace adc::codegen
