#pragma once
// All tasks of all kernels as entry points of a GPU module.
//
// Thread t of n that take part runs the iterations t, t + n, t + 2n, ...; a serial task is run by thread 0.
// Every thread reaches the end of its task, where the lanes of a wave sum up together.

#include <span>

#include "codegen/common/code.h"
#include "codegen/llvm/debug_lines.h"
#include "codegen/llvm/gpu_dialect.h"

namespace adc::codegen {

/// Emits `kernels` of `module`, which CanGenerate has let pass, into `output`. `lines` may be null. Gives the
/// entries of each task of each kernel. The functions of the math library that the tasks call are declared,
/// for LinkMath to bring in.
std::vector<std::vector<EntryCode>> EmitGpuKernels(llvm::Module& output, const ir::Module& module,
                                                   std::span<const KernelToEmit> kernels,
                                                   const CodeConfig& config, const GpuDialect& dialect,
                                                   DebugLines* lines);

}  // namespace adc::codegen
