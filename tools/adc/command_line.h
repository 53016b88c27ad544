#pragma once
// The command line of every subcommand: a table of options, from which parsing, help, completion and "did you
// mean" follow. CLI11 holds the table and parses; words.h brings the spelling of compilers (`-O2`, `-Idir`,
// `-MD`, `--target=x`, `@file`) into its own.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

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
  ~CommandLine();

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
  template <class Integer>
  void Number(std::string name, std::string value_name, std::string help, Integer* target, uint64_t highest,
              uint64_t lowest = 0) {
    AnyNumber(std::move(name), std::move(value_name), std::move(help), lowest, highest,
              [target](uint64_t number) { *target = static_cast<Integer>(number); });
  }
  void AnyNumber(std::string name, std::string value_name, std::string help, uint64_t lowest,
                 uint64_t highest, std::function<void(uint64_t)> take);
  /// One of `words`: `take` has its position.
  void OneOf(std::string name, std::string value_name, std::string help, std::vector<std::string> words,
             std::function<void(size_t)> take);
  /// An option of one letter whose value is joined to it: `-O2`, `-Wno-E0602`. The help shows `value_text`.
  void Joined(std::string name, std::string value_text, std::string help,
              std::function<std::string(std::string_view)> take);
  void Positional(std::string value_name, size_t least, size_t most, std::vector<std::string>* target);
  void Example(std::string command, std::string what);
  /// Text at the end of the help.
  void Epilogue(std::string text);
  /// Lists another command in the help, below the title of its section.
  void Command(std::string name, std::string help);

  /// The exit code where the command ends here: help was printed, or what is wrong. A last word
  /// "--complete=BEGIN", which the script of `adc --completion` asks with, has options that begin so printed.
  std::optional<int> Parse(std::vector<std::string> words);

 private:
  void PrintCompletions(std::string_view begin) const;

  std::unique_ptr<CLI::App> app_;
  std::map<std::string, std::vector<std::string>> choices_;
  std::string section_, positional_name_;
};

}  // namespace adc::tool
