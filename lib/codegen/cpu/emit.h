#pragma once
// CPU code: one entry function per task, after artifact/cpu_abi.h, in an object and in an image that the
// loader maps.
//
// What it does: emits each task of each kernel as LLVM IR, optimises, writes an object file, and links it
// into a position-independent image that imports only the functions of artifact/math_imports.def.
//
// Requires: a module in phase Lowered. Guarantees: the same bytes for the same module and configuration,
// whatever the folder, the number of threads or the run. Breaks: nothing, the module is only read.

#include <span>

#include "codegen/common/code.h"

namespace adc::codegen {

/// Code for `kernels` of `module`. Fails also where the linker's temporary files cannot be written.
diag::Result<TargetCode> EmitCpu(const ir::Module& module, std::span<const KernelToEmit> kernels,
                                 const CodeConfig& config);

}  // namespace adc::codegen
