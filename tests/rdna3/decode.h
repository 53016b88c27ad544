#pragma once
// Bytes to instructions.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "instruction.h"

namespace adc::rdna3 {

/// LLVM's disassembler of one processor. Throws std::runtime_error where LLVM does not know it.
class Decoder {
 public:
  explicit Decoder(const std::string& processor);
  ~Decoder();

  /// The instruction at the beginning of `bytes`, which is at `pc`. What LLVM does not know is a Fault; an
  /// instruction that the tables do not have is one whose `run` is null, so that only running it fails.
  Instruction Decode(std::span<const uint8_t> bytes, uint64_t pc);
  /// It as text, for messages.
  std::string Text(std::span<const uint8_t> bytes, uint64_t pc);
  /// The mnemonic alone: "v_add_f32"; of a dual instruction "v_dual_mul_f32 :: v_dual_mov_b32".
  std::string Mnemonic(std::span<const uint8_t> bytes, uint64_t pc);

  struct Llvm;

 private:
  std::unique_ptr<Llvm> llvm_;
  std::vector<std::unique_ptr<Instruction>> halves_;  // second ones of VOPD
};

/// The code of a program: every instruction decoded when it is first run.
class Code {
 public:
  Code(Decoder& decoder, std::span<const uint8_t> bytes, uint64_t address);
  const Instruction& At(uint64_t pc) {
    uint64_t word = (pc - address_) / 4;
    if (word >= instructions_.size() || pc % 4 != 0) Outside(pc);
    const Instruction& instruction = instructions_[word];
    return instruction.run ? instruction : DecodeAt(pc);
  }
  std::string Text(uint64_t pc);
  /// Every instruction, from the first byte to the last, by its mnemonic, and whether a table has it. Both of
  /// a dual one.
  void ForEach(const std::function<void(const std::string& mnemonic, bool implemented)>& take);

 private:
  [[noreturn]] void Outside(uint64_t pc) const;
  const Instruction& DecodeAt(uint64_t pc);

  Decoder& decoder_;
  std::span<const uint8_t> bytes_;
  uint64_t address_;
  std::vector<Instruction> instructions_;
};

}  // namespace adc::rdna3
