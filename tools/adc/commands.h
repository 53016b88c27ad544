#pragma once
// The subcommands of `adc`: each takes its words and returns an exit code (driver/options.h).

#include <string>
#include <string_view>
#include <vector>

namespace adc::tool {

int Compile(const std::vector<std::string>& words);
int Run(const std::vector<std::string>& words);
int Gradcheck(const std::vector<std::string>& words);
int Bench(const std::vector<std::string>& words);
int Inspect(const std::vector<std::string>& words);
int Verify(const std::vector<std::string>& words);
int Diff(const std::vector<std::string>& words);
int Size(const std::vector<std::string>& words);
int Extract(const std::vector<std::string>& words);
int Devices(const std::vector<std::string>& words);

struct Command {
  std::string_view name;
  int (*run)(const std::vector<std::string>& words);
  std::string_view summary;
};

/// Every subcommand but the default one.
inline constexpr Command kCommands[] = {
    {"run", Run, "run a kernel on this machine and print or write its results"},
    {"gradcheck", Gradcheck, "compare a gradient with forward mode and central differences"},
    {"bench", Bench, "measure a launch: host, device, bytes moved"},
    {"inspect", Inspect, "show what a bundle holds"},
    {"verify", Verify, "check a bundle as the loader does"},
    {"diff", Diff, "say what differs between two bundles"},
    {"size", Size, "say how many bytes a launch takes"},
    {"extract", Extract, "write the payloads of a bundle to files"},
    {"devices", Devices, "show what this machine can run"},
};

}  // namespace adc::tool
