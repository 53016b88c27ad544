#pragma once
// Rewrites text of shaders that glslang does not read as they mean it, in words that it does. Lines stay
// lines.

#include <string>

#include "diag/diagnostics.h"

namespace adc::frontend::glsl {

/// glslang reads [[vk::push_constant]] in front of a cbuffer or a ConstantBuffer. In front of a variable of a
/// structure it says nothing, and makes a uniform block of what the program pushes: `Params p;` becomes
/// `ConstantBuffer<Params> p;`. False after E0850, where the attribute stands in front of something else.
bool RewritePushConstants(std::string& text, uint32_t base, diag::Diagnostics& diagnostics);

/// Blanks `#pragma once`, which glslang does not know; true where the text has it.
bool TakePragmaOnce(std::string& text);

}  // namespace adc::frontend::glsl
