#include "code_check.h"

#include <algorithm>
#include <set>

#include "artifact/adstack_layout.h"
#include "artifact/gpu_abi.h"
#include "code_facts.h"
#include "code_text.h"
#include "codegen/llvm/disassemble.h"
#include "codegen/spirv/tools.h"

namespace adc::tool {

namespace {

namespace kinds = artifact::section;
using artifact::EntryMeta, artifact::KernelMeta, artifact::TaskMeta;

/// How many parameters the entry of a task has on CUDA (artifact/gpu_abi.h).
size_t ParameterCount(const KernelMeta& kernel, const TaskMeta& task, const EntryMeta& entry) {
  const artifact::AdstackPlanMeta* plan =
      entry.plan == artifact::kNoIndex ? nullptr : &task.plans[entry.plan];
  artifact::RowRules rules = artifact::RowRulesOf("cuda", /*lanes=*/1);
  size_t words = artifact::LaunchWordCount(artifact::CellCount(kernel), plan, rules);
  return std::min<size_t>(words, ADRT_GPU_MAX_WORDS);
}

/// The parameters of the entry whose text begins at `at`: from the bracket after its name to the one that
/// closes it.
std::string_view ParametersAt(std::string_view text, size_t at, std::string_view symbol) {
  size_t name = text.find(symbol, at), open = text.find('(', name);
  if (name == std::string_view::npos || open == std::string_view::npos) return {};
  size_t depth = 0;
  for (size_t end = open; end < text.size(); ++end) {
    if (text[end] == '(') ++depth;
    if (text[end] == ')' && --depth == 0) return text.substr(open, end - open);
  }
  return text.substr(open);
}

size_t Count(std::string_view text, std::string_view word) {
  size_t count = 0;
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

/// Every parameter is a word of 8 bytes.
std::string CheckPtxEntry(std::string_view text, const KernelMeta& kernel, const TaskMeta& task,
                          const EntryMeta& entry) {
  std::string symbol(entry.symbol.view());
  std::string_view parameters = ParametersAt(text, FindEntry(text, ".entry", symbol), symbol);
  size_t given = Count(parameters, ".param"), words = ParameterCount(kernel, task, entry);
  if (given != Count(parameters, ".param .u64") + Count(parameters, ".param .b64")) {
    return "'" + symbol + "' takes parameters that are no 64-bit words";
  }
  if (given == words) return {};
  return "'" + symbol + "' takes " + std::to_string(given) + " words, its launch gives " +
         std::to_string(words);
}

/// The buffers of the text are those of the metadata.
std::string CheckMslEntry(std::string_view text, const EntryMeta& entry) {
  std::string symbol(entry.symbol.view());
  std::string_view parameters = ParametersAt(text, FindEntry(text, "kernel", symbol), symbol);
  constexpr std::string_view kMark = "[[buffer(";
  std::set<uint32_t> given, stated;
  for (size_t at = parameters.find(kMark); at != std::string_view::npos;
       at = parameters.find(kMark, at + 1)) {
    uint32_t number = 0;
    for (size_t digit = at + kMark.size(); digit < parameters.size() && parameters[digit] != ')'; ++digit) {
      number = number * 10 + static_cast<uint32_t>(parameters[digit] - '0');
    }
    given.insert(number);
  }
  for (const artifact::BindingMeta& binding : entry.bindings) stated.insert(binding.number);
  for (uint32_t number : given) {
    if (!stated.contains(number)) {
      return "'" + symbol + "' takes buffer " + std::to_string(number) +
             ", which the metadata does not state";
    }
  }
  return {};
}

std::string CheckTarget(std::string_view text, const artifact::TargetMeta& target) {
  if (text.find(".target " + std::string(target.arch.view())) != std::string_view::npos) return {};
  return "the text is not for processor '" + std::string(target.arch.view()) + "'";
}

}  // namespace

std::string CheckCode(const artifact::Metadata& metadata, const artifact::Section& section,
                      std::span<const uint8_t> bytes) {
  if (section.target >= metadata.targets.size()) return {};
  const artifact::TargetMeta& target = metadata.targets[section.target];
  if (section.kind == kinds::kSpirv) {
    std::string invalid = codegen::spirv::Validate(SpirvWords(bytes), VulkanLevel(target));
    return invalid.empty() ? CompareFacts(metadata, section, bytes) : invalid;
  }
  bool is_elf =
      section.kind == kinds::kObject || section.kind == kinds::kImage || section.kind == kinds::kHsaco;
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::string wrong;
  if (is_elf) {
    diag::Result<std::string> all = codegen::Disassemble(bytes, "");
    if (!all) return all.Failure().text;
  } else if (section.kind == kinds::kPtx) {
    wrong = CheckTarget(text, target);
  }
  for (const KernelMeta& kernel : metadata.kernels) {
    for (const TaskMeta& task : kernel.tasks) {
      for (const EntryMeta& entry : task.entries) {
        if (entry.target != section.target || !wrong.empty()) continue;
        if (section.kind == kinds::kPtx) wrong = CheckPtxEntry(text, kernel, task, entry);
        if (section.kind == kinds::kMsl) wrong = CheckMslEntry(text, entry);
      }
    }
  }
  return wrong.empty() ? CompareFacts(metadata, section, bytes) : wrong;
}

}  // namespace adc::tool
