#pragma once
// Names of entry points in generated code.

#include <cstdint>
#include <string>
#include <string_view>

namespace adc::codegen {

/// The symbol of a kernel's task: `adc_<kernel>_t<task>`, every byte of the kernel's name outside
/// [A-Za-z0-9_] as `_XX` in upper-case hexadecimal, and so an underscore that begins such a spelling in the
/// name itself: kernels of two names have two symbols. It is written into the metadata; no other code
/// computes it.
std::string EntrySymbol(std::string_view kernel, uint32_t task);

/// The ending of a symbol of a task's variant for far memory.
inline constexpr std::string_view kFarEnding = "_far";

/// Bytes of the longest symbol that any target makes of it.
size_t LongestSymbol(std::string_view kernel, uint32_t task);

}  // namespace adc::codegen
