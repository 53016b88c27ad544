#include "compare_code.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "bundle_facts.h"
#include "code_text.h"
#include "host/exit_code.h"
#include "line_difference.h"

namespace adc::tool {

namespace {

namespace kinds = artifact::section;

/// The sections with code of a bundle, by title.
std::map<std::string, uint32_t> CodeSections(const BundleFile& file) {
  std::map<std::string, uint32_t> sections;
  for (uint32_t number = 0; number < file.index.sections.size(); ++number) {
    const artifact::Section& section = file.index.sections[number];
    if (section.target != artifact::kNoTarget) sections[SectionTitle(file, section)] = number;
  }
  return sections;
}

/// A function in the code of one section.
struct Function {
  std::string symbol, text;
};

/// By the title of the task.
using Functions = std::map<std::string, Function, TitleOrder>;

/// Empty where the code cannot be read as text.
Functions FunctionsOf(const BundleFile& file, uint32_t number, std::span<const uint8_t> bytes) {
  const artifact::Section& section = file.index.sections[number];
  Functions functions;
  CodeReader reader(section.kind, bytes, file.metadata.targets[section.target], CodeReader::Form::Comparable);
  for (const artifact::KernelMeta& kernel : file.metadata.kernels) {
    for (size_t task = 0; task < kernel.tasks.size(); ++task) {
      for (const artifact::EntryMeta& entry : kernel.tasks[task].entries) {
        if (entry.target != section.target) continue;
        diag::Result<std::string> text = reader.Function(entry.symbol.view());
        if (!text) return {};
        functions[TaskTitle(kernel, task)] = {std::string(entry.symbol.view()), *std::move(text)};
      }
    }
  }
  return functions;
}

class Comparison {
 public:
  Comparison(const BundleFile& first, const BundleFile& second, bool with_text)
      : first_(first), second_(second), with_text_(with_text) {}

  int Run(std::vector<CodeDifference>* differences) {
    std::map<std::string, uint32_t> left = CodeSections(first_), right = CodeSections(second_);
    for (const auto& [title, number] : left) {
      auto other = right.find(title);
      if (other == right.end()) {
        wholes_.push_back({"section " + title, {}, Summary(first_, number), {}, {}});
      } else if (int code = Compare(number, other->second); code != kExitOk) {
        return code;
      }
    }
    for (const auto& [title, number] : right) {
      if (left.count(title) == 0)
        wholes_.push_back({"section " + title, {}, {}, Summary(second_, number), {}});
    }
    data_.subject = "constants and tables beside the code";
    if (!data_.targets.empty()) wholes_.insert(wholes_.begin(), data_);
    for (auto& [title, difference] : by_task_) differences->push_back(std::move(difference));
    differences->insert(differences->end(), wholes_.begin(), wholes_.end());
    for (CodeDifference& difference : *differences)
      std::sort(difference.targets.begin(), difference.targets.end());
    return kExitOk;
  }

 private:
  static std::string Summary(const BundleFile& file, uint32_t number) {
    return Grouped(file.index.sections[number].raw_size) + " bytes";
  }

  int Compare(uint32_t number, uint32_t other) {
    const artifact::Section& section = first_.index.sections[number];
    std::vector<uint8_t> left, right;
    if (int code = ReadSectionBytes(first_, number, &left); code != kExitOk) return code;
    if (int code = ReadSectionBytes(second_, other, &right); code != kExitOk) return code;
    if (left == right) return kExitOk;
    // The image is the object's code once more, which was compared: its section comes first.
    std::string target(first_.metadata.targets[section.target].name.view());
    if (section.kind == kinds::kImage && differ_.count(target) != 0) return kExitOk;
    if (CompareFunctions(target, FunctionsOf(first_, number, left), FunctionsOf(second_, other, right)))
      return kExitOk;
    differ_.insert(target);
    data_.targets.push_back(target);
    return kExitOk;
  }

  /// Whether a function of one of the tasks differs, or is in one of the sections alone.
  bool CompareFunctions(const std::string& target, const Functions& left, const Functions& right) {
    bool found =
        std::any_of(right.begin(), right.end(), [&](const auto& one) { return left.count(one.first) == 0; });
    for (const auto& [title, function] : left) {
      auto other = right.find(title);
      if (other == right.end()) found = true;
      if (other == right.end() || other->second.text == function.text) continue;
      found = true;
      CodeDifference& difference = by_task_[title];
      difference.subject = title;
      difference.targets.push_back(target);
      if (!with_text_) continue;
      difference.text += "--- " + target + ": " + function.symbol + "\n+++ " + target + ": " +
                         other->second.symbol + "\n" + UnifiedDifference(function.text, other->second.text);
    }
    if (found) differ_.insert(target);
    return found;
  }

  const BundleFile &first_, &second_;
  bool with_text_;
  std::map<std::string, CodeDifference, TitleOrder> by_task_;
  std::vector<CodeDifference> wholes_;  ///< of no function
  CodeDifference data_;
  std::set<std::string> differ_;  ///< targets
};

}  // namespace

int CompareCode(const BundleFile& first, const BundleFile& second, bool with_text,
                std::vector<CodeDifference>* differences) {
  return Comparison(first, second, with_text).Run(differences);
}

}  // namespace adc::tool
