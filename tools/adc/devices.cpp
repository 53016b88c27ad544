// `adc devices`: what this machine offers, and which targets would run on it: all that adc knows, or those of
// a bundle, with the loader's reason for each that it does not take.

#include <cstdio>

#include "artifact/cpu_features.h"
#include "command_line.h"
#include "commands.h"
#include "device.h"
#include "print.h"
#include "support/exit_code.h"
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

struct Found {
  std::string name;  ///< as --device takes it
  OpenedDevice device;
};

/// Opens every device of every kind; says why for kinds that have none.
std::vector<Found> OpenAll() {
  std::vector<Found> all;
  for (const std::string& kind : DeviceKinds()) {
    DeviceChoice choice;
    choice.kind = kind;
    for (;; ++choice.index) {
      auto error = Sized<adrt_error>();
      Found found;
      found.name = choice.Name();
      adrt_status status = found.device.Open(choice, 0, &error);
      if (status != ADRT_OK && choice.index == 0) Print("%s: none: %s\n", kind.c_str(), error.text);
      if (status != ADRT_OK) break;
      all.push_back(std::move(found));
      if (kind == "cpu") break;
    }
  }
  return all;
}

void PrintDevice(const Found& found) {
  const adrt_device_report& report = found.device.report();
  std::string name = report.name[0] != 0 ? std::string(report.name) + ", " : "";
  Print("%s: %s%s, %u %s, features: %s\n", found.name.c_str(), name.c_str(), report.arch, report.worker_count,
        found.device.IsCpu() ? "workers" : "threads at once",
        report.features[0] != 0 ? report.features : "none that bundles ask for");
}

/// Empty where the device runs code for the target, as far as its name says, or why it does not.
std::string WhyNot(const target::Target& target, const OpenedDevice& device) {
  const adrt_device_report& report = device.report();
  std::string_view arch = report.arch;
  switch (target.kind) {
    case target::Kind::Cpu: {
      if (target.ArchName() != arch) return "another architecture";
      std::string missing;
      for (const artifact::String& feature : artifact::X86LevelFeatures(target.level)) {
        if (!HasWord(report.features, feature.view()))
          missing += (missing.empty() ? "" : " ") + std::string(feature.view());
      }
      return missing.empty() ? "" : "the processor lacks " + missing;
    }
    case target::Kind::Cuda: {
      std::optional<target::Target> own = target::FindTarget("cuda:" + std::string(arch));
      bool older = own ? target.level <= own->level : arch >= target.ArchName();
      return older ? "" : "the device is an " + std::string(arch);
    }
    case target::Kind::Hip:
      return target.ArchName() == arch ? "" : "the device is a " + std::string(arch);
    case target::Kind::Vulkan:
    case target::Kind::Metal:
      return target.ArchName() <= arch ? "" : "the device has version " + std::string(arch);
  }
  return "";
}

/// "runs on vulkan", or "does not run here: " and why.
std::string Verdict(const target::Target& target, const std::vector<Found>& all) {
  std::string why = "no device of this kind", runs;
  for (const Found& found : all) {
    if (target.KindName() != found.device.report().kind) continue;
    std::string reason = WhyNot(target, found.device);
    if (!reason.empty()) {
      why = reason;
    } else {
      runs += (runs.empty() ? "runs on " : ", ") + found.name;
    }
  }
  if (runs.empty()) return "does not run here: " + why;
  return runs == "runs on cpu" ? "runs here" : runs;
}

int PrintBundle(const std::string& path, const std::vector<Found>& all) {
  OpenOptions options;
  options.compile_ir = false;
  Bundle bundle;
  if (int code = OpenBundle(path, options, &bundle); code != kExitOk) return code;
  auto facts = Sized<adrt_bundle_report>();
  adrt_bundle_info(bundle.get(), &facts, nullptr);
  uint32_t count = facts.target_count;
  for (const Found& found : all) {
    std::vector<adrt_target_report> reports(count, Sized<adrt_target_report>());
    auto error = Sized<adrt_error>();
    adrt_status status =
        adrt_bundle_query_targets(bundle.get(), found.device.get(), reports.data(), count, &count, &error);
    if (status != ADRT_OK) return ReportFailure(found.name, status, error);
    Print("\n%s on %s:\n", path.c_str(), found.name.c_str());
    for (const adrt_target_report& report : reports) {
      bool chosen = report.verdict == ADRT_TARGET_CHOSEN;
      Print("  %-18s %s%s\n", report.name,
            chosen                                  ? "taken"
            : report.verdict == ADRT_TARGET_REFUSED ? "refused: "
                                                    : "usable: ",
            chosen ? "" : report.reason);
    }
  }
  return kExitOk;
}

}  // namespace

int Devices(const std::vector<std::string>& words, Session&) {
  std::vector<std::string> files;
  CommandLine line(
      "adc devices [bundle.adcb]",
      "Shows what this machine offers and which targets would run on it; for a bundle which of its\n"
      "targets each device takes, and why not the others.");
  line.Example("adc devices", "devices, their features, the targets that they run");
  line.Example("adc devices relax.adcb", "what each device would take of the bundle");
  line.Positional("bundle", 0, 1, &files);
  if (std::optional<int> code = line.Parse(words)) return *code;
  std::vector<Found> all = OpenAll();
  for (const Found& found : all) PrintDevice(found);
  if (!files.empty()) return PrintBundle(files[0], all);
  Print("\ntargets:\n");
  for (const target::Target& target : target::AllTargets()) {
    Print("  %-18s %s\n", target.name.c_str(), Verdict(target, all).c_str());
  }
  return kExitOk;
}

}  // namespace adc::tool
