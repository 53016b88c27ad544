// `adc explain`: the meaning of a message, and its remedy.

#include <cctype>
#include <nlohmann/json.hpp>
#include <string>

#include "command_line.h"
#include "commands.h"
#include "compile_source.h"
#include "diag/errors.h"
#include "diag/examples.h"
#include "errors_page.h"
#include "explain_value.h"
#include "host/exit_code.h"
#include "host/input_kind.h"
#include "json_output.h"
#include "print.h"
#include "support/nearest.h"

namespace adc::tool {

namespace {

/// "[e0401]" as "E0401". Words that begin like no option and no name reach commands with "./" in front.
std::string Spelled(std::string_view word) {
  std::string id;
  if (word.starts_with("./")) word.remove_prefix(2);
  for (char c : word) {
    if (c != '[' && c != ']') id += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return id;
}

const diag::ErrorInfo* Find(std::string_view id) {
  for (uint32_t number = 0; number < diag::ErrorCount(); ++number) {
    if (diag::InfoAt(number).id == id) return &diag::InfoAt(number);
  }
  return nullptr;
}

Json AsJson(const diag::ErrorInfo& info) {
  return {{"id", std::string(info.id)},
          {"title", std::string(info.title)},
          {"explanation", std::string(info.explanation)},
          {"example", std::string(diag::ExampleOf(info.id).text)}};
}

/// Every id with its title.
void PrintAll(bool json) {
  Json all = Json::array();
  for (uint32_t number = 0; number < diag::ErrorCount(); ++number) {
    const diag::ErrorInfo& info = diag::InfoAt(number);
    if (json) {
      all.push_back(AsJson(info));
    } else {
      Print("%s  %s\n", std::string(info.id).c_str(), std::string(info.title).c_str());
    }
  }
  if (json) PrintJson(all);
}

/// "; 'overwritten' is in the titles of E0401, E0442", or nothing.
std::string InTitles(std::string_view word) {
  std::string ids;
  for (uint32_t number = 0; number < diag::ErrorCount() && !word.empty(); ++number) {
    const diag::ErrorInfo& info = diag::InfoAt(number);
    if (info.title.find(word) != std::string_view::npos)
      ids += (ids.empty() ? "" : ", ") + std::string(info.id);
  }
  return ids.empty() ? "" : "; '" + std::string(word) + "' is in the title of " + ids;
}

/// That no message has the id `word`, with the nearest one. An exit code.
int TellUnknown(const std::string& word) {
  std::vector<std::string_view> known;
  for (uint32_t number = 0; number < diag::ErrorCount(); ++number) known.push_back(diag::InfoAt(number).id);
  std::string_view near = NearestName(Spelled(word), known);
  std::string help = near.empty() ? "" : "did you mean " + std::string(near) + "? ";
  PrintError("no message has the id '" + word + "'",
             help + "adc explain --list prints all ids" + InTitles(word));
  return kExitUsage;
}

/// The input that gives the message, the right form of it, and the output of adc.
void PrintExample(const diag::ErrorInfo& info) {
  std::string_view text = diag::ExampleOf(info.id).text;
  if (!text.empty()) Print("\n%s", std::string(text).c_str());
}

/// In lines of at most 100 characters.
void PrintWrapped(std::string_view text) {
  constexpr size_t kWidth = 100;
  while (!text.empty()) {
    size_t end = text.size();
    if (end > kWidth) {
      end = text.rfind(' ', kWidth);
      if (end == std::string_view::npos) end = std::min(text.find(' '), text.size());
    }
    Print("%s\n", std::string(text.substr(0, end)).c_str());
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace

int Explain(const std::vector<std::string>& words, Session&) {
  std::vector<std::string> ids;
  bool list = false, json = false, page = false;
  ValueQuestion question;
  CommandLine line(
      "adc explain [options] ID...|kernel.ir[:LINE] [%VALUE...]",
      "Says what a message means and what to do about it, and shows a short input that gives it. ID is\n"
      "what stands in brackets at the end of the message. docs/errors.md has all of them.\n"
      "Of a source file it says what gradients do about values, by name, on a line, or about all: whether\n"
      "they store them, in how many bytes, compute them again, or do not read them, and what reads them.");
  line.Flag("--list", "print every id with its title", &list);
  line.Flag("--json", "print a list of objects: id, title, explanation, example", &json);
  line.Flag("--page", "print a page for a browser about all messages; lib/adc/errors.html is this page",
            &page);
  line.Section("For a source file:");
  question.AddTo(line);
  line.Example("adc explain E0401", "the title, the explanation and an example");
  line.Example("adc explain relax.ir %a", "why the gradient stores %a, and what reads it");
  line.Example("adc explain relax.cpp:11", "what gradients do about the values of line 11");
  line.Positional("id", 0, 1000, &ids);
  if (std::optional<int> code = line.Parse(TakeValues(words, &question))) return *code;
  if (page) {
    PrintRaw(ErrorsPage());
    return kExitOk;
  }
  if (list) {
    PrintAll(json);
    return kExitOk;
  }
  if (ids.empty()) {
    PrintError("no id of a message, and no source file",
               "adc explain E0401; adc explain relax.ir %a; adc explain --list prints all ids");
    return kExitUsage;
  }
  if (IsSourceFile(ids.front())) return ExplainValues(ids, question, json);
  Json objects = Json::array();
  for (const std::string& word : ids) {
    const diag::ErrorInfo* info = Find(Spelled(word));
    if (info == nullptr) return TellUnknown(word);
    objects.push_back(AsJson(*info));
    if (json) continue;
    if (&word != &ids.front()) Print("\n");
    Print("%s: %s\n\n", std::string(info->id).c_str(), std::string(info->title).c_str());
    PrintWrapped(info->explanation);
    PrintExample(*info);
  }
  if (json) PrintJson(objects);
  return kExitOk;
}

}  // namespace adc::tool
