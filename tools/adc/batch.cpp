// `adc batch`: command lines of a file, one after the other in one process.
//
// After each the batch says which line it was and how it ended, on standard output after what the command
// printed there. So a program that writes lines into a pipe and reads up to that report knows what belongs to
// which, and where the process ends without one, which line it was that ended it. A device that fails, as a
// GPU does whose memory was written out of bounds, is often lost to the process: the batch then ends itself.

#include <chrono>
#include <cstdio>
#include <optional>

#include "command_line.h"
#include "commands.h"
#include "host/exit_code.h"
#include "line_reader.h"
#include "print.h"
#include "session.h"
#include "words.h"

namespace adc::tool {

namespace {

/// Runs the words of one line, which is `place` ("jobs:3"). An exit code.
int RunLine(const std::string& text, const std::string& place, Session& session) {
  std::vector<std::string> words;
  if (!SplitWords(text, &words)) {
    PrintError(place + ": a quote stays open", "close it in the same line, or put a backslash before it");
    return kExitUsage;
  }
  return session.Run(words);
}

bool IsCommand(const std::string& text) {
  size_t first = text.find_first_not_of(" \t\r");
  return first != std::string::npos && text[first] != '#';
}

int RunLines(LineReader& lines, const std::string& name, Session& session) {
  uint64_t count = 0, failed = 0, number = 0;
  std::string lost;
  while (lost.empty()) {
    std::optional<std::string> text = lines.Next();
    if (!text) break;
    ++number;
    if (!IsCommand(*text)) continue;
    auto begin = std::chrono::steady_clock::now();
    int code = RunLine(*text, name + ":" + std::to_string(number), session);
    std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    if (code == kExitRunTime) lost = session.LostDevice();
    ++count;
    failed += code != kExitOk;
    std::fflush(stderr);
    Print("batch: line %llu: exit %d, %.3f s%s\n", static_cast<unsigned long long>(number), code,
          taken.count(), lost.empty() ? "" : ", the last one");
    std::fflush(stdout);
  }
  if (!lost.empty()) {
    PrintError("device " + lost + " cannot be used any more: lines after " + name + ":" +
                   std::to_string(number) + " were not run",
               "run them in another process: 'adc batch' with what is left of the lines");
    return kExitRunTime;
  }
  Print("batch: %llu command lines, %llu failed\n", static_cast<unsigned long long>(count),
        static_cast<unsigned long long>(failed));
  if (std::string wrong = session.Close(); !wrong.empty()) {
    PrintError(wrong, "this is a fault of adc: please report it with the lines of the batch");
    return kExitRunTime;
  }
  if (lines.Wrong().empty()) return failed == 0 ? kExitOk : kExitFailed;
  PrintError("cannot read '" + name + "' beyond line " + std::to_string(number) + ": " + lines.Wrong());
  return kExitFailed;
}

}  // namespace

int Batch(const std::vector<std::string>& words, Session& session) {
  std::vector<std::string> files;
  CommandLine line(
      "adc batch FILE|-",
      "Runs the command lines of a file, or of standard input, one after the other in one process.\n"
      "Devices stay open from line to line, and so does the code of a bundle that lines in sequence\n"
      "name: with many lines and short launches that saves most of the time. A line holds the\n"
      "words after 'adc', quoted as for a shell; empty lines and those that begin with # are left\n"
      "out. After the output of a line follows 'batch: line NUMBER: exit CODE, SECONDS s'. A line that\n"
      "fails does not stop the batch. Exit code 1 where one failed, 4 where a\n"
      "device was lost: its line's report ends with ', the last one'.");
  line.Example("adc batch launches",
               "with 'run --trust relax.adcb --kernel relax --arg x=ones[8] --arg n=4' as a line");
  line.Example("generate | adc batch -", "runs each line as it comes, and reports before it reads the next");
  line.Positional("file", 1, 1, &files);
  if (std::optional<int> code = line.Parse(words)) return *code;
  if (session.Keeps()) {
    PrintError("a batch within a batch", "put the lines of '" + files[0] + "' in place of this one");
    return kExitUsage;
  }
  session.Keep();
  LineReader lines(files[0]);
  if (lines.Wrong().empty()) return RunLines(lines, files[0] == "-" ? "standard input" : files[0], session);
  PrintError("cannot read '" + files[0] + "': " + lines.Wrong());
  return kExitFailed;
}

}  // namespace adc::tool
