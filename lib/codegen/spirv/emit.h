#pragma once
// SPIR-V for Vulkan, and for translation to the Metal language: one module, one entry point per task and way
// of addressing, after artifact/gpu_abi.h.
//
// Vulkan targets get two entries per task, `symbol` with descriptors and `far_symbol` with device addresses;
// Metal targets one, with buffer bindings. The payload is of kind Spirv in both cases; for Metal it is what
// the translation starts from.
//
// A near entry counts elements in 32 bits: a descriptor reaches less than 2^32 bytes.
//
// Additions of floats in memory are instructions where the target is Vulkan 1.3, and loops of exchanges
// elsewhere: no version of Vulkan promises them, so a bundle that is to run everywhere holds code for
// 1.2 as well.
//
// TargetCode::features names what the device must have for the capabilities of the module, as
// artifact/spirv_capabilities.def says.

#include <span>

#include "codegen/common/code.h"

namespace adc::codegen {

/// The module in phase Raised. Fails where something cannot be generated for the target, with its place and
/// the remedy.
diag::Result<TargetCode> EmitSpirv(const ir::Module& module, std::span<const KernelToEmit> kernels,
                                   const CodeConfig& config);

}  // namespace adc::codegen
