#pragma once
// A bundle's code as text for people: the function of one entry point, whatever form the code has.

#include <span>
#include <string>
#include <string_view>

#include "artifact/bundle.h"
#include "diag/result.h"

namespace adc::tool {

/// A section's code, function by function.
class CodeReader {
 public:
  enum class Form : uint8_t {
    Exact,
    Comparable,  ///< small changes stay small: without offsets, constants by their values
  };

  /// `section` is the section's kind, `bytes` what it holds and `target` what the bundle says of its target;
  /// both outlive the reader.
  CodeReader(uint32_t section, std::span<const uint8_t> bytes, const artifact::TargetMeta& target, Form form)
      : section_(section), bytes_(bytes), target_(target), form_(form) {}

  /// The function named `symbol`: disassembled, or cut out of the text. Fails where the bytes are no good, or
  /// have no such function.
  diag::Result<std::string> Function(std::string_view symbol);

 private:
  /// Reads SPIR-V as text, and its errors.
  void ReadModule();

  uint32_t section_;
  std::span<const uint8_t> bytes_;
  const artifact::TargetMeta& target_;
  Form form_;
  bool read_ = false;
  std::string module_, wrong_;
};

/// One function of a section that is read once.
diag::Result<std::string> CodeText(uint32_t section, std::span<const uint8_t> bytes,
                                   const artifact::TargetMeta& target, std::string_view symbol);

/// The words of a SPIR-V module.
std::vector<uint32_t> SpirvWords(std::span<const uint8_t> bytes);

/// Vulkan's version as its targets count it: 12 for "1.2".
uint32_t VulkanLevel(const artifact::TargetMeta& target);

/// The begin of the text of entry point `symbol` in PTX or Metal's language: at ".entry" or "kernel"; npos
/// where there is none.
size_t FindEntry(std::string_view text, std::string_view keyword, std::string_view symbol);

}  // namespace adc::tool
