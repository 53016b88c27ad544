// `adc verify`: the loader's own checks on a bundle, without running any of its code.

#include <cstdio>

#include "command_line.h"
#include "commands.h"
#include "driver/options.h"
#include "loader.h"

namespace adc::tool {

int Verify(const std::vector<std::string>& words) {
  std::vector<std::string> files;
  CommandLine line(
      "adc verify bundle.adcb...",
      "Checks bundles as the loader does before it takes them: form, hashes, metadata, payloads.\n"
      "None of their code is run. Exit code 3 where one is bad.");
  line.Example("adc verify *.adcb", "one line for each; exit code 3 where one is bad");
  line.Positional("bundle", 1, SIZE_MAX, &files);
  switch (line.Parse(words)) {
    case CommandLine::Outcome::Done:
      return driver::kExitOk;
    case CommandLine::Outcome::Error:
      return driver::kExitUsage;
    case CommandLine::Outcome::Run:
      break;
  }
  int worst = driver::kExitOk;
  OpenOptions options;
  options.trust = false;
  options.compile_ir = false;
  for (const std::string& path : files) {
    Bundle bundle;
    int code = OpenBundle(path, options, &bundle);
    if (code != driver::kExitOk) {
      if (worst != driver::kExitBadBundle) worst = code;
      continue;
    }
    auto report = Sized<adrt_bundle_report>();
    adrt_bundle_info(bundle.get(), &report, nullptr);
    std::printf("%s: good (%u kernels, %u targets, %u sections)\n", path.c_str(), report.kernel_count,
                report.target_count, report.section_count);
  }
  return worst;
}

}  // namespace adc::tool
