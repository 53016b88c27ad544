// `adc-runtime <command> ...`: the commands of adc that run bundles, for machines without the compiler.

#include <optional>
#include <string>
#include <vector>

#include "command_line.h"
#include "commands.h"
#include "host/crash.h"
#include "host/exit_code.h"
#include "host/terminal.h"
#include "session.h"

namespace {

using namespace adc;

constexpr tool::Command kRuntimeCommands[] = {
    {"run", tool::Run, "run a kernel on this machine and print or write its results"},
    {"gradcheck", tool::Gradcheck, "compare a gradient with forward mode and central differences"},
    {"bench", tool::Bench, "measure a launch: host, device, bytes moved"},
    {"devices", tool::Devices, "show what this machine can run"},
    {"batch", tool::Batch, "run command lines one after the other in one process"},
};

int Dispatch(const std::vector<std::string>& words, tool::Session& session) {
  for (const tool::Command& command : kRuntimeCommands) {
    if (!words.empty() && words[0] == command.name)
      return command.run({words.begin() + 1, words.end()}, session);
  }
  std::vector<std::string> command;
  tool::CommandLine line("adc-runtime COMMAND [options] bundle.adcb...",
                         "Runs bundles on machines without the compiler.");
  line.Example("adc-runtime run --trust relax.adcb --kernel relax --arg x=random[1000] --arg n=64",
               "prints loss");
  line.Section("Commands (adc-runtime COMMAND --help)");
  for (const tool::Command& known : kRuntimeCommands)
    line.Command(std::string(known.name), std::string(known.summary));
  line.Positional("command", 1, SIZE_MAX, &command);
  if (std::optional<int> code = line.Parse(words)) return *code;
  tool::PrintError("no command '" + command[0] + "'", "adc-runtime --help lists the commands");
  return kExitUsage;
}

}  // namespace

int main(int count, char** words) {
  InstallCrashHandler();
  UseBytesAsTheyAre();
  return tool::EndOutput(tool::Session(Dispatch).Run(std::vector<std::string>(words + 1, words + count)));
}
