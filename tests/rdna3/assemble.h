#pragma once
// Text to machine code of gfx1100, for tests of single instructions.

#include <cstdint>
#include <string>
#include <vector>

namespace adc::rdna3 {

/// The bytes of `text`, one instruction a line. Throws std::runtime_error with the assembler's message.
std::vector<uint8_t> Assemble(const std::string& text);

}  // namespace adc::rdna3
