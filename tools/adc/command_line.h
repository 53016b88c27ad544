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
#include <utility>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace adc::tool {

/// Prints "adc: error: TEXT", in colour on a terminal, with an optional "help:" line.
void PrintError(std::string_view text, std::string_view help = {});

/// While it lives, `take` has what PrintError would print: text and help. The innermost one counts.
class ErrorSink {
 public:
  using Take = std::function<void(std::string_view text, std::string_view help)>;
  explicit ErrorSink(Take take);
  ~ErrorSink();
  ErrorSink(const ErrorSink&) = delete;
  ErrorSink& operator=(const ErrorSink&) = delete;

 private:
  friend void PrintError(std::string_view text, std::string_view help);
  Take take_;
  ErrorSink* outer_;
};

/// At the end of the program: writes out what standard output still holds. `code`, or kExitFailed after an
/// error was printed where standard output took less than everything.
int EndOutput(int code);

/// A last word by which Parse prints the manual page of the command.
inline constexpr std::string_view kManualPage = "--manual-page";

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
  /// the error of the value.
  void Value(std::string name, std::string value_name, std::string help,
             std::function<std::string(std::string_view)> take);
  /// These two refuse an empty value, which is most often that of an unset variable of a shell: an empty name
  /// of a file would stand for another one.
  void Text(std::string name, std::string value_name, std::string help, std::string* target);
  void List(std::string name, std::string value_name, std::string help, std::vector<std::string>* target);
  /// `-D NAME=VALUE`, into `target`.
  void Defines(std::string help, std::vector<std::string>* target);
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
  /// A flag that says how a source is compiled: its help begins with "for an .ir file: ", and WantsSource
  /// holds for it.
  void SourceFlag(std::string name, std::string help, bool* target);
  /// Parse refuses the option `name`, which was added before, where a positional argument is no .ir file.
  /// `help` says what to do instead.
  void WantsSource(std::string name, std::string help);
  void Positional(std::string value_name, size_t least, size_t most, std::vector<std::string>* target);
  /// Words after `--` go to `target`, where a positional argument is a C++ file.
  void BehindDashes(std::vector<std::string>* target) { behind_dashes_ = target; }
  void Example(std::string command, std::string what);
  /// Text at the end of the help.
  void Epilogue(std::string text);
  /// Lists another command in the help, below the title of its section.
  void Command(std::string name, std::string help);

  /// The exit code where the command ends here: help was printed, or an error. A last word
  /// "--complete=BEGIN", which the script of `adc --completion` asks with, has options that begin so printed.
  std::optional<int> Parse(std::vector<std::string> words);
  /// How often the option `name` was given, after Parse.
  size_t TimesGiven(std::string_view name) const;
  /// The options that were given, one a line, with their values, however they were spelled; without those of
  /// `left_out`, positional words and words after `--`.
  std::string Given(const std::vector<std::string_view>& left_out) const;

 private:
  void PrintCompletions(std::string_view begin) const;
  /// False after an error was printed: an option that wants a source was given with something else.
  bool CheckSources() const;

  std::unique_ptr<CLI::App> app_;
  std::map<std::string, std::vector<std::string>> choices_;
  std::vector<std::pair<std::string, std::string>> given_;  ///< names and values, in order
  std::string section_, positional_name_;
  const std::vector<std::string>* positional_ = nullptr;
  std::vector<std::string>* behind_dashes_ = nullptr;
  std::vector<std::pair<std::string, std::string>> want_source_;  ///< options, and the remedy of each
};

}  // namespace adc::tool
