// `adc devices`: what this machine offers, and which targets would run on it.

#include <cstdio>

#include "artifact/cpu_features.h"
#include "command_line.h"
#include "commands.h"
#include "driver/options.h"
#include "loader.h"
#include "target/target.h"

namespace adc::tool {

namespace {

bool HasWord(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    size_t space = words.find(' ');
    if (words.substr(0, space) == word) return true;
    words = space == std::string_view::npos ? std::string_view() : words.substr(space + 1);
  }
  return false;
}

/// Empty where the device runs the target, or why it does not.
std::string WhyNot(const target::Target& target, const adrt_device_report& device) {
  if (target.ArchName() != device.arch) return "another architecture";
  std::string missing;
  for (const artifact::String& feature : artifact::X86LevelFeatures(target.level)) {
    if (!HasWord(device.features, feature.view()))
      missing += (missing.empty() ? "" : " ") + std::string(feature.view());
  }
  return missing.empty() ? "" : "the processor lacks " + missing;
}

}  // namespace

int Devices(const std::vector<std::string>& words) {
  std::vector<std::string> none;
  CommandLine line("adc devices", "Shows what this machine offers and which targets would run on it.");
  line.Example("adc devices", "the processor, its features, the targets that it runs");
  line.Positional("argument", 0, 0, &none);
  switch (line.Parse(words)) {
    case CommandLine::Outcome::Done:
      return driver::kExitOk;
    case CommandLine::Outcome::Error:
      return driver::kExitUsage;
    case CommandLine::Outcome::Run:
      break;
  }
  Device device;
  auto error = Sized<adrt_error>();
  adrt_status status = adrt_device_open_cpu(nullptr, 0, device.Out(), &error);
  if (status != ADRT_OK) return ReportFailure("the CPU", status, error);
  auto report = Sized<adrt_device_report>();
  status = adrt_device_info(device.get(), &report, &error);
  if (status != ADRT_OK) return ReportFailure("the CPU", status, error);
  std::printf("cpu: %s, %u workers, features: %s\n\ntargets:\n", report.arch, report.worker_count,
              report.features);
  for (const target::Target& target : target::AllTargets()) {
    if (!target.IsCpu()) continue;
    std::string why_not = WhyNot(target, report);
    std::printf("  %-18s %s\n", std::string(target.name).c_str(),
                why_not.empty() ? "runs here" : ("does not run here: " + why_not).c_str());
  }
  return driver::kExitOk;
}

}  // namespace adc::tool
