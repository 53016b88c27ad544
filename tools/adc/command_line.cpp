#include "command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cassert>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "host/exit_code.h"
#include "host/files.h"
#include "host/input_kind.h"
#include "host/terminal.h"
#include "manual_page.h"
#include "print.h"
#include "support/nearest.h"
#include "words.h"

namespace adc::tool {

namespace {
thread_local ErrorSink* innermost_sink = nullptr;
}  // namespace

ErrorSink::ErrorSink(Take take) : take_(std::move(take)), outer_(innermost_sink) {
  innermost_sink = this;
}

ErrorSink::~ErrorSink() {
  innermost_sink = outer_;
}

void PrintError(std::string_view text, std::string_view help) {
  if (innermost_sink != nullptr) return innermost_sink->take_(text, help);
  bool color = ColorOnStandardError();
  std::string message = color ? "adc: \x1b[1;31merror:\x1b[0m " : "adc: error: ";
  message += PrintableLines(text);
  message += '\n';
  if (!help.empty()) {
    message += color ? "\x1b[1;36mhelp:\x1b[0m " : "help: ";
    message += PrintableLines(help);
    message += '\n';
  }
  PrintToStandardError(message);
}

int EndOutput(int code) {
  bool failed = std::ferror(stdout) != 0;
  errno = 0;
  failed = std::fflush(stdout) != 0 || failed;
  if (!failed) return code;
  std::string reason = errno != 0 ? ": " + std::string(std::strerror(errno)) : "";
  PrintError("cannot write 'standard output'" + reason, "free space on that disk, or write elsewhere");
  return kExitFailed;
}

namespace {

constexpr char kOptions[] = "Options", kOther[] = "Other";

/// The help of CLI11 with options spelt as users write them.
class HelpText : public CLI::Formatter {
 public:
  HelpText() { column_width(28); }

  std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode mode) const override {
    return "usage: " + app->get_name() + "\n\n" + make_description(app) + "\n" + make_groups(app, mode) +
           make_subcommands(app, mode) + app->get_footer();
  }
  std::string make_group(std::string group, bool is_positional,
                         std::vector<const CLI::Option*> options) const override {
    return Formatter::make_group(std::move(group), is_positional, std::move(options)).substr(1);
  }
  std::string make_option_name(const CLI::Option* option, bool) const override { return SpellingOf(*option); }
  std::string make_option_opts(const CLI::Option* option) const override {
    std::string joined = option->get_option_text(), value = option->get_type_name();
    if (!joined.empty() || value.empty()) return joined;
    return (SpellingOf(*option).starts_with("--") ? "=" : " ") + value;
  }
};

}  // namespace

CommandLine::CommandLine(std::string usage, std::string summary)
    : app_(std::make_unique<CLI::App>(std::move(summary), std::move(usage))), section_(kOptions) {
  app_->formatter(std::make_shared<HelpText>());
  app_->allow_windows_style_options(false);  // a word that begins with a slash is a path there, too
  app_->set_help_flag();
}

CommandLine::~CommandLine() = default;

void CommandLine::Section(std::string title) {
  section_ = std::move(title);
}

void CommandLine::Action(std::string name, std::string help, std::function<void()> act) {
  auto note = [this, name, act = std::move(act)] {
    given_.emplace_back(name, "");
    act();
  };
  app_->add_flag_callback(RegisteredName(std::move(name)), std::move(note), std::move(help))
      ->trigger_on_parse()
      ->group(section_);
}

void CommandLine::Flag(std::string name, std::string help, bool* target) {
  Action(std::move(name), std::move(help), [target] { *target = true; });
}

void CommandLine::Value(std::string name, std::string value_name, std::string help,
                        std::function<std::string(std::string_view)> take) {
  // The value "{}" stands for an empty list to CLI11, which appends a mark to it: the first result counts.
  std::string registered = RegisteredName(name);
  CLI::callback_t took = [this, name = std::move(name),
                          take = std::move(take)](const CLI::results_t& results) {
    given_.emplace_back(name, results.front());
    std::string wrong = take(results.front());
    if (!wrong.empty()) throw CLI::ValidationError("'" + results.front() + "' after " + name + ": " + wrong);
    return true;
  };
  app_->add_option(std::move(registered), std::move(took), std::move(help))
      ->type_name(std::move(value_name))
      ->trigger_on_parse()
      ->group(section_);
}

void CommandLine::Text(std::string name, std::string value_name, std::string help, std::string* target) {
  std::string wants = "expects " + value_name;
  Value(std::move(name), std::move(value_name), std::move(help),
        [target, wants = std::move(wants)](std::string_view value) {
          *target = value;
          return value.empty() ? wants : std::string();
        });
}

void CommandLine::List(std::string name, std::string value_name, std::string help,
                       std::vector<std::string>* target) {
  std::string wants = "expects " + value_name;
  Value(std::move(name), std::move(value_name), std::move(help),
        [target, wants = std::move(wants)](std::string_view value) {
          target->emplace_back(value);
          return value.empty() ? wants : std::string();
        });
}

void CommandLine::Defines(std::string help, std::vector<std::string>* target) {
  Value("-D", "NAME=VALUE", std::move(help), [target](std::string_view value) -> std::string {
    if (value.empty() || value.starts_with('=') || value.ends_with('='))
      return "wants NAME=VALUE, as n=25 or real=f64";
    target->emplace_back(value);
    return {};
  });
}

void CommandLine::AnyNumber(std::string name, std::string value_name, std::string help, uint64_t lowest,
                            uint64_t highest, std::function<void(uint64_t)> take) {
  // CLI11's own conversion takes "010" for 8.
  auto read = [lowest, highest, take = std::move(take)](std::string_view value) {
    uint64_t number = 0;
    auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size() || number > highest || number < lowest) {
      return "expects a number from " + std::to_string(lowest) + " to " + std::to_string(highest);
    }
    take(number);
    return std::string();
  };
  Value(std::move(name), std::move(value_name), std::move(help), std::move(read));
}

void CommandLine::OneOf(std::string name, std::string value_name, std::string help,
                        std::vector<std::string> words, std::function<void(size_t)> take) {
  choices_[name] = words;
  Value(std::move(name), std::move(value_name), std::move(help),
        [words = std::move(words), take = std::move(take)](std::string_view value) -> std::string {
          auto found = std::find(words.begin(), words.end(), value);
          if (found != words.end()) {
            take(static_cast<size_t>(found - words.begin()));
            return {};
          }
          std::string_view near =
              NearestName(value, std::vector<std::string_view>(words.begin(), words.end()));
          std::string known = CLI::detail::join(words, ", ");
          return near.empty() ? "is not one of " + known
                              : "did you mean '" + std::string(near) + "'? (" + known + ")";
        });
}

void CommandLine::Joined(std::string name, std::string value_text, std::string help,
                         std::function<std::string(std::string_view)> take) {
  assert(name.size() == 2);
  Value(name, value_text, std::move(help), std::move(take));
  app_->get_option(std::move(name))->option_text(std::move(value_text));
}

void CommandLine::SourceFlag(std::string name, std::string help, bool* target) {
  Flag(name, "for an .ir file: " + std::move(help), target);
  std::string instead = "a bundle has it where it was compiled with it: adc " + name + " kernel.ir";
  WantsSource(std::move(name), std::move(instead));
}

void CommandLine::WantsSource(std::string name, std::string help) {
  want_source_.emplace_back(std::move(name), std::move(help));
}

bool CommandLine::CheckSources() const {
  for (const auto& [name, instead] : want_source_) {
    if (app_->get_option(RegisteredName(name))->count() == 0 || positional_ == nullptr) continue;
    for (const std::string& file : *positional_) {
      if (IsSourceFile(file)) continue;
      PrintError(name + " requires the source of the kernel, an .ir file, and not '" + file + "'", instead);
      return false;
    }
  }
  return true;
}

void CommandLine::Positional(std::string value_name, size_t least, size_t most,
                             std::vector<std::string>* target) {
  bool any_number = most > std::max<size_t>(least, 1);
  CLI::callback_t took = [target](const CLI::results_t& results) {
    *target = results;
    return true;
  };
  app_->add_option(value_name, took)
      ->required(least > 0)
      ->expected(static_cast<int>(any_number ? least : most), any_number ? -1 : static_cast<int>(most))
      ->allow_extra_args(any_number)
      ->group(section_);
  positional_name_ = std::move(value_name);
  positional_ = target;
}

void CommandLine::Example(std::string command, std::string what) {
  std::string head = app_->get_footer().empty() ? "\nExamples:\n" : app_->get_footer();
  app_->footer(head + "  " + std::move(command) + "\n      " + std::move(what) + "\n");
}

void CommandLine::Epilogue(std::string text) {
  app_->footer(app_->get_footer() + std::move(text));
}

void CommandLine::Command(std::string name, std::string help) {
  // Listed alone: a command of its own runs, with its own options.
  app_->add_subcommand(std::move(name), std::move(help))->group(section_)->disabled();
}

void CommandLine::PrintCompletions(std::string_view begin) const {
  std::vector<std::string> all = {"--help"};
  for (const CLI::Option* option : app_->get_options()) {
    if (option->get_positional() || option == app_->get_help_ptr()) continue;
    std::string name = SpellingOf(*option);
    bool equals = name.starts_with("--") && option->get_expected_max() > 0;
    all.push_back(name + (equals ? "=" : ""));
    auto choices = choices_.find(name);
    if (choices == choices_.end()) continue;
    for (const std::string& word : choices->second) all.push_back(name + "=" + word);
  }
  for (const CLI::App* command : app_->get_subcommands({})) all.push_back(command->get_name());
  for (const std::string& one : all) {
    // The values of an option follow where it is written out.
    bool value = one.find('=') + 1 < one.size() && one.find('=') != std::string::npos;
    bool wanted = one.starts_with(begin) && (!value || begin.find('=') != std::string_view::npos);
    if (wanted && one != begin) Print("%s\n", one.c_str());
  }
}

size_t CommandLine::TimesGiven(std::string_view name) const {
  return static_cast<size_t>(
      std::count_if(given_.begin(), given_.end(), [&](const auto& one) { return one.first == name; }));
}

std::string CommandLine::Given(const std::vector<std::string_view>& left_out) const {
  std::string text;
  for (const auto& [name, value] : given_) {
    if (std::find(left_out.begin(), left_out.end(), name) == left_out.end())
      text += name + "=" + value + "\n";
  }
  return text;
}

std::optional<int> CommandLine::Parse(std::vector<std::string> words) {
  app_->set_help_flag("-h,--help", "print this")->group(section_ == kOptions ? kOptions : kOther);
  constexpr std::string_view kComplete = "--complete=";
  if (!words.empty() && words.back().starts_with(kComplete)) {
    PrintCompletions(std::string_view(words.back()).substr(kComplete.size()));
    return kExitOk;
  }
  if (!words.empty() && words.back() == kManualPage) {
    std::string page = ManualPage(*app_);
    PrintRaw(page);
    return kExitOk;
  }
  if (!ExpandResponseFiles(&words)) return kExitUsage;
  if (behind_dashes_ != nullptr) words = TakeClangArguments(words, behind_dashes_);
  if (!Respell(*app_, &words)) return kExitUsage;
  std::reverse(words.begin(), words.end());
  const std::string usage = "usage: " + app_->get_name();
  try {
    app_->parse(words);
    if (CheckSources()) return std::nullopt;
  } catch (const CLI::CallForHelp&) {
    std::string help = app_->help();
    PrintLines(help);
    return kExitOk;
  } catch (const CLI::RequiredError&) {
    PrintError("no " + positional_name_ + " given", usage);
  } catch (const CLI::ArgumentMismatch&) {
    PrintError("too few arguments: " + positional_name_ + " expected", usage);
  } catch (const CLI::ExtrasError&) {
    std::vector<std::string> extra = app_->remaining();
    std::erase(extra, "--");
    PrintError("one argument too many: '" + extra.front() + "'", usage);
  } catch (const CLI::ParseError& error) {
    PrintError(error.what());
  }
  return kExitUsage;
}

}  // namespace adc::tool
