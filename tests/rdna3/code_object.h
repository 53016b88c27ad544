#pragma once
// A code object (HSACO) in the memory of a device: its segments, and what its kernel descriptors say ("User
// Guide for AMDGPU Backend" of LLVM, "Kernel Descriptor", code object version 5, GFX11).

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "decode.h"
#include "memory.h"

namespace adc::rdna3 {

struct Kernel {
  std::string name;
  uint64_t entry = 0;
  uint32_t shared_bytes = 0, private_bytes = 0, argument_bytes = 0;
  uint32_t vector_registers = 0;
  uint32_t mode = 0;            ///< MODE at the beginning
  uint32_t user_registers = 0;  ///< SGPRs that the launch fills
  bool wants_dispatch = false, wants_arguments = false, wants_private_size = false;
  bool wants_group[3] = {};
  uint32_t item_ids = 0;  ///< 0: x alone, 1: x and y, 2: all three, in v0
};

class CodeObject {
 public:
  /// Throws std::runtime_error where the bytes are none for gfx1100, or want what the interpreter does not
  /// have.
  CodeObject(Memory& memory, Decoder& decoder, const void* image);
  ~CodeObject();
  CodeObject(const CodeObject&) = delete;
  CodeObject& operator=(const CodeObject&) = delete;

  /// Null where there is none.
  const Kernel* Find(const std::string& name) const;
  const std::map<std::string, Kernel>& kernels() const { return kernels_; }
  Code& code() const { return *code_; }

 private:
  void ReadKernels(std::span<const uint8_t> image);

  Memory& memory_;
  uint64_t address_ = 0, bytes_ = 0;
  std::map<std::string, Kernel> kernels_;
  std::unique_ptr<Code> code_;
};

}  // namespace adc::rdna3
