#pragma once
// A GPU back end, but for its last step: from lowered kernels to an optimised LLVM module.
//
// What it does: emits each task of each kernel (codegen/llvm/gpu_loop.h), links the functions of the math
// library that are called, optimises, and lets the back end write its payload.

#include <functional>
#include <span>

#include "codegen/common/code.h"
#include "codegen/llvm/gpu_dialect.h"
#include "llvm/Target/TargetMachine.h"

namespace adc::codegen {

/// Writes a module as a payload and says what took how long.
using WritePayload = std::function<diag::Result<Payload>(llvm::Module& module, llvm::TargetMachine& machine,
                                                         Stopwatch& watch)>;

/// Requires a lowered module. Fails where CanGenerate refuses, where a task has more words than a launch can
/// take, where the math library cannot be used, and where `write` fails.
diag::Result<TargetCode> EmitGpu(const ir::Module& module, std::span<const KernelToEmit> kernels,
                                 const CodeConfig& config, const GpuDialect& dialect,
                                 const WritePayload& write);

}  // namespace adc::codegen
