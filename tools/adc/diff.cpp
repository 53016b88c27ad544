// `adc diff`: the differences between two bundles, by meaning first, then by functions of the code.
// Compression does not count: the bytes of zstd differ between its versions.

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "bundle_facts.h"
#include "code_statistics.h"
#include "command_line.h"
#include "commands.h"
#include "compare_code.h"
#include "formula_names.h"
#include "host/exit_code.h"
#include "json_output.h"
#include "print.h"
#include "support/nearest.h"

namespace adc::tool {

namespace {

/// One thing that differs.
struct Difference {
  FactGroup group;
  std::string subject;
  std::string first, second;  ///< empty: the bundle does not have it
  std::string targets;        ///< code that both have: on which targets it differs
  std::string text;           ///< of such code: a unified difference
  /// Formulas that stand in `first` and `second`, in their order.
  std::vector<std::string> first_formulas = {}, second_formulas = {};
};

/// `interface,sizes`.
std::string TakeGroups(std::string_view list, std::set<FactGroup>* groups) {
  while (true) {
    size_t comma = list.find(',');
    std::string_view word = list.substr(0, comma);
    auto found = std::find(std::begin(kFactGroups), std::end(kFactGroups), word);
    if (found == std::end(kFactGroups)) {
      std::vector<std::string_view> names(std::begin(kFactGroups), std::end(kFactGroups));
      std::string_view near = NearestName(std::string(word), names);
      return near.empty() ? "takes interface, tasks, sizes, targets, code, places, producer, other, "
                            "separated by commas"
                          : "did you mean '" + std::string(near) + "'?";
    }
    groups->insert(static_cast<FactGroup>(found - std::begin(kFactGroups)));
    if (comma == std::string_view::npos) return {};
    list = list.substr(comma + 1);
  }
}

void CompareFacts(const Facts& left, const Facts& right, const std::set<FactGroup>& wanted,
                  std::vector<Difference>* differences) {
  std::set<std::string, TitleOrder> titles;
  for (const auto& [title, fact] : left) titles.insert(title);
  for (const auto& [title, fact] : right) titles.insert(title);
  bool rest = false, named = false;
  for (const std::string& title : titles) {
    auto first = left.find(title), second = right.find(title);
    const Fact none{FactGroup::Other, ""};
    const Fact& a = first == left.end() ? none : first->second;
    const Fact& b = second == right.end() ? none : second->second;
    FactGroup group = first == left.end() ? b.group : a.group;
    if (a.text == b.text) continue;
    if (title == kRestOfMetadata) {
      rest = true;
      continue;
    }
    bool apart = group == FactGroup::Places || group == FactGroup::Producer;
    named = named || !apart;
    if (wanted.count(group) != 0)
      differences->push_back({group, title, a.text, b.text, {}, {}, a.formulas, b.formulas});
  }
  // The whole says something only where no part of it does.
  if (!rest || named || wanted.count(FactGroup::Other) == 0) return;
  const std::string whole(kRestOfMetadata);
  differences->push_back({FactGroup::Other, whole, left.at(whole).text, right.at(whole).text, {}, {}});
}

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

void PrintText(const std::vector<Difference>& differences) {
  for (const Difference& one : differences) {
    if (!one.targets.empty()) {
      Print("%s: differs on %s\n%s", one.subject.c_str(), one.targets.c_str(), one.text.c_str());
      continue;
    }
    Print("%s:\n", one.subject.c_str());
    if (!one.first.empty()) Print("  - %s\n", one.first.c_str());
    if (!one.second.empty()) Print("  + %s\n", one.second.c_str());
  }
  if (!differences.empty())
    Print("%zu difference%s\n", differences.size(), differences.size() == 1 ? "" : "s");
}

Json AsJson(const std::vector<Difference>& differences) {
  Json list = Json::array();
  for (const Difference& one : differences) {
    Json entry;
    entry["group"] = kFactGroups[static_cast<size_t>(one.group)];
    entry["subject"] = one.subject;
    if (!one.targets.empty()) {
      entry["targets"] = one.targets;
    } else {
      entry["first"] = one.first.empty() ? Json() : Json(one.first);
      entry["second"] = one.second.empty() ? Json() : Json(one.second);
    }
    if (!one.text.empty()) entry["text"] = one.text;
    list.push_back(entry);
  }
  return list;
}

/// A pipe ends a cell.
std::string Cell(const std::string& text) {
  std::string cell;
  for (char c : text) cell += c == '|' ? std::string("\\|") : std::string(1, c);
  return cell.empty() ? "none" : cell;
}

/// "12", or "12 to 15 (+25 %)".
std::string Change(std::optional<uint64_t> before, std::optional<uint64_t> after) {
  if (!before && !after) return "";
  if (!before) return "none to " + Grouped(*after);
  if (!after) return Grouped(*before) + " to none";
  if (*before == *after) return Grouped(*before);
  std::string text = Grouped(*before) + " to " + Grouped(*after);
  if (*before == 0) return text;
  double percent = 100 * (static_cast<double>(*after) / static_cast<double>(*before) - 1);
  char share[32];
  std::snprintf(share, sizeof share, " (%+.1f %%)", percent);
  return text + share;
}

/// Tables for a pull request: figures before and after of every function that changed in one, then the rest.
/// A formula that several cells have is written once, below them.
class MarkdownPrinter {
 public:
  MarkdownPrinter(const std::vector<Difference>& differences, const Statistics& before,
                  const Statistics& after)
      : differences_(differences), before_(before), after_(after) {}

  void Print() {
    Collect();
    if (differences_.empty() && changed_.empty()) return tool::Print("No difference.\n");
    for (const auto& [title, figures] : changed_) {
      for (const RowStack& stack : figures.first.row) names_.Count(stack.formula);
      for (const RowStack& stack : figures.second.row) names_.Count(stack.formula);
    }
    for (const Difference& one : differences_) {
      for (const std::string& formula : one.first_formulas) names_.Count(formula);
      for (const std::string& formula : one.second_formulas) names_.Count(formula);
    }
    PrintFunctions();
    PrintRest();
    PrintNamed();
  }

 private:
  /// The figures of functions that are not the same before and after.
  void Collect() {
    for (const auto& [title, figures] : before_) changed_[title].first = figures;
    for (const auto& [title, figures] : after_) changed_[title].second = figures;
    std::erase_if(changed_, [](const auto& entry) { return entry.second.first == entry.second.second; });
  }

  /// "2 f32 x e1, i1 bits x n"
  std::string RowCell(const CodeFigures& figures) {
    std::string text;
    for (size_t at = 0; at < figures.row.size();) {
      size_t next = at + 1;
      while (next < figures.row.size() && figures.row[next] == figures.row[at]) ++next;
      text += (text.empty() ? "" : ", ") + (next > at + 1 ? std::to_string(next - at) + " " : "") +
              figures.row[at].element + " x " + names_.Text(figures.row[at].formula);
      at = next;
    }
    return Cell(text);
  }

  void PrintFunctions() {
    if (changed_.empty()) return;
    tool::Print(
        "| function | row of the heap | stacks | instructions | registers | bytes of code |\n"
        "|---|---|---|---|---|---|\n");
    for (const auto& [title, figures] : changed_) {
      const auto& [a, b] = figures;
      std::string row = a.row == b.row ? RowCell(a) : RowCell(a) + " to " + RowCell(b);
      tool::Print("| %s | %s | %s | %s | %s | %s |\n", Cell(title).c_str(), row.c_str(),
                  Change(a.stacks, b.stacks).c_str(), Change(a.instructions, b.instructions).c_str(),
                  Change(a.registers, b.registers).c_str(), Change(a.bytes, b.bytes).c_str());
    }
    tool::Print("\n");
  }

  void PrintRest() {
    if (differences_.empty()) return;
    tool::Print("| what | before | after |\n|---|---|---|\n");
    for (const Difference& one : differences_) {
      bool code = !one.targets.empty();
      std::string first = code ? "code" : Cell(names_.Named(one.first, one.first_formulas));
      std::string second =
          code ? Cell("other code on " + one.targets) : Cell(names_.Named(one.second, one.second_formulas));
      tool::Print("| %s | %s | %s |\n", Cell(one.subject).c_str(), first.c_str(), second.c_str());
    }
  }

  void PrintNamed() {
    if (names_.named().empty()) return;
    tool::Print("\n| name | formula |\n|---|---|\n");
    size_t number = 0;
    for (const std::string& formula : names_.named())
      tool::Print("| e%zu | %s |\n", ++number, Cell(formula).c_str());
  }

  const std::vector<Difference>& differences_;
  const Statistics& before_;
  const Statistics& after_;
  std::map<std::string, std::pair<CodeFigures, CodeFigures>> changed_;
  FormulaNames names_;
};

}  // namespace

int Diff(const std::vector<std::string>& words, Session&) {
  std::vector<std::string> files;
  std::set<FactGroup> only, ignored;
  bool text = false, json = false, markdown = false;
  CommandLine line(
      "adc diff [options] first.adcb second.adcb",
      "Says what differs between two bundles: interface, tasks, sizes, targets, and the functions whose\n"
      "code differs. Places in the source are compared where --only asks for them. Exit code 7 if the\n"
      "bundles differ, 0 if not.");
  line.Flag("--text", "show how code differs, disassembled", &text);
  line.Flag("--json", "print a list of differences: group, subject, first, second", &json);
  line.Flag("--markdown",
            "print tables for a pull request: heap, stacks, instructions, registers, bytes before and after",
            &markdown);
  line.Value("--only", "GROUPS",
             "compare these alone, separated by commas: interface, tasks, sizes, targets, code, places, "
             "producer, other",
             [&](std::string_view list) { return TakeGroups(list, &only); });
  line.Value("--ignore", "GROUPS", "leave these out",
             [&](std::string_view list) { return TakeGroups(list, &ignored); });
  line.Example("adc diff golden.adcb relax.adcb", "nothing and exit code 0 where they hold the same");
  line.Example("adc diff --only=interface,sizes --ignore=producer golden.adcb relax.adcb",
               "what callers have to know of");
  line.Example("adc diff --text golden.adcb relax.adcb", "which instructions changed");
  line.Positional("bundle", 2, 2, &files);
  if (std::optional<int> code = line.Parse(words)) return *code;
  if (json && markdown) {
    PrintError("--json and --markdown", "give one of them");
    return kExitUsage;
  }
  std::set<FactGroup> wanted = only;
  for (size_t group = 0; only.empty() && group < std::size(kFactGroups); ++group) {
    if (static_cast<FactGroup>(group) != FactGroup::Places) wanted.insert(static_cast<FactGroup>(group));
  }
  for (FactGroup group : ignored) wanted.erase(group);

  BundleFile first, second;
  Facts left, right;
  if (int code = ReadBundleFile(files[0], &first); code != kExitOk) return code;
  if (int code = ReadBundleFile(files[1], &second); code != kExitOk) return code;
  if (int code = FactsOf(first, &left); code != kExitOk) return code;
  if (int code = FactsOf(second, &right); code != kExitOk) return code;
  std::vector<Difference> differences;
  CompareFacts(left, right, wanted, &differences);
  if (wanted.count(FactGroup::Code) != 0) {
    std::vector<CodeDifference> code;
    if (int result = CompareCode(first, second, text, &code); result != kExitOk) return result;
    for (CodeDifference& one : code) {
      differences.push_back({FactGroup::Code, std::move(one.subject), std::move(one.first),
                             std::move(one.second), Joined(one.targets), std::move(one.text)});
    }
  }
  if (json) {
    PrintJson(AsJson(differences));
  } else if (markdown) {
    Statistics before, after;
    if (int code = StatisticsOf(first, &before); code != kExitOk) return code;
    if (int code = StatisticsOf(second, &after); code != kExitOk) return code;
    MarkdownPrinter(differences, before, after).Print();
  } else {
    PrintText(differences);
  }
  return differences.empty() ? kExitOk : kExitDiffers;
}

}  // namespace adc::tool
