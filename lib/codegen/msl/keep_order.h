#pragma once
// Makes SPIRV-Cross keep loads in front of what changes the memory they read.
//
// What it does: for each value that is loaded outside a loop and used in it, adds an instruction after the
// loop that reads the value and whose result no instruction reads; buffers that atomics change lose
// `Restrict`.
//
// Requires: a valid module with structured control flow, in which scalars are loaded. Guarantees: the module
// computes what it computed; the added instructions leave no trace in the text. Breaks: nothing.

#include <cstdint>
#include <vector>

namespace adc::codegen::msl {

std::vector<uint32_t> KeepOrder(const std::vector<uint32_t>& words);

}  // namespace adc::codegen::msl
