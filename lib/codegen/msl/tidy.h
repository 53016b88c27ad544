#pragma once
// Makes the body of a translated function shorter without changing what it does.
//
// SPIR-V's phis become variables that are declared, given a value in each branch and often copied once more.
// Requires: the layout of SPIRV-Cross, in which no statement assigns to a temporary after its definition.
// Guarantees: the same reads and writes of memory, in the same order; text of another layout is left as it
// is.

#include <string>
#include <string_view>

namespace adc::codegen::msl {

/// A whole function, from its signature to the closing brace, with its braces laid out as SPIRV-Cross does.
std::string TidyFunction(std::string_view function);

}  // namespace adc::codegen::msl
