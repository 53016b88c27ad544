// `adc kernel.ir` compiles; `adc <command> ...` does what kCommands says.

#include <sys/stat.h>

#include <string>
#include <vector>

#include "command_line.h"
#include "commands.h"
#include "host/crash.h"
#include "host/exit_code.h"
#include "host/terminal.h"
#include "session.h"
#include "support/nearest.h"

namespace {

/// Whether a word is neither a file nor like the name of one: it was meant to be a command.
bool LooksLikeCommand(const std::string& word) {
  struct stat facts = {};
  bool plain =
      !word.empty() && word[0] != '-' && word[0] != '@' && word.find_first_of("./") == std::string::npos;
  return plain && stat(word.c_str(), &facts) != 0;
}

std::string_view NearestCommand(const std::string& word) {
  std::vector<std::string_view> names;
  for (const adc::tool::Command& command : adc::tool::kCommands) names.push_back(command.name);
  return adc::NearestName(word, names);
}

int Dispatch(const std::vector<std::string>& arguments, adc::tool::Session& session) {
  if (!arguments.empty()) {
    for (const adc::tool::Command& command : adc::tool::kCommands) {
      if (arguments[0] == command.name) return command.run({arguments.begin() + 1, arguments.end()}, session);
    }
    // `adc help run` is `adc run --help`.
    if (arguments[0] == "help") {
      std::vector<std::string> asked(arguments.begin() + 1, arguments.end());
      asked.emplace_back("--help");
      return Dispatch(asked, session);
    }
    if (arguments[0] == "compile")
      return adc::tool::Compile({arguments.begin() + 1, arguments.end()}, session);
    if (LooksLikeCommand(arguments[0])) {
      std::string_view near = NearestCommand(arguments[0]);
      adc::tool::PrintError(
          "no command or file '" + arguments[0] + "'",
          near.empty() ? "adc --help lists the commands" : "did you mean 'adc " + std::string(near) + "'?");
      return adc::kExitUsage;
    }
  }
  return adc::tool::Compile(arguments, session);
}

}  // namespace

int main(int count, char** words) {
  adc::InstallCrashHandler();
  adc::UseBytesAsTheyAre();
  return adc::tool::EndOutput(
      adc::tool::Session(Dispatch).Run(std::vector<std::string>(words + 1, words + count)));
}
