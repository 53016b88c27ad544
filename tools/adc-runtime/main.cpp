// `adc-runtime <command> ...`: the commands of adc that run bundles, for machines without the compiler.

#include <cstdio>
#include <string>
#include <vector>

#include "command_line.h"
#include "commands.h"
#include "driver/options.h"
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
  std::FILE* out = !words.empty() && words[0] == "--help" ? stdout : stderr;
  std::fputs("usage: adc-runtime COMMAND BUNDLE...   (adc-runtime COMMAND --help says more)\n", out);
  for (const tool::Command& command : kRuntimeCommands) {
    std::fprintf(out, "  %-10s %s\n", std::string(command.name).c_str(),
                 std::string(command.summary).c_str());
  }
  return out == stdout ? driver::kExitOk : driver::kExitUsage;
}

}  // namespace

int main(int count, char** words) {
  return tool::EndOutput(tool::Session(Dispatch).Run(std::vector<std::string>(words + 1, words + count)));
}
