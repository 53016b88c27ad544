#include "manual_page.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <sstream>
#include <string_view>
#include <vector>

#include "words.h"

namespace adc::tool {

namespace {

/// Text that roff prints as it stands: a line may not begin with a control character, and '-' is a minus sign
/// that can be copied.
std::string Escaped(std::string_view text) {
  std::string escaped;
  bool begins = true;
  for (char c : text) {
    if (begins && (c == '.' || c == '\'')) escaped += "\\&";
    begins = c == '\n';
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

/// "adc-run" of "adc run [options] bundle.adcb".
std::string PageName(std::string_view usage) {
  std::istringstream words{std::string(usage)};
  std::string name, word;
  while (words >> word) {
    bool plain = std::all_of(word.begin(), word.end(),
                             [](unsigned char c) { return std::islower(c) != 0 || c == '-'; });
    if (!plain || word.front() == '-') break;  // an option that a command requires is none of its names
    name += (name.empty() ? "" : "-") + word;
  }
  return name;
}

std::string Capitals(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::string OptionText(const CLI::Option& option) {
  const std::string& joined = option.get_option_text();
  std::string value = option.get_type_name();
  std::string name = option.get_name() == "-h,--help" ? "-h, --help" : SpellingOf(option);
  std::string text = "\\fB" + Escaped(name) + "\\fR";
  if (!joined.empty()) return text + Escaped(joined);
  if (value.empty()) return text;
  return text + (name.starts_with("--") ? "=" : " ") + "\\fI" + Escaped(value) + "\\fR";
}

/// The end of the help: text as it stands, below a title where a line ends with ':' and stands alone.
std::string Footer(const std::string& footer) {
  std::istringstream lines(footer);
  std::string page, line;
  bool open = false;
  while (std::getline(lines, line)) {
    bool title = !line.empty() && line[0] != ' ' && line.ends_with(':');
    if (title || !open) {
      if (open) page += ".fi\n";
      if (line.empty()) continue;
      page += title ? ".SH " + Capitals(line.substr(0, line.size() - 1)) + "\n.nf\n" : ".SH NOTES\n.nf\n";
      open = true;
      if (title) continue;
    }
    page += Escaped(line) + "\n";
  }
  return page + (open ? ".fi\n" : "");
}

}  // namespace

std::string ManualPage(const CLI::App& app) {
  const std::string& usage = app.get_name();
  std::string name = PageName(usage), summary = app.get_description();
  std::string first = summary.substr(0, summary.find('.'));
  std::replace(first.begin(), first.end(), '\n', ' ');
  std::string page = ".TH " + Capitals(name) + " 1\n.SH NAME\n" + Escaped(name) + " \\- " + Escaped(first) +
                     "\n.SH SYNOPSIS\n" + Escaped(usage) + "\n.SH DESCRIPTION\n" + Escaped(summary) + "\n";
  for (const std::string& group : app.get_groups()) {
    std::vector<const CLI::Option*> options = app.get_options(
        [&](const CLI::Option* option) { return option->get_group() == group && !option->get_positional(); });
    if (options.empty()) continue;
    page += ".SH " + Capitals(group) + "\n";
    for (const CLI::Option* option : options)
      page += ".TP\n" + OptionText(*option) + "\n" + Escaped(option->get_description()) + "\n";
  }
  std::vector<const CLI::App*> commands = app.get_subcommands({});
  if (!commands.empty()) page += ".SH COMMANDS\n";
  for (const CLI::App* command : commands)
    page += ".TP\n\\fB" + name + " " + command->get_name() + "\\fR\n" + Escaped(command->get_description()) +
            "\n";
  return page + Footer(app.get_footer());
}

}  // namespace adc::tool
