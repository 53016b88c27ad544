#pragma once
// Machine code as text, for people and for tests that ask which instructions are there.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "diag/result.h"

namespace adc::codegen {

/// The functions of an ELF object, shared image or code object, each as a label and one line per instruction:
/// its offset in the function and its text. `symbol`: that function alone; empty: all, in the order of their
/// addresses. `elf` may hold any bytes. Fails with E0611 where it is no ELF file of a processor that LLVM
/// knows, or has no such function.
diag::Result<std::string> Disassemble(std::span<const uint8_t> elf, std::string_view symbol);

/// Bytes of a function's machine code; none where Disassemble would fail, or for what is no ELF file.
std::optional<uint64_t> FunctionBytes(std::span<const uint8_t> elf, std::string_view symbol);

}  // namespace adc::codegen
