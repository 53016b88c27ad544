#include "code_text.h"

#include <cstring>

#include "codegen/llvm/disassemble.h"
#include "codegen/spirv/tools.h"
#include "diag/errors/driver.h"
#include "support/letters.h"

namespace adc::tool {

namespace {

namespace section = artifact::section;

bool IsWordLetter(char letter) {
  return IsNameCharacter(letter) || letter == '$';
}

diag::Diagnostic NoFunction(std::string_view symbol) {
  return diag::Fail(diag::E0708, {}, "no function '" + std::string(symbol) + "' in the code");
}

/// From the start of the line at `begin` to the brace that closes what opens next.
diag::Result<std::string> Block(std::string_view text, size_t begin, std::string_view symbol) {
  if (begin == std::string_view::npos) return NoFunction(symbol);
  size_t line = text.rfind('\n', begin);
  line = line == std::string_view::npos ? 0 : line + 1;
  size_t depth = 0;
  for (size_t at = begin; at < text.size(); ++at) {
    if (text[at] == '{') ++depth;
    if (text[at] != '}' || depth == 0) continue;
    --depth;
    if (depth == 0) return std::string(text.substr(line, at + 1 - line)) + "\n";
  }
  return NoFunction(symbol);
}

/// The entry point's function out of a disassembled module: its number stands before its name.
diag::Result<std::string> SpirvFunction(std::string_view text, std::string_view symbol) {
  std::string name = " \"" + std::string(symbol) + "\"";
  constexpr std::string_view kHead = "OpEntryPoint GLCompute ";
  for (size_t at = text.find(kHead); at != std::string_view::npos; at = text.find(kHead, at + 1)) {
    size_t id = at + kHead.size(), end = text.find(' ', id);
    if (end == std::string_view::npos || !text.substr(end).starts_with(name)) continue;
    std::string function = std::string(text.substr(id, end - id)) + " = OpFunction ";
    size_t begin = text.find(function);
    size_t last = text.find("OpFunctionEnd", begin == std::string_view::npos ? 0 : begin);
    if (begin == std::string_view::npos || last == std::string_view::npos) break;
    size_t line = text.rfind('\n', begin) + 1;
    return std::string(text.substr(line, text.find('\n', last) - line)) + "\n";
  }
  return NoFunction(symbol);
}

}  // namespace

std::vector<uint32_t> SpirvWords(std::span<const uint8_t> bytes) {
  std::vector<uint32_t> words(bytes.size() / 4);
  for (size_t at = 0; at < words.size(); ++at) {
    for (size_t byte = 0; byte < 4; ++byte) words[at] |= uint32_t{bytes[4 * at + byte]} << (8 * byte);
  }
  return words;
}

uint32_t VulkanLevel(const artifact::TargetMeta& target) {
  return target.arch.view() == "1.2" ? 12 : 13;
}

size_t FindEntry(std::string_view text, std::string_view keyword, std::string_view symbol) {
  for (size_t at = text.find(keyword); at != std::string_view::npos; at = text.find(keyword, at + 1)) {
    size_t head = std::min(text.find('(', at), text.size());
    // Metal's attributes may stand between the keyword and the name, in brackets of their own.
    while (head < text.size() && text.substr(at, head - at).find("[[") != std::string_view::npos &&
           text.substr(at, head - at).find("]]") == std::string_view::npos) {
      head = std::min(text.find('(', head + 1), text.size());
    }
    size_t end = head;
    while (end > at && (text[end - 1] == ' ' || text[end - 1] == '\n')) --end;
    size_t begin = end;
    while (begin > at && IsWordLetter(text[begin - 1])) --begin;
    if (text.substr(begin, end - begin) == symbol) return at;
  }
  return std::string_view::npos;
}

namespace {

/// Takes the column of offsets from the lines of machine code: "  1c  addss".
std::string WithoutOffsets(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end);
    size_t number = line.find_first_not_of(' ');
    size_t after =
        number == std::string_view::npos ? number : line.find_first_not_of("0123456789abcdef", number);
    bool has_offset = number != 0 && after != std::string_view::npos && after > number && line[after] == '\t';
    result += has_offset ? line.substr(after) : line;
  }
  return result;
}

}  // namespace

void CodeReader::ReadModule() {
  if (read_) return;
  read_ = true;
  std::vector<uint32_t> words = SpirvWords(bytes_);
  uint32_t level = VulkanLevel(target_);
  wrong_ = codegen::spirv::Validate(words, level);
  if (!wrong_.empty()) return;
  using codegen::spirv::Ids;
  module_ = codegen::spirv::Disassemble(words, level, form_ == Form::Exact ? Ids::Numbers : Ids::Names);
}

diag::Result<std::string> CodeReader::Function(std::string_view symbol) {
  std::string_view text(reinterpret_cast<const char*>(bytes_.data()), bytes_.size());
  if (section_ == section::kPtx) return Block(text, FindEntry(text, ".entry", symbol), symbol);
  if (section_ == section::kMsl) return Block(text, FindEntry(text, "kernel", symbol), symbol);
  if (section_ == section::kSpirv) {
    ReadModule();
    if (!wrong_.empty()) return diag::Fail(diag::E0708, {}, "not valid SPIR-V: " + wrong_);
    return SpirvFunction(module_, symbol);
  }
  diag::Result<std::string> machine = codegen::Disassemble(bytes_, symbol);
  if (machine && form_ == Form::Comparable) return WithoutOffsets(*machine);
  return machine;
}

diag::Result<std::string> CodeText(uint32_t section, std::span<const uint8_t> bytes,
                                   const artifact::TargetMeta& target, std::string_view symbol) {
  return CodeReader(section, bytes, target, CodeReader::Form::Exact).Function(symbol);
}

}  // namespace adc::tool
