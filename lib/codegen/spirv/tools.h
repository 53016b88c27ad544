#pragma once
// The services of SPIRV-Tools for a finished module.

#include <string>

#include "codegen/spirv/module_builder.h"

namespace adc::codegen::spirv {

/// The errors of a module by the rules of Vulkan 1.2 (`level` 12) or 1.3; empty: none.
std::string Validate(const Words& module, uint32_t level);
/// Removes what is computed twice or for nothing. Control flow stays as it is.
Words Optimise(const Words& module, uint32_t level);
/// The module without what only debuggers read: places, texts of the source, functions as the source has
/// them. Names stay, which tools show. Takes any words: a module that is no whole sequence of instructions is
/// left as it is.
Words WithoutDebugInfo(const Words& module);
/// How a module's text spells ids: by their numbers, or by what they are ("%float_0_5").
enum class Ids : uint8_t { Numbers, Names };
/// The module as text, for people and tests.
std::string Disassemble(const Words& module, uint32_t level, Ids ids = Ids::Numbers);

}  // namespace adc::codegen::spirv
