// CLI11 reads the words of a command line, but not the spelling that build systems drive compilers with. It
// takes `-MD` for the flags M and D, `-O` without a value for the value that follows, the empty value of
// `--derive=` for none, and `[a,b]` for two values. So options and values are told apart here, by its own
// table of options, and handed over as words that it reads in one way.

#include "words.h"

#include <CLI/App.hpp>
#include <algorithm>
#include <optional>

#include "command_line.h"
#include "host/files.h"
#include "host/input_kind.h"
#include "support/nearest.h"

namespace adc::tool {

namespace {

/// Begins the names of options that users write with one dash and several letters.
constexpr std::string_view kOneDash = "--@";

void TellUnknown(const CLI::App& app, const std::string& name) {
  std::vector<std::string> spellings = {"--help"};
  for (const CLI::Option* option : app.get_options()) {
    if (option->nonpositional() && option != app.get_help_ptr()) spellings.push_back(SpellingOf(*option));
  }
  std::string_view near =
      NearestName(name, std::vector<std::string_view>(spellings.begin(), spellings.end()));
  PrintError("unknown option '" + name + "'",
             near.empty() ? "--help lists the options" : "did you mean '" + std::string(near) + "'?");
}

const CLI::Option* FindOption(const CLI::App& app, const std::string& name) {
  return name.starts_with(kOneDash) ? nullptr : app.get_option_no_throw(RegisteredName(name));
}

bool TakesValue(const CLI::Option& option) {
  return option.get_expected_max() > 0;
}

/// An option's name, and the value that its word holds.
struct OptionWord {
  const CLI::Option* option = nullptr;
  std::string name;
  std::optional<std::string> value = {};
};

OptionWord Take(const CLI::App& app, const std::string& word) {
  size_t equals = word.starts_with("--") ? word.find('=') : std::string::npos;
  OptionWord taken{.name = word.substr(0, equals)};
  if (equals != std::string::npos) taken.value = word.substr(equals + 1);
  taken.option = FindOption(app, taken.name);
  if (taken.option != nullptr || word.starts_with("--")) return taken;
  const CLI::Option* letter = FindOption(app, word.substr(0, 2));
  if (letter != nullptr && TakesValue(*letter)) return {letter, word.substr(0, 2), word.substr(2)};
  return taken;
}

/// A file whose name CLI11 would read as a list.
std::string Positional(const std::string& word) {
  return word.starts_with('[') && word.ends_with(']') ? "./" + word : word;
}

}  // namespace

std::string RegisteredName(std::string spelling) {
  if (spelling.size() > 2 && !spelling.starts_with("--")) spelling.replace(0, 1, kOneDash);
  return spelling;
}

std::string SpellingOf(const CLI::Option& option) {
  std::string name = option.get_name(false, true);
  return name.starts_with(kOneDash) ? "-" + name.substr(kOneDash.size()) : name;
}

bool Respell(const CLI::App& app, std::vector<std::string>* words) {
  std::vector<std::string> respelt;
  bool options_end = false;
  for (auto word = words->begin(); word != words->end(); ++word) {
    if (options_end || word->size() < 2 || word->front() != '-') {
      respelt.push_back(Positional(*word));
      continue;
    }
    if (*word == "--") {
      options_end = true;
      respelt.push_back(*word);
      continue;
    }
    OptionWord taken = Take(app, *word);
    if (taken.option == nullptr) {
      TellUnknown(app, taken.name);
      return false;
    }
    if (taken.option == app.get_help_ptr()) {
      *words = {"--help"};
      return true;
    }
    respelt.push_back(RegisteredName(taken.name));
    if (!TakesValue(*taken.option)) {
      if (!taken.value) continue;
      PrintError("option '" + taken.name + "' takes no value");
      return false;
    }
    bool joined = !taken.option->get_option_text().empty();
    if (!taken.value && !joined) {
      if (++word == words->end()) {
        PrintError("option '" + taken.name + "' expects " + taken.option->get_type_name());
        return false;
      }
      taken.value = *word;
    }
    respelt.push_back(taken.value.value_or(""));
  }
  *words = std::move(respelt);
  return true;
}

bool SplitWords(std::string_view text, std::vector<std::string>* words) {
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    char letter = text[at];
    if (letter == '\\' && quote != '\'' && at + 1 < text.size()) {
      word += text[++at];
      in_word = true;
    } else if (quote != 0) {
      if (letter == quote) {
        quote = 0;
      } else {
        word += letter;
      }
    } else if (letter == '\'' || letter == '"') {
      quote = letter;
      in_word = true;
    } else if (letter == ' ' || letter == '\t' || letter == '\n' || letter == '\r') {
      if (in_word) words->push_back(std::move(word));
      word.clear();
      in_word = false;
    } else {
      word += letter;
      in_word = true;
    }
  }
  if (in_word) words->push_back(std::move(word));
  return quote == 0;
}

namespace {

bool Expand(const std::vector<std::string>& arguments, uint32_t depth, std::vector<std::string>* expanded) {
  constexpr uint32_t kDeepest = 16;
  constexpr size_t kMostWords = size_t{1} << 20;
  constexpr uint64_t kMostText = uint64_t{64} << 20;
  for (const std::string& argument : arguments) {
    if (argument.size() < 2 || argument[0] != '@') {
      expanded->push_back(argument);
      continue;
    }
    std::string path = argument.substr(1);
    if (depth == kDeepest) {
      PrintError("response files name each other more than 16 deep, last '" + path + "'");
      return false;
    }
    FileResult<std::string> text = ReadWholeText(path, kMostText);
    if (!text) {
      PrintError(text.Failure().text);
      return false;
    }
    if (text->find('\0') != std::string::npos) {
      PrintError("the response file '" + path + "' holds NUL bytes: it is no text");
      return false;
    }
    std::vector<std::string> words;
    if (!SplitWords(*text, &words)) {
      PrintError("a quote stays open in the response file '" + path + "'");
      return false;
    }
    if (!Expand(words, depth + 1, expanded)) return false;
    if (expanded->size() > kMostWords) {
      PrintError("more than 1,048,576 arguments from response files");
      return false;
    }
  }
  return true;
}

}  // namespace

std::vector<std::string> TakeClangArguments(const std::vector<std::string>& words,
                                            std::vector<std::string>* arguments) {
  auto end = std::find(words.begin(), words.end(), "--");
  bool cpp = std::any_of(words.begin(), end,
                         [](const std::string& word) { return InputKindOf(word) == InputKind::Cpp; });
  if (!cpp || end == words.end()) return words;
  arguments->assign(end + 1, words.end());
  return {words.begin(), end};
}

bool ExpandResponseFiles(std::vector<std::string>* words) {
  std::vector<std::string> expanded;
  if (!Expand(*words, 0, &expanded)) return false;
  *words = std::move(expanded);
  return true;
}

}  // namespace adc::tool
