#pragma once
// The command line of every subcommand: a table of options, from which parsing, help and "did you mean"
// follow.
//
// The spelling is that of compilers (`-O2`, `-Idir`, `-MD`, `--target=x`, `--target x`, `@file`), which
// general-purpose parsers do not read.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace adc::tool {

/// Prints "adc: error: TEXT", in colour on a terminal, with an optional "help:" line.
void PrintError(std::string_view text, std::string_view help = {});
/// At the end of the program: writes out what standard output still holds. `code`, or kExitFailed after an
/// error was printed where standard output took less than everything.
int EndOutput(int code);

class CommandLine {
 public:
  /// `usage` follows the word "usage:", `summary` is the sentence below it.
  CommandLine(std::string usage, std::string summary);

  /// Options that follow are listed under `title` in the help.
  void Section(std::string title);
  /// `-x`, `--name`: no value.
  void Flag(std::string name, std::string help, bool* target);
  void Action(std::string name, std::string help, std::function<void()> act);
  /// `--name=value`, `--name value`; for one letter `-Ivalue`, `-I value`. `take` returns an empty text, or
  /// what is wrong with the value.
  void Value(std::string name, std::string value_name, std::string help,
             std::function<std::string(std::string_view)> take);
  void Text(std::string name, std::string value_name, std::string help, std::string* target);
  void List(std::string name, std::string value_name, std::string help, std::vector<std::string>* target);
  void Number(std::string name, std::string value_name, std::string help, uint64_t* target, uint64_t highest,
              uint64_t lowest = 0);
  /// An option whose value is joined to it and whose head is `name`: `-O2`, `-Wno-E0602`.
  void Joined(std::string name, std::string value_name, std::string help,
              std::function<std::string(std::string_view)> take);
  void Positional(std::string value_name, size_t least, size_t most, std::vector<std::string>* target);
  void Example(std::string command, std::string what);
  /// Text at the end of the help.
  void Epilogue(std::string text);

  /// The exit code where the command ends here: help was printed, or what is wrong.
  std::optional<int> Parse(const std::vector<std::string>& arguments);
  std::string Help() const;

 private:
  enum class Form { Flag, Value, Joined };
  struct Option {
    std::string name, value_name, help;
    Form form = Form::Flag;
    std::function<std::string(std::string_view)> take;
    size_t section = 0;
  };
  struct ExampleText {
    std::string command, what;
  };

  void Add(std::string name, std::string value_name, std::string help, Form form,
           std::function<std::string(std::string_view)> take);
  const Option* Find(std::string_view name) const;
  /// False where what is wrong was printed.
  bool ParseOption(const std::vector<std::string>& words, size_t* at);
  void TellUnknown(std::string_view word) const;

  std::string usage_, summary_, epilogue_;
  std::vector<std::string> sections_;
  std::vector<Option> options_;
  std::vector<ExampleText> examples_;
  std::string positional_name_;
  size_t positional_least_ = 0, positional_most_ = 0;
  std::vector<std::string>* positional_ = nullptr;
};

/// The words of a text: separated by white space, with '...', "..." and backslash as a shell reads them.
/// False where a quote stays open.
bool SplitWords(std::string_view text, std::vector<std::string>* words);

/// Replaces each `@file` by the words of that file; response files may name others. False after an error was
/// printed.
bool ExpandResponseFiles(const std::vector<std::string>& arguments, std::vector<std::string>* expanded);

}  // namespace adc::tool
