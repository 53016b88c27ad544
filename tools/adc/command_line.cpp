#include "command_line.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "driver/files.h"
#include "driver/options.h"
#include "driver/report.h"
#include "support/nearest.h"

namespace adc::tool {

void PrintError(std::string_view text, std::string_view help) {
  bool color = driver::ColorOnStandardError();
  std::string message = color ? "adc: \x1b[1;31merror:\x1b[0m " : "adc: error: ";
  message += text;
  message += '\n';
  if (!help.empty()) {
    message += color ? "\x1b[1;36mhelp:\x1b[0m " : "help: ";
    message += help;
    message += '\n';
  }
  driver::PrintToStandardError(message);
}

int EndOutput(int code) {
  bool failed = std::ferror(stdout) != 0;
  errno = 0;
  failed = std::fflush(stdout) != 0 || failed;
  if (!failed) return code;
  std::string reason = errno != 0 ? ": " + std::string(std::strerror(errno)) : "";
  PrintError("cannot write 'standard output'" + reason, "free space on that disk, or write elsewhere");
  return driver::kExitFailed;
}

CommandLine::CommandLine(std::string usage, std::string summary)
    : usage_(std::move(usage)), summary_(std::move(summary)) {}

void CommandLine::Section(std::string title) {
  sections_.push_back(std::move(title));
}

void CommandLine::Add(std::string name, std::string value_name, std::string help, Form form,
                      std::function<std::string(std::string_view)> take) {
  if (sections_.empty()) sections_.push_back("Options");
  options_.push_back(
      {std::move(name), std::move(value_name), std::move(help), form, std::move(take), sections_.size() - 1});
}

void CommandLine::Flag(std::string name, std::string help, bool* target) {
  Action(std::move(name), std::move(help), [target] { *target = true; });
}

void CommandLine::Action(std::string name, std::string help, std::function<void()> act) {
  Add(std::move(name), "", std::move(help), Form::Flag, [act = std::move(act)](std::string_view) {
    act();
    return std::string();
  });
}

void CommandLine::Value(std::string name, std::string value_name, std::string help,
                        std::function<std::string(std::string_view)> take) {
  Add(std::move(name), std::move(value_name), std::move(help), Form::Value, std::move(take));
}

void CommandLine::Text(std::string name, std::string value_name, std::string help, std::string* target) {
  Value(std::move(name), std::move(value_name), std::move(help), [target](std::string_view value) {
    *target = value;
    return std::string();
  });
}

void CommandLine::List(std::string name, std::string value_name, std::string help,
                       std::vector<std::string>* target) {
  Value(std::move(name), std::move(value_name), std::move(help), [target](std::string_view value) {
    target->emplace_back(value);
    return std::string();
  });
}

void CommandLine::Number(std::string name, std::string value_name, std::string help, uint64_t* target,
                         uint64_t highest, uint64_t lowest) {
  Value(std::move(name), std::move(value_name), std::move(help), [=](std::string_view value) {
    uint64_t number = 0;
    auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size() || number > highest || number < lowest) {
      return "wants a number from " + std::to_string(lowest) + " to " + std::to_string(highest);
    }
    *target = number;
    return std::string();
  });
}

void CommandLine::Joined(std::string name, std::string value_name, std::string help,
                         std::function<std::string(std::string_view)> take) {
  Add(std::move(name), std::move(value_name), std::move(help), Form::Joined, std::move(take));
}

void CommandLine::Positional(std::string value_name, size_t least, size_t most,
                             std::vector<std::string>* target) {
  positional_name_ = std::move(value_name);
  positional_least_ = least;
  positional_most_ = most;
  positional_ = target;
}

void CommandLine::Example(std::string command, std::string what) {
  examples_.push_back({std::move(command), std::move(what)});
}

void CommandLine::Epilogue(std::string text) {
  epilogue_ = std::move(text);
}

std::string CommandLine::Help() const {
  constexpr size_t kColumn = 28;
  std::string text = "usage: " + usage_ + "\n\n" + summary_ + "\n";
  for (size_t section = 0; section < sections_.size(); ++section) {
    text += "\n" + sections_[section] + ":\n";
    for (const Option& option : options_) {
      if (option.section != section) continue;
      std::string head = "  " + option.name;
      if (option.form == Form::Joined) {
        head += option.value_name;
      } else if (option.form == Form::Value) {
        head += (option.name.starts_with("--") ? "=" : " ") + option.value_name;
      }
      head.resize(std::max(head.size() + 2, kColumn), ' ');
      text += head;
      // Lines of the help stand below each other.
      for (char letter : option.help) {
        text += letter;
        if (letter == '\n') text.append(kColumn, ' ');
      }
      text += '\n';
    }
  }
  if (!examples_.empty()) text += "\nExamples:\n";
  for (const ExampleText& example : examples_)
    text += "  " + example.command + "\n      " + example.what + "\n";
  return text + epilogue_;
}

const CommandLine::Option* CommandLine::Find(std::string_view name) const {
  for (const Option& option : options_) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

void CommandLine::TellUnknown(std::string_view word) const {
  std::string_view name = word.substr(0, word.find('='));
  std::vector<std::string_view> names;
  for (const Option& option : options_) names.push_back(option.name);
  std::string_view near = NearestName(name, names);
  PrintError("unknown option '" + std::string(name) + "'",
             near.empty() ? "--help lists the options" : "did you mean '" + std::string(near) + "'?");
}

bool CommandLine::ParseOption(const std::vector<std::string>& words, size_t* at) {
  std::string_view word = words[*at];
  size_t equals = word.starts_with("--") ? word.find('=') : std::string_view::npos;
  std::string_view name = word.substr(0, equals);
  const Option* option = Find(name);
  std::string_view value;
  bool has_value = equals != std::string_view::npos;
  if (has_value) value = word.substr(equals + 1);
  if (option == nullptr && !word.starts_with("--")) {
    // -O2, -Idir: the longest option that is a head of the word and takes a value.
    for (const Option& candidate : options_) {
      bool takes =
          candidate.form == Form::Joined || (candidate.form == Form::Value && candidate.name.size() == 2);
      if (takes && word.starts_with(candidate.name) &&
          (option == nullptr || candidate.name.size() > option->name.size())) {
        option = &candidate;
      }
    }
    if (option != nullptr) {
      value = word.substr(option->name.size());
      has_value = true;
    }
  }
  if (option == nullptr) {
    TellUnknown(word);
    return false;
  }
  std::string shown(option->name);
  if (option->form == Form::Flag && has_value) {
    PrintError("option '" + shown + "' takes no value");
    return false;
  }
  if (option->form == Form::Value && !has_value) {
    if (*at + 1 >= words.size()) {
      PrintError("option '" + shown + "' wants " + option->value_name);
      return false;
    }
    value = words[++*at];
  }
  std::string wrong = option->take(value);
  if (!wrong.empty()) {
    PrintError("'" + std::string(value) + "' after " + shown + ": " + wrong);
    return false;
  }
  return true;
}

std::optional<int> CommandLine::Parse(const std::vector<std::string>& arguments) {
  std::vector<std::string> words;
  if (!ExpandResponseFiles(arguments, &words)) return driver::kExitUsage;
  bool options_end = false;
  std::vector<std::string> positional;
  for (size_t at = 0; at < words.size(); ++at) {
    const std::string& word = words[at];
    if (options_end || word.size() < 2 || word[0] != '-') {
      positional.push_back(word);
    } else if (word == "--") {
      options_end = true;
    } else if (word == "--help" || word == "-h") {
      std::string help = Help();
      std::fwrite(help.data(), 1, help.size(), stdout);
      return driver::kExitOk;
    } else if (!ParseOption(words, &at)) {
      return driver::kExitUsage;
    }
  }
  if (positional.size() < positional_least_) {
    PrintError(positional.empty() ? "no " + positional_name_ + " given"
                                  : "too few arguments: " + positional_name_ + " wanted",
               "usage: " + usage_);
    return driver::kExitUsage;
  }
  if (positional.size() > positional_most_) {
    PrintError("one argument too many: '" + positional[positional_most_] + "'", "usage: " + usage_);
    return driver::kExitUsage;
  }
  if (positional_ != nullptr) *positional_ = std::move(positional);
  return std::nullopt;
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
    diag::Result<std::string> text = driver::ReadWhole(path);
    if (!text) {
      PrintError(text.Failure().text);
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

bool ExpandResponseFiles(const std::vector<std::string>& arguments, std::vector<std::string>* expanded) {
  return Expand(arguments, 0, expanded);
}

}  // namespace adc::tool
