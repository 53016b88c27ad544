#pragma once
// SPIR-V for Vulkan, and for translation to the Metal language: one module, one entry point per task and way
// of addressing, after artifact/gpu_abi.h.
//
// Vulkan targets get two entries per task, `symbol` with descriptors and `far_symbol` with device addresses;
// Metal targets one, with buffer bindings. The payload is of kind Spirv in both cases; for Metal it is what
// the translation starts from.
//
// A near entry counts the elements of what lies behind a descriptor in 32 bits: it serves buffers below
// 2^31 bytes.
//
// TargetCode::features names what the device must have: members of Vulkan's feature structures
// ("shaderInt64", "bufferDeviceAddress", "shaderFloat64", "storageBuffer8BitAccess", ...), and for groups of
// subgroup operations "subgroupBasic", "subgroupBallot", "subgroupArithmetic".

#include <span>

#include "codegen/common/code.h"

namespace adc::codegen {

/// The module in phase Lowered. Fails where something cannot be generated for the target, with its place and
/// the remedy.
diag::Result<TargetCode> EmitSpirv(const ir::Module& module, std::span<const KernelToEmit> kernels,
                                   const CodeConfig& config);

}  // namespace adc::codegen
