#pragma once
// The subcommands of `adc`: each takes its words, and the data that it shares with others of its process, and
// returns an exit code (host/exit_code.h).

#include <string>
#include <string_view>
#include <vector>

namespace adc::tool {

class Session;

int New(const std::vector<std::string>& words, Session& session);
int Compile(const std::vector<std::string>& words, Session& session);
int Run(const std::vector<std::string>& words, Session& session);
int Gradcheck(const std::vector<std::string>& words, Session& session);
int Bench(const std::vector<std::string>& words, Session& session);
int Inspect(const std::vector<std::string>& words, Session& session);
int Verify(const std::vector<std::string>& words, Session& session);
int Sign(const std::vector<std::string>& words, Session& session);
int Merge(const std::vector<std::string>& words, Session& session);
int Strip(const std::vector<std::string>& words, Session& session);
int Stats(const std::vector<std::string>& words, Session& session);
int Diff(const std::vector<std::string>& words, Session& session);
int Size(const std::vector<std::string>& words, Session& session);
int Opt(const std::vector<std::string>& words, Session& session);
int Report(const std::vector<std::string>& words, Session& session);
int Format(const std::vector<std::string>& words, Session& session);
int Extract(const std::vector<std::string>& words, Session& session);
int Devices(const std::vector<std::string>& words, Session& session);
int Explain(const std::vector<std::string>& words, Session& session);
int Completion(const std::vector<std::string>& words, Session& session);
int Manual(const std::vector<std::string>& words, Session& session);
int Lsp(const std::vector<std::string>& words, Session& session);
int Batch(const std::vector<std::string>& words, Session& session);

struct Command {
  std::string_view name;
  int (*run)(const std::vector<std::string>& words, Session& session);
  std::string_view summary;
};

/// Every subcommand but the default one.
inline constexpr Command kCommands[] = {
    {"run", Run, "run a kernel on this machine and print or write its results"},
    {"gradcheck", Gradcheck, "compare a gradient with forward mode and central differences"},
    {"bench", Bench, "measure a launch: host, device, bytes moved"},
    {"inspect", Inspect, "show what a bundle holds"},
    {"verify", Verify, "check a bundle as the loader does"},
    {"sign", Sign, "make keys, and sign bundles"},
    {"merge", Merge, "make one bundle of several for different targets"},
    {"strip", Strip, "take signatures, source maps and debug information out"},
    {"stats", Stats, "print instructions, registers, bytes and stacks of each function"},
    {"diff", Diff, "say what differs between two bundles"},
    {"size", Size, "say how many bytes a launch takes"},
    {"fmt", Format, "format text, keeping its comments"},
    {"opt", Opt, "run passes on text"},
    {"report", Report, "draw what a bundle's launches take, as a page"},
    {"extract", Extract, "write the payloads of a bundle to files"},
    {"devices", Devices, "show what this machine can run"},
    {"new", New, "make a folder with a kernel, a program and their build"},
    {"explain", Explain, "say what a message means and what to do about it"},
    {"completion", Completion, "print a script by which a shell completes options"},
    {"man", Manual, "print the manual page of a command"},
    {"lsp", Lsp, "serve an editor: messages, types, tapes, rename, completion"},
    {"batch", Batch, "run command lines one after the other in one process"},
};

}  // namespace adc::tool
