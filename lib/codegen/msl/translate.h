#pragma once
// Metal source from SPIR-V: one text for all entries of a target.
//
// What it does: has SPIRV-Cross write each entry point of a SPIR-V module as Metal Shading Language, and
// joins the texts so that what they share (preamble, struct types, helper functions) stands there once.
//
// Requires: a module that the SPIR-V printer made for Metal: memory is reached through storage buffers of
// descriptor set 0 alone, there is no 64-bit float and no float atomic. Guarantees: binding n of the SPIR-V
// is
// [[buffer(n)]] of the entry, an entry is called exactly as its symbol says, equal input gives equal text.

#include <cstdint>
#include <span>
#include <string>

#include "diag/result.h"
#include "target/target.h"

namespace adc::codegen {

/// Buffers that one Metal entry can take: [[buffer(0)]] to [[buffer(30)]].
inline constexpr uint32_t kMetalBuffers = 31;

struct MslText {
  std::string text;
  uint32_t lines = 0;
};

/// The entry points `symbols` of the module `spirv` (little-endian words) as one text in the version of Metal
/// that `target.level` names (24: 2.4). The failure says what SPIRV-Cross objected to, and for which entry.
diag::Result<MslText> TranslateToMsl(std::span<const uint8_t> spirv, std::span<const std::string> symbols,
                                     const target::Target& target);

}  // namespace adc::codegen
