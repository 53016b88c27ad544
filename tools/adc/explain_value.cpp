#include "explain_value.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "command_line.h"
#include "compile_source.h"
#include "driver/compile.h"
#include "host/exit_code.h"
#include "host/input_kind.h"
#include "json_output.h"
#include "print.h"
#include "provision_json.h"
#include "support/nearest.h"

namespace adc::tool {

namespace {

using autodiff::ProvisionNote;
using Way = ProvisionNote::Way;

/// Longer lists of readers end in a number.
constexpr size_t kShownReaders = 4;

struct Finding {
  std::string gradient;
  ProvisionNote note;
};

/// The names in a text: in texts of the IR the words after '%'.
std::set<std::string> NamesIn(std::string_view text, bool is_ir) {
  auto is_letter = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
  };
  std::set<std::string> names;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = begin;
    while (end < text.size() && is_letter(text[end])) ++end;
    bool is_name = end > begin && (is_ir ? begin > 0 && text[begin - 1] == '%'
                                         : std::isdigit(static_cast<unsigned char>(text[begin])) == 0);
    if (is_name) names.emplace(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

/// How the same loop stores less; empty where nothing general is known.
std::string Cheaper(const ProvisionNote& note, InputKind kind) {
  if (note.way != Way::Taped || note.unit != "loop") return {};
  std::string how = kind == InputKind::Text ? "mark the loop 'checkpoint', or compile with --checkpoint=auto"
                    : kind == InputKind::Cpp
                        ? "begin the loop with adc::checkpoint(), or compile with --checkpoint=auto"
                        : "compile with --checkpoint=auto";
  return how + ": of n iterations about 2 * sqrt(n) are stored, and the loop runs forward once more";
}

class ValueExplainer {
 public:
  ValueExplainer(const std::string& name, const ValueQuestion& question, const product::Product& product)
      : name_(name),
        question_(question),
        product_(product),
        kind_(InputKindOf(name)),
        file_(*product.sources.Files().front()) {
    for (const auto& [gradient, record] : product.provisions) {
      for (ProvisionNote& note : autodiff::NotesOf(record)) all_.push_back({gradient, std::move(note)});
    }
  }

  int Run(bool json) {
    if (product_.provisions.empty()) {
      std::string kernel = question_.kernel.empty() ? "no kernel" : "no kernel '" + question_.kernel + "'";
      PrintError(kernel + " of '" + name_ + "' has a gradient",
                 "one is derived where a parameter is 'diff' (adc::diff<...> in C++; '// adc: diff' or "
                 "--diff=NAME in a "
                 "shader)");
      return kExitFailed;
    }
    if (!IsKnown()) return kExitUsage;
    Json objects = Json::array();
    std::vector<const Finding*> found = Found();
    for (const Finding* one : found) {
      if (json) objects.push_back(AsJson(*one));
    }
    if (json) {
      PrintJson(objects);
      return kExitOk;
    }
    const Finding* before = nullptr;
    for (const Finding* one : found) {
      PrintFinding(*one, before);
      before = one;
    }
    PrintUnread(found);
    return kExitOk;
  }

 private:
  Json AsJson(const Finding& finding) const {
    const diag::SourceFile* file = product_.sources.FileOf(finding.note.place);
    Json object = ProvisionJson(finding.gradient, finding.note, file == nullptr ? Json() : Json(file->name),
                                product_.sources);
    object["makes"] = finding.note.makes;
    object["readers"] = Json::array();
    for (const autodiff::ProvisionReader& reader : finding.note.readers) {
      object["readers"].push_back({{"operation", ir::InfoOf(reader.op).spelling},
                                   {"place", product_.sources.Describe(reader.place)}});
    }
    return object;
  }

  static bool HasName(const ProvisionNote& note, const std::string& name) {
    // A part of a vector or of a structure has the name of the whole in front: "v.0".
    return note.name == name || note.name.starts_with(name + ".");
  }

  bool IsOnLine(diag::SourceSpan place) const {
    return product_.sources.FileOf(place) == &file_ && product_.sources.Locate(place).line == question_.line;
  }

  /// A value that is read on a line counts as one of the line. Of a whole file only values that have a name
  /// are shown, and stored ones.
  bool IsAsked(const ProvisionNote& note) const {
    bool is_on_line =
        question_.line == 0 || IsOnLine(note.place) ||
        std::any_of(note.readers.begin(), note.readers.end(),
                    [&](const autodiff::ProvisionReader& reader) { return IsOnLine(reader.place); });
    if (!is_on_line) return false;
    if (question_.line == 0 && question_.names.empty() && note.name.empty())
      return note.way != Way::Recomputed && note.way != Way::Loaded;
    return question_.names.empty() ||
           std::any_of(question_.names.begin(), question_.names.end(),
                       [&](const std::string& name) { return HasName(note, name); });
  }

  /// In the order of the source; the provisions of gradients for one value together.
  std::vector<const Finding*> Found() const {
    std::vector<const Finding*> found;
    for (const Finding& one : all_) {
      if (IsAsked(one.note)) found.push_back(&one);
    }
    std::sort(found.begin(), found.end(), [](const Finding* left, const Finding* right) {
      return std::tie(left->note.place.begin, left->note.name, left) <
             std::tie(right->note.place.begin, right->note.name, right);
    });
    return found;
  }

  /// False after an error: the source has no such line or name.
  bool IsKnown() const {
    auto lines = static_cast<uint32_t>(std::count(file_.text.begin(), file_.text.end(), '\n')) +
                 (file_.text.ends_with('\n') ? 0 : 1);
    if (question_.line > lines) {
      PrintError("'" + name_ + "' has " + std::to_string(lines) + " lines, and no line " +
                     std::to_string(question_.line),
                 "adc explain " + name_ + " says it of all values");
      return false;
    }
    std::set<std::string> names = NamesIn(file_.text, kind_ == InputKind::Text);
    std::vector<std::string_view> known(names.begin(), names.end());
    for (const std::string& name : question_.names) {
      bool is_noted =
          std::any_of(all_.begin(), all_.end(), [&](const Finding& one) { return HasName(one.note, name); });
      if (is_noted || names.contains(name)) continue;
      std::string_view near = NearestName(name, known);
      PrintError("'" + name_ + "' names no value '" + name + "'",
                 near.empty() ? "adc explain " + name_ + " says it of all values"
                              : "did you mean '" + std::string(near) + "'?");
      return false;
    }
    return true;
  }

  void PrintFinding(const Finding& finding, const Finding* before) const {
    const ProvisionNote& note = finding.note;
    bool is_same = before != nullptr && before->note.place == note.place && before->note.name == note.name;
    if (!is_same) {
      std::string name = note.name.empty() ? "a value" : "%" + note.name;
      std::string type = note.way == Way::Contents ? "" : ": " + std::string(ir::Spelling(note.scalar));
      Print("%s%s  at %s\n", name.c_str(), type.c_str(), product_.sources.Describe(note.place).c_str());
    }
    Print("  @%s: %s\n", finding.gradient.c_str(), autodiff::Describe(note, product_.sources).c_str());
    for (size_t at = 0; at < std::min(note.readers.size(), kShownReaders); ++at) {
      const autodiff::ProvisionReader& reader = note.readers[at];
      Print("    read %s '%s' at %s\n", ir::HasRegions(reader.op) ? "to reverse" : "by the derivative of",
            std::string(ir::InfoOf(reader.op).spelling).c_str(),
            product_.sources.Describe(reader.place).c_str());
    }
    if (note.readers.size() > kShownReaders)
      Print("    and by %zu more\n", note.readers.size() - kShownReaders);
    std::string makes;
    for (const std::string& name : note.makes) makes += (makes.empty() ? "%" : ", %") + name;
    if (!makes.empty()) Print("    recomputed from it: %s\n", makes.c_str());
    std::string cheaper = Cheaper(note, kind_);
    if (!cheaper.empty()) Print("    less: %s\n", cheaper.c_str());
  }

  /// Prints the values among those asked for that no gradient reads.
  void PrintUnread(const std::vector<const Finding*>& found) const {
    for (const std::string& name : question_.names) {
      bool is_read = std::any_of(found.begin(), found.end(),
                                 [&](const Finding* one) { return HasName(one->note, name); });
      if (is_read) continue;
      std::string where = question_.line == 0 ? "" : " at line " + std::to_string(question_.line);
      Print("%%%s%s%s\n  neither stored nor computed again: no gradient reads it\n", name.c_str(),
            TypeText(name).c_str(), where.c_str());
    }
    if (!found.empty() || !question_.names.empty()) return;
    if (question_.line == 0) Print("no gradient reads a value that its kernel computes\n");
    if (question_.line != 0)
      Print("no gradient reads a value of line %u%s\n", question_.line, OtherLines().c_str());
  }

  /// "; it does of lines 4, 5"
  std::string OtherLines() const {
    std::set<uint32_t> lines;
    for (const Finding& one : all_) {
      if (product_.sources.FileOf(one.note.place) == &file_)
        lines.insert(product_.sources.Locate(one.note.place).line);
    }
    std::string text;
    for (uint32_t line : lines) text += (text.empty() ? "; it does of lines " : ", ") + std::to_string(line);
    return text;
  }

  /// ": f32", or nothing where the kernel has no such value any more.
  std::string TypeText(const std::string& name) const {
    if (product_.module == nullptr) return {};
    const ir::Module& module = *product_.module;
    std::string text;
    for (const auto& function : module.functions) {
      auto look = [&](ir::Value value) {
        if (text.empty() && module.Text((*function)[value].name) == name)
          text = ": " + ir::TypeName(module, function->TypeOf(value));
      };
      for (uint32_t number = 0; number < function->ValueCount(); ++number) look(ir::Value(number));
    }
    return text;
  }

  const std::string& name_;
  const ValueQuestion& question_;
  const product::Product& product_;
  InputKind kind_;
  const diag::SourceFile& file_;
  std::vector<Finding> all_;
};

/// "kernel.cpp:12" as a file and a line; other words as they are.
std::string WithoutLine(const std::string& word, uint32_t* line) {
  if (word.empty()) return word;
  size_t colon = std::min(word.rfind(':'), word.size() - 1);
  uint32_t number = 0;
  auto [read, failure] = std::from_chars(word.data() + colon + 1, word.data() + word.size(), number);
  bool is_line = failure == std::errc() && read == word.data() + word.size() && number != 0;
  if (!is_line || word[colon] != ':' || !IsSourceFile(word.substr(0, colon))) return word;
  *line = number;
  return word.substr(0, colon);
}

}  // namespace

void ValueQuestion::AddTo(CommandLine& options) {
  options.Text("--kernel", "NAME", "the gradient of this kernel alone", &kernel);
  options.Value(
      "--checkpoint", "N",
      "as for adc: loops without a number of their own store checkpoints, N iterations apart, or 'auto'",
      [this](std::string_view word) { return TakeCheckpoint(word, &checkpoint); });
  options.Flag("--save-overwritten", "as for adc: kernels save what their gradients read", &save_overwritten);
  source.AddTo(options);
}

std::vector<std::string> TakeValues(const std::vector<std::string>& words, ValueQuestion* question) {
  std::vector<std::string> others;
  auto end = std::find(words.begin(), words.end(), "--");
  for (auto word = words.begin(); word != end; ++word) {
    if (word->starts_with('%'))
      question->names.push_back(word->substr(1));
    else
      others.push_back(WithoutLine(*word, &question->line));
  }
  others.insert(others.end(), end, words.end());
  return others;
}

int ExplainValues(const std::vector<std::string>& files, const ValueQuestion& question, bool json) {
  if (files.size() > 1) {
    PrintError("one source file at a time, and not '" + files[1] + "' too",
               "the names of values begin with '%', in every language: %" + files[1]);
    return kExitUsage;
  }
  driver::CompileOptions options;
  // Everything up to the plans of gradients, for one target.
  options.emit = driver::Emit::Ir;
  options.targets = {"cpu"};
  options.watch.stop_after = "plan";
  options.want_provisions = true;
  options.checkpoint = question.checkpoint;
  options.save_overwritten = question.save_overwritten;
  options.derive.only = question.kernel;
  ApplySource(question.source, &options);
  product::Product product;
  if (ExitCode code = driver::CompileInputs(files, options, &product); code != kExitOk) return code;
  return ValueExplainer(files.front(), question, product).Run(json);
}

}  // namespace adc::tool
