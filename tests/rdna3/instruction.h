#pragma once
// An instruction as the interpreter runs it: the fields of its encoding, and the function that its mnemonic
// stands for.
//
// LLVM's disassembler says which instruction the bytes are and how many; fields are where the encoding has
// them ("RDNA3 Instruction Set Architecture", chapter 15, microcode formats), which is the same place for all
// instructions of a format.

#include <cstdint>
#include <span>
#include <string_view>

#include "machine.h"

namespace adc::rdna3 {

struct Instruction;
using Handler = void (*)(Wave& wave, const Instruction& instruction);

/// A mnemonic and what it does.
struct Row {
  std::string_view name;
  Handler run;
};

/// Every table of instructions. A name stands for all encodings of it.
std::span<const Row> ScalarRows();
std::span<const Row> ControlRows();
std::span<const Row> FloatRows();
std::span<const Row> IntegerRows();
std::span<const Row> ConversionRows();
std::span<const Row> DivisionRows();
std::span<const Row> CompareRows();
std::span<const Row> PackedRows();
std::span<const Row> LaneRows();
std::span<const Row> ScalarMemoryRows();
std::span<const Row> GlobalMemoryRows();
std::span<const Row> AtomicRows();
std::span<const Row> SharedMemoryRows();

/// What a mnemonic does; null where no table has it.
Handler FindHandler(std::string_view mnemonic);

enum class Format : uint8_t {
  Sop1,
  Sop2,
  Sopk,
  Sopc,
  Sopp,
  Smem,
  Vop1,
  Vop2,
  Vopc,
  Vop3,
  Vop3p,
  Vopd,
  Ds,
  Flat,
  Other
};

/// An operand that is read.
struct Source {
  uint16_t code = 0;  ///< ScalarCode, or kVectors and the number of a VGPR
  bool negative = false, absolute = false;
  bool high = false;  ///< of 16 bits: the upper half of the register
};

/// How lanes of the first operand are moved before it is used.
struct LaneMove {
  enum class Kind : uint8_t { None, Row, Eight } kind = Kind::None;
  uint32_t control = 0;  ///< DPP16: dpp_ctrl; DPP8: three bits for each lane
  uint8_t row_mask = 0xF, bank_mask = 0xF;
  bool bound_control = false, fetch_inactive = false;
};

struct Instruction {
  Handler run = nullptr;
  Format format = Format::Other;
  uint32_t bytes = 4;
  uint16_t destination = 0;  ///< number of a VGPR or of a scalar register
  uint16_t mask = kVcc;      ///< the scalar destination of instructions with two
  Source source[3];
  uint32_t literal = 0;
  bool destination_high = false;
  bool clamp = false;
  uint8_t output_scale = 0;  ///< 1: times 2, 2: times 4, 3: divided by 2
  // VOP3P: by operand, which half the low and the high result read, and whether it is negated there.
  uint8_t half_low = 0, half_high = 0, negative_low = 0, negative_high = 0;
  LaneMove move;
  // Memory: base and data registers are sources; SOPP, SOPK: the constant.
  int32_t offset = 0, second_offset = 0;
  bool returns = false;  ///< an atomic operation gives the old value back
  uint64_t pc = 0;       ///< of this instruction
  // VOPD: what this one does alone, and the instruction beside it.
  Handler first = nullptr;
  const Instruction* other = nullptr;
  uint16_t most_register = 0;  ///< one more than the highest VGPR that it names
};

}  // namespace adc::rdna3
