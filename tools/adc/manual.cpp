// `adc man`: manual pages, from the tables that parsing and help come from.

#include <string>

#include "command_line.h"
#include "commands.h"
#include "host/exit_code.h"
#include "support/nearest.h"

namespace adc::tool {

int Manual(const std::vector<std::string>& words, Session& session) {
  std::vector<std::string> names;
  CommandLine line(
      "adc man [COMMAND]",
      "Prints the manual page of adc or of one of its commands, in roff. Packages install all of\n"
      "them: man adc-run.");
  line.Example("adc man run > adc-run.1", "to be read by: man ./adc-run.1");
  line.Positional("command", 0, 1, &names);
  if (std::optional<int> code = line.Parse(words)) return *code;
  if (names.empty()) return Compile({std::string(kManualPage)}, session);
  std::vector<std::string_view> known;
  for (const Command& command : kCommands) {
    if (command.name == names[0]) return command.run({std::string(kManualPage)}, session);
    known.push_back(command.name);
  }
  std::string_view near = NearestName(names[0], known);
  PrintError("no command '" + names[0] + "'",
             near.empty() ? "adc --help lists the commands" : "did you mean '" + std::string(near) + "'?");
  return kExitUsage;
}

}  // namespace adc::tool
