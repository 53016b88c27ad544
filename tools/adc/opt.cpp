// `adc opt`: passes on text.

#include <cstdio>

#include "command_line.h"
#include "commands.h"
#include "driver/pipeline.h"
#include "driver/run_passes.h"
#include "ir/module.h"
#include "loader.h"
#include "print.h"
#include "support/nearest.h"

namespace adc::tool {

namespace {

/// `--passes=inline,simplify`.
std::string TakePasses(std::string_view list, std::vector<std::string>* passes) {
  while (true) {
    size_t comma = list.find(',');
    std::string_view name = list.substr(0, comma);
    if (driver::FindPass(name) == nullptr) {
      std::vector<std::string_view> names = driver::PassNames();
      std::string_view near = NearestName(name, names);
      return near.empty() ? "takes names of passes, separated by commas; --list-passes shows them"
                          : "did you mean '" + std::string(near) + "'?";
    }
    passes->emplace_back(name);
    if (comma == std::string_view::npos) return {};
    list = list.substr(comma + 1);
  }
}

std::string TakePhase(std::string_view word, ir::Phase* phase) {
  using ir::Phase;
  for (Phase one : {Phase::Parsed, Phase::Scalar, Phase::Differentiated, Phase::Lowered, Phase::Raised}) {
    if (driver::PhaseName(one) != word) continue;
    *phase = one;
    return {};
  }
  return "is not one of parsed, scalar, differentiated, lowered, raised";
}

std::string TakeFloats(std::string_view word, driver::FloatMode* mode) {
  *mode = word == "fast" ? driver::FloatMode::Fast : driver::FloatMode::Contract;
  return word == "fast" || word == "contract" ? "" : "is not one of contract, fast";
}

}  // namespace

int Opt(const std::vector<std::string>& words, Session&) {
  driver::TextPasses asked;
  driver::CompileOptions options;
  options.derive.tangent = true;
  std::vector<std::string> files;
  bool list = false;
  uint64_t segment = 0;
  CommandLine line(
      "adc opt --passes=LIST [options] kernel.ir",
      "Runs passes on text, in the order given, and prints the text that they leave. Takes C++ and "
      "shaders too.");
  line.Value("--passes", "LIST", "names of passes, separated by commas; may be given several times",
             [&](std::string_view word) { return TakePasses(word, &asked.passes); });
  line.Flag("--list-passes", "print the passes, the phases that they run in, and what they do", &list);
  line.Value("--phase", "PHASE",
             "the phase that the text is in: parsed (default), scalar, differentiated, lowered, raised.\n"
             "A text that an earlier `adc opt` has printed goes on from there",
             [&](std::string_view word) { return TakePhase(word, &asked.phase); });
  line.Text("-o", "FILE", "write to FILE; default: standard output, '-'", &options.output);
  line.List("-I", "DIR", "look for imports in DIR too", &options.include_dirs);
  AddAllowImports(line, &options.import_dirs);
  line.Defines("the constant or type NAME of the text is VALUE", &options.defines);
  line.Section("Options of passes");
  line.Value("--fp", "MODE", "contract (default), or fast: zeros have no sign, nothing is infinite or NaN",
             [&](std::string_view word) { return TakeFloats(word, &options.float_mode); });
  line.Number("--checkpoint", "N", "checkpoint: long loops have segments of N iterations", &segment,
              INT32_MAX, 1);
  line.Flag("--save-overwritten", "save-overwritten: values of every buffer that is written",
            &options.save_overwritten);
  line.List("--target", "TARGET", "the target of plan and raise; default for raise and after it: cpu",
            &options.targets);
  line.Flag("--check-bounds", "checks: of every access with indices", &options.check_bounds);
  line.Flag("--asserts", "checks: of assertions", &options.keep_asserts);
  line.Section("Watching");
  std::vector<std::string> dumps;
  for (std::string_view pass : driver::DumpNames()) dumps.emplace_back(pass);
  line.OneOf("--dump", "PASS", "print the module after PASS", dumps,
             [dumps, &options](size_t at) { options.watch.dumps.push_back(dumps[at]); });
  line.Flag("--verify-each", "check the module after each pass, and not only at the end",
            &options.watch.verify_each);
  line.Flag("--time-passes", "print the wall time and peak memory of each pass", &options.watch.time_passes);
  line.Example("adc opt --passes=exits,inline,simplify kernel.ir", "the kernel, inlined and simplified");
  line.Example("adc opt --passes=reverse --phase=scalar shaped.ir", "the gradient of a kernel of scalars");
  line.Positional("input file", 0, 1, &files);
  if (std::optional<int> code = line.Parse(words)) return *code;
  if (list) {
    PrintLines(driver::PassList());
    return kExitOk;
  }
  if (files.empty() || asked.passes.empty()) {
    PrintError(files.empty() ? "no input file given" : "no passes given",
               "usage: adc opt --passes=LIST kernel.ir; adc opt --list-passes shows the passes");
    return kExitUsage;
  }
  for (const std::string& word : words)
    options.command_line += (options.command_line.empty() ? "opt " : " ") + word;
  options.checkpoint = static_cast<uint32_t>(segment);
  asked.input = files[0];
  return driver::RunPassesOnText(asked, options);
}

}  // namespace adc::tool
