#pragma once
// PTX for NVIDIA's GPUs: one text for all kernels, which the driver translates for the device that it finds.
//
// What it does: emits each task of each kernel as LLVM IR (codegen/llvm/gpu_loop.h), links the functions of
// the math library that are called, optimises, writes PTX of the version and for the processor of the target.

#include <span>

#include "codegen/common/code.h"

namespace adc::codegen {

/// Code for `kernels` of `module`: one payload, Ptx. Fails also where the math library cannot be used.
diag::Result<TargetCode> EmitNvptx(const ir::Module& module, std::span<const KernelToEmit> kernels,
                                   const CodeConfig& config);

}  // namespace adc::codegen
