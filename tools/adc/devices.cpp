// `adc devices`: the devices of this machine, and the targets that would run on it: all that adc knows, or
// those of a bundle, with the loader's reason for each that it does not take.

#include <cstdio>
#include <nlohmann/json.hpp>
#include <vector>

#include "artifact/cpu_features.h"
#include "command_line.h"
#include "commands.h"
#include "compile_source.h"
#include "device.h"
#include "host/exit_code.h"
#include "json_output.h"
#include "print.h"
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

/// A kind that has no device here.
struct Absent {
  std::string kind, reason;
};

/// Opens every device of every kind; `absent` are the kinds that have none.
std::vector<Found> OpenAll(std::vector<Absent>* absent) {
  std::vector<Found> all;
  for (const std::string& kind : DeviceKinds()) {
    DeviceChoice choice;
    choice.kind = kind;
    for (;; ++choice.index) {
      auto error = Sized<adrt_error>();
      Found found;
      found.name = choice.Name();
      adrt_status status = found.device.Open(choice, 0, &error);
      if (status != ADRT_OK && choice.index == 0) absent->push_back({kind, error.text});
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

Json AsJson(const Found& found) {
  const adrt_device_report& report = found.device.report();
  return {{"device", found.name},
          {"kind", report.kind},
          {"name", report.name},
          {"arch", report.arch},
          {"threads", report.worker_count},
          {"features", report.features}};
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

/// The targets for which code can be had.
std::vector<target::Target> Targets() {
  std::vector<target::Target> targets = target::AllTargets();
  std::erase_if(targets, [](const target::Target& target) { return !WritesCodeFor(target); });
  return targets;
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

const char* VerdictWord(uint32_t verdict) {
  if (verdict == ADRT_TARGET_CHOSEN) return "taken";
  return verdict == ADRT_TARGET_REFUSED ? "refused" : "usable";
}

/// Shows the target that each device takes of a bundle: printed, or added to `list`.
int ShowBundle(const std::string& path, const std::vector<Found>& all, Json* list) {
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
    if (list == nullptr) Print("\n%s on %s:\n", path.c_str(), found.name.c_str());
    for (const adrt_target_report& report : reports) {
      const char* word = VerdictWord(report.verdict);
      bool chosen = report.verdict == ADRT_TARGET_CHOSEN;
      if (list == nullptr) {
        Print("  %-18s %s%s%s\n", report.name, word, chosen ? "" : ": ", chosen ? "" : report.reason);
      } else {
        list->push_back({{"device", found.name},
                         {"target", report.name},
                         {"verdict", word},
                         {"reason", chosen ? "" : report.reason}});
      }
    }
  }
  return kExitOk;
}

/// The whole of it as one object.
int PrintAsJson(const std::vector<Found>& all, const std::vector<Absent>& absent,
                const std::vector<std::string>& files) {
  Json devices = Json::array(), none = Json::object(), targets = Json::array();
  for (const Found& found : all) devices.push_back(AsJson(found));
  for (const Absent& kind : absent) none[kind.kind] = kind.reason;
  if (files.empty()) {
    for (const target::Target& target : Targets())
      targets.push_back({{"target", target.name}, {"verdict", Verdict(target, all)}});
  } else if (int code = ShowBundle(files[0], all, &targets); code != kExitOk) {
    return code;
  }
  PrintJson({{"devices", devices}, {"none", none}, {"targets", targets}});
  return kExitOk;
}

}  // namespace

int Devices(const std::vector<std::string>& words, Session&) {
  std::vector<std::string> files;
  CommandLine line(
      "adc devices [--json] [bundle.adcb]",
      "Shows what this machine offers and which targets would run on it; for a bundle which of its\n"
      "targets each device takes, and why not the others.");
  bool json = false;
  line.Flag("--json", "print an object: devices, kinds without one, and targets", &json);
  line.Example("adc devices", "devices, their features, the targets that they run");
  line.Example("adc devices relax.adcb", "what each device would take of the bundle");
  line.Positional("bundle", 0, 1, &files);
  if (std::optional<int> code = line.Parse(words)) return *code;
  std::vector<Absent> absent;
  std::vector<Found> all = OpenAll(&absent);
  if (json) return PrintAsJson(all, absent, files);
  for (const Absent& kind : absent) Print("%s: none: %s\n", kind.kind.c_str(), kind.reason.c_str());
  for (const Found& found : all) PrintDevice(found);
  if (!files.empty()) return ShowBundle(files[0], all, nullptr);
  Print("\ntargets:\n");
  for (const target::Target& target : Targets()) {
    Print("  %-18s %s\n", target.name.c_str(), Verdict(target, all).c_str());
  }
  return kExitOk;
}

}  // namespace adc::tool
