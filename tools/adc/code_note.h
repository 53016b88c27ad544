#pragma once
// The note of an AMD code object that says what its kernels take (NT_AMDGPU_METADATA, in MessagePack).

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace adc::tool {

struct NoteKernel {
  std::string name;
  std::optional<uint64_t> block_size, shared_bytes;
  std::optional<uint64_t> registers;  ///< vector registers
  std::vector<std::string> words;     ///< names of the arguments, each of 8 bytes; "?" for one that is not
};

/// Takes any bytes: a part that cannot be read is left out, and so ends the list.
std::vector<NoteKernel> KernelsOfNote(std::span<const uint8_t> elf);

}  // namespace adc::tool
