#pragma once
// Machine code without debug information.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace adc::codegen {

/// An ELF object without debug sections, or a shared image or code object also without symbols that only
/// debuggers read, and the bytes after the ELF file. `elf` may hold any bytes: none where it is no ELF file
/// that LLVM can write again, and in a build without LLVM.
std::optional<std::vector<uint8_t>> WithoutDebugSections(std::span<const uint8_t> elf);

}  // namespace adc::codegen
