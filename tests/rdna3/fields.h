#pragma once
// The fields of the microcode formats.

#include <span>
#include <string_view>

#include "instruction.h"

namespace adc::rdna3 {

inline constexpr uint32_t kWordsOfDual = 2;  ///< of VOPD, without a literal

/// Fills in what the encoding says. `mnemonic` decides about the few fields whose meaning depends on it.
void ReadFields(std::span<const uint8_t> bytes, std::string_view mnemonic, Instruction& instruction);

/// Two instructions in one; false where it is none of this format.
bool ReadDual(std::span<const uint8_t> bytes, Instruction& first, Instruction& second);

}  // namespace adc::rdna3
