#include "debug_parts.h"

#include <algorithm>
#include <cstring>

#include "codegen/llvm/strip_debug.h"
#include "codegen/spirv/tools.h"

namespace adc::tool {
namespace {

/// Where lines begin with one of these words, blanks apart, they go.
std::string WithoutLines(std::string_view text, std::initializer_list<std::string_view> words) {
  std::string rest;
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end);
    std::string_view shown = line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
    bool goes = std::any_of(words.begin(), words.end(),
                            [&](std::string_view word) { return shown.starts_with(word); });
    if (!goes) rest += line;
  }
  return rest;
}

template <class Part>
void Replace(const Part& part, artifact::Vector<uint8_t>* bytes) {
  auto begin = reinterpret_cast<const uint8_t*>(part.data());
  *bytes = artifact::Vector<uint8_t>(begin, begin + part.size() * sizeof part[0]);
}

bool HasDebugSections(std::string_view elf) {
  return elf.find(".debug_line") != std::string_view::npos;
}

}  // namespace

bool TakeDebugOut(uint32_t kind, artifact::Vector<uint8_t>* bytes, artifact::Error* error) {
  namespace section = artifact::section;
  std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  switch (kind) {
    case section::kPtx:
      // With the labels of DWARF's ranges, which `.loc` alone does not read, and an empty section.
      Replace(WithoutLines(text, {".loc\t", ".file\t", ".section\t.debug_", "$L__tmp", "$L__func_begin",
                                  "$L__func_end"}),
              bytes);
      return true;
    case section::kMsl:
      Replace(WithoutLines(text, {"#line "}), bytes);
      return true;
    case section::kSpirv: {
      std::vector<uint32_t> words(bytes->size() / sizeof(uint32_t));
      std::memcpy(words.data(), bytes->data(), words.size() * sizeof(uint32_t));
      Replace(codegen::spirv::WithoutDebugInfo(words), bytes);
      return true;
    }
    case section::kObject:
    case section::kImage:
    case section::kHsaco: {
      if (!HasDebugSections(text)) return true;
      auto stripped = codegen::WithoutDebugSections({bytes->data(), bytes->size()});
      if (!stripped) {
        return artifact::Fail(error, artifact::Code::kArgument, artifact::Rule::kNone,
                              "debug information of machine code cannot be taken out by this adc: that takes "
                              "LLVM, and an ELF file that it can write again");
      }
      Replace(*stripped, bytes);
      return true;
    }
    default:
      return true;
  }
}

}  // namespace adc::tool
