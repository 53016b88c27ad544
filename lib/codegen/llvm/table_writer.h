#pragma once
// The entry point that writes tables of words, for tasks with more words than a launch has parameters
// (artifact/gpu_abi.h). Words that are parameters of a launch are copied when it is queued: the loader keeps
// no memory of the host for them, and a recorded launch can be queued again.

#include <span>

#include "codegen/common/code.h"
#include "codegen/llvm/gpu_dialect.h"

namespace adc::codegen {

/// Whether a task of one of the kernels has a table.
bool NeedsTable(std::span<const KernelToEmit> kernels);

/// Adds ADRT_GPU_TABLE_WRITER to `module`.
void EmitTableWriter(llvm::Module& module, const target::Target& target, const GpuDialect& dialect);

}  // namespace adc::codegen
