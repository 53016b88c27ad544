#pragma once
// Code of devices in its smallest form, made by hand: what the checks of payloads look at, and no more.

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "artifact/bundle.h"

namespace payloads {

using namespace adc::artifact;
using Bytes = std::vector<uint8_t>;

inline void Put(Bytes& bytes, size_t at, uint64_t value, size_t size) {
  if (bytes.size() < at + size) bytes.resize(at + size);
  for (size_t index = 0; index < size; ++index)
    bytes[at + index] = static_cast<uint8_t>(value >> (8 * index));
}

inline Bytes FromText(std::string_view text) {
  return Bytes(text.begin(), text.end());
}

/// One kernel of one task with code for one target of the given kind.
inline Metadata For(const char* kind, const char* arch, std::initializer_list<const char*> features = {}) {
  Metadata metadata;
  TargetMeta target;
  target.name = "t";
  target.kind = kind;
  target.arch = arch;
  for (const char* feature : features) target.features.push_back(feature);
  metadata.targets.push_back(target);
  EntryMeta entry;
  entry.symbol = "adc_k_t0";
  if (target.kind == "vulkan") entry.far_symbol = "adc_k_t0_far";
  TaskMeta task;
  task.entries.push_back(entry);
  KernelMeta kernel;
  kernel.tasks.push_back(task);
  metadata.kernels.push_back(kernel);
  return metadata;
}

/// A SPIR-V module, instruction by instruction.
struct Spirv {
  Bytes bytes;
  Spirv(uint32_t version = 0x10500) {
    for (uint32_t word : {0x07230203u, version, 0u, 100u, 0u}) Word(word);
  }
  void Word(uint32_t word) { Put(bytes, bytes.size(), word, 4); }
  Spirv& Inst(uint32_t opcode, const std::vector<uint32_t>& words) {
    Word(static_cast<uint32_t>((words.size() + 1) << 16) | opcode);
    for (uint32_t word : words) Word(word);
    return *this;
  }
  Spirv& Capability(uint32_t number) { return Inst(17, {number}); }
  Spirv& Entry(std::string_view name, uint32_t model = 5) {
    std::vector<uint32_t> words = {model, 1};
    for (size_t at = 0; at <= name.size(); at += 4) {
      uint32_t word = 0;
      for (size_t byte = at; byte < at + 4 && byte < name.size(); ++byte) {
        word |= static_cast<uint32_t>(static_cast<unsigned char>(name[byte])) << (8 * (byte - at));
      }
      words.push_back(word);
    }
    return Inst(15, words);
  }
  Spirv& Both() { return Entry("adc_k_t0").Entry("adc_k_t0_far"); }
};

/// A code object with dynamic symbols of these names, each of 64 bytes.
inline Bytes Hsaco(const std::vector<std::string>& symbols, uint32_t machine = 0x41, uint64_t size = 64) {
  Bytes bytes = {0x7F, 'E', 'L', 'F', 2, 1, 1, 64};
  Put(bytes, 16, 3, 2);
  Put(bytes, 18, 224, 2);
  Put(bytes, 48, machine, 4);
  Put(bytes, 58, 64, 2);
  Put(bytes, 60, 3, 2);
  std::string names(1, '\0');
  size_t at = 64;
  for (const std::string& symbol : symbols) {
    Put(bytes, at, names.size(), 4);
    Put(bytes, at + 16, size, 8);
    at += 24;
    names += symbol + '\0';
  }
  size_t text = at;
  for (char letter : names) Put(bytes, at++, static_cast<unsigned char>(letter), 1);
  size_t sections = (at + 7) / 8 * 8;
  Put(bytes, 40, sections, 8);
  auto section = [&](size_t number, uint32_t type, uint64_t offset, uint64_t length, uint32_t link) {
    size_t row = sections + 64 * number;
    Put(bytes, row + 4, type, 4);
    Put(bytes, row + 24, offset, 8);
    Put(bytes, row + 32, length, 8);
    Put(bytes, row + 40, link, 4);
    Put(bytes, row + 56, 0, 8);
  };
  section(0, 0, 0, 0, 0);
  section(1, 11, 64, 24 * symbols.size(), 2);
  section(2, 3, text, names.size(), 0);
  return bytes;
}

/// A symbol of a processor's code.
struct ElfSymbol {
  std::string name;
  uint8_t info = 0x12;   ///< a function that others see
  uint16_t section = 3;  ///< the one of code
  uint64_t value = 0;
};

/// An object, or a shared image, for x86-64 with 16 bytes of code and these symbols.
inline Bytes CpuElf(bool is_object, const std::vector<ElfSymbol>& symbols) {
  Bytes bytes = {0x7F, 'E', 'L', 'F', 2, 1, 1};
  Put(bytes, 16, is_object ? 1 : 3, 2);
  Put(bytes, 18, 62, 2);
  Put(bytes, 58, 64, 2);
  Put(bytes, 60, 4, 2);
  std::string names(1, '\0');
  constexpr size_t kCode = 0x1000;
  size_t at = 64;
  for (const ElfSymbol& symbol : symbols) {
    Put(bytes, at, names.size(), 4);
    Put(bytes, at + 4, symbol.info, 1);
    Put(bytes, at + 6, symbol.section, 2);
    Put(bytes, at + 8, symbol.value + (is_object ? 0 : kCode), 8);
    Put(bytes, at + 16, 4, 8);
    at += 24;
    names += symbol.name + '\0';
  }
  size_t text = at;
  for (char letter : names) Put(bytes, at++, static_cast<unsigned char>(letter), 1);
  size_t sections = (at + 7) / 8 * 8;
  Put(bytes, 40, sections, 8);
  auto section = [&](size_t number, uint32_t type, uint64_t flags, uint64_t address, uint64_t offset,
                     uint64_t length, uint32_t link) {
    size_t row = sections + 64 * number;
    Put(bytes, row + 4, type, 4);
    Put(bytes, row + 8, flags, 8);
    Put(bytes, row + 16, address, 8);
    Put(bytes, row + 24, offset, 8);
    Put(bytes, row + 32, length, 8);
    Put(bytes, row + 40, link, 4);
    Put(bytes, row + 56, 0, 8);
  };
  section(0, 0, 0, 0, 0, 0, 0);
  section(1, is_object ? 2 : 11, 0, 0, 64, 24 * symbols.size(), 2);
  section(2, 3, 0, 0, text, names.size(), 0);
  section(3, 1, 6, is_object ? 0 : kCode, 64, 16, 0);
  return bytes;
}

}  // namespace payloads
