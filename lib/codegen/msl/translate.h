#pragma once
// Metal source from SPIR-V: one text for all entries of a target.
//
// What it does: has SPIRV-Cross write each entry point of a SPIR-V module as Metal Shading Language, and
// joins the texts so that their shared parts (preamble, struct types, helper functions) stand there once.
//
// Requires: the output of the SPIR-V printer for a Metal target: memory is reached through storage buffers of
// descriptor set 0 alone, there is no 64-bit float and no float atomic. Guarantees: an entry is called
// exactly as its symbol says; its bindings are those that its code uses, numbered from 0; equal input gives
// equal text.
//
// Metal takes 31 buffers. The first 30 bindings are [[buffer(n)]], further ones device addresses in a table
// that is the last buffer (ADRT_METAL_TABLE in artifact/gpu_abi.h).

#include <span>

#include "codegen/common/code.h"

namespace adc::codegen {

/// Puts Metal source of the version that `target.level` names (24: 2.4) in the place of the SPIR-V in `code`,
/// and numbers the bindings of its entries. The buffer of a parameter is called after it:
/// `parameter_names[k]` are those of kernel k, in order. The failure says what SPIRV-Cross objected to, and
/// for which entry.
diag::Status TranslateToMsl(const target::Target& target,
                            std::span<const std::vector<std::string>> parameter_names, TargetCode& code);

}  // namespace adc::codegen
