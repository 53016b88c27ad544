// `adc explain`: what a message means, and what to do about it.

#include <cctype>
#include <nlohmann/json.hpp>
#include <string>

#include "command_line.h"
#include "commands.h"
#include "diag/errors.h"
#include "json_output.h"
#include "print.h"
#include "support/exit_code.h"
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
          {"explanation", std::string(info.explanation)}};
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

/// That no message has the id `word`, with the nearest one. An exit code.
int TellUnknown(const std::string& word) {
  std::vector<std::string_view> known;
  for (uint32_t number = 0; number < diag::ErrorCount(); ++number) known.push_back(diag::InfoAt(number).id);
  std::string_view near = NearestName(Spelled(word), known);
  PrintError("no message has the id '" + word + "'",
             near.empty() ? "adc explain --list prints all ids"
                          : "did you mean " + std::string(near) + "? adc explain --list prints all ids");
  return kExitUsage;
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
  bool list = false, json = false;
  CommandLine line("adc explain [options] ID...",
                   "Says what a message means and what to do about it. ID is what stands in brackets at the\n"
                   "end of the message. docs/errors.md has all of them.");
  line.Flag("--list", "print every id with its title", &list);
  line.Flag("--json", "print a list of objects: id, title, explanation", &json);
  line.Example("adc explain E0401", "the title, and the explanation");
  line.Positional("id", 0, 1000, &ids);
  if (std::optional<int> code = line.Parse(words)) return *code;
  if (list) {
    PrintAll(json);
    return kExitOk;
  }
  if (ids.empty()) {
    PrintError("no id of a message", "adc explain E0401; adc explain --list prints all ids");
    return kExitUsage;
  }
  Json objects = Json::array();
  for (const std::string& word : ids) {
    const diag::ErrorInfo* info = Find(Spelled(word));
    if (info == nullptr) return TellUnknown(word);
    objects.push_back(AsJson(*info));
    if (json) continue;
    if (&word != &ids.front()) Print("\n");
    Print("%s: %s\n\n", std::string(info->id).c_str(), std::string(info->title).c_str());
    PrintWrapped(info->explanation);
  }
  if (json) PrintJson(objects);
  return kExitOk;
}

}  // namespace adc::tool
