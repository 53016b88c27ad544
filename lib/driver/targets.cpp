#include "driver/targets.h"

#include "codegen/common/back_ends.h"
#include "diag/errors/driver.h"
#include "support/check.h"
#include "support/nearest.h"

namespace adc::driver {

namespace {

using target::Kind;

/// The part of --emit that concerns targets: its word, the target it is made for when --target does not say,
/// and the kinds of targets that have it.
struct Form {
  std::string_view word;
  std::string_view default_target;
  std::vector<Kind> kinds;
};

Form FormOf(Emit emit) {
  switch (emit) {
    case Emit::Object:
      return {"obj", "cpu:x86-64-v3", {Kind::Cpu}};
    case Emit::Llvm:
      return {"llvm", "cpu:x86-64-v3", {Kind::Cpu, Kind::Cuda, Kind::Hip}};
    case Emit::Ptx:
      return {"ptx", "cuda", {Kind::Cuda}};
    case Emit::Hsaco:
      return {"hsaco", "hip", {Kind::Hip}};
    case Emit::Spirv:
      return {"spirv", "vulkan", {Kind::Vulkan}};
    case Emit::Msl:
      return {"msl", "metal", {Kind::Metal}};
    case Emit::Bundle:
    case Emit::C:
    case Emit::Ir:
    case Emit::Json:
    case Emit::Header:
      return {};
  }
  ADC_UNREACHABLE("a kind of output that no target was thought of for");
}

std::string KindList(const std::vector<Kind>& kinds) {
  std::string list;
  for (Kind kind : kinds) {
    target::Target target;
    target.kind = kind;
    list += (list.empty() ? "" : ", ") + std::string(target.KindName());
  }
  return list;
}

bool Contains(const std::vector<Kind>& kinds, Kind kind) {
  for (Kind known : kinds) {
    if (known == kind) return true;
  }
  return false;
}

constexpr const char* kVulkan = "vulkan";

/// The targets that `name` stands for in a bundle: for Vulkan both generations of code, of which a loader
/// takes the one that adds floats in memory where the device can.
std::vector<std::string> TargetsOfBundle(const std::string& name) {
  if (name == kVulkan) return {"vulkan:1.3", "vulkan:1.2"};
  return {name};
}

}  // namespace

std::vector<std::string> DefaultTargets() {
  std::vector<std::string> names = {"cpu:x86-64-v3", "cpu:x86-64"};
  for (const char* kind : {"cuda", "hip", kVulkan, "metal"}) {
    for (const std::string& name : TargetsOfBundle(kind)) names.push_back(target::FindTarget(name)->name);
  }
  std::erase_if(names, [](const std::string& name) {
    return codegen::WhyNoBackEnd(*target::FindTarget(name)).has_value();
  });
  return names;
}

diag::Result<target::Target> ResolveTarget(const std::string& name) {
  std::optional<target::Target> known = target::FindTarget(name);
  std::vector<std::string_view> names;
  std::string list;
  for (const target::Target& target : target::AllTargets()) {
    if (codegen::WhyNoBackEnd(target)) continue;
    names.push_back(target.name);
    list += (list.empty() ? "" : ", ") + target.name;
  }
  if (known) return *known;
  std::string_view near = NearestName(name, names);
  return diag::Fail(diag::E0703, {}, "unknown target '" + name + "'",
                    near.empty() ? "the targets are " + list : "did you mean '" + std::string(near) + "'?");
}

diag::Result<std::vector<target::Target>> ChooseTargets(const CompileOptions& options) {
  Form form = FormOf(options.emit);
  bool one = !form.word.empty();
  std::vector<std::string> names = options.targets;
  if (names.empty())
    names = one ? std::vector<std::string>{std::string(form.default_target)} : DefaultTargets();
  if (!one) {
    std::vector<std::string> all;
    for (const std::string& name : names) {
      for (std::string& full : TargetsOfBundle(name)) all.push_back(std::move(full));
    }
    names = std::move(all);
  }
  std::vector<target::Target> targets;
  for (const std::string& name : names) {
    diag::Result<target::Target> found = ResolveTarget(name);
    if (found && options.near_entries && found->kind == Kind::Vulkan && found->features.empty())
      found = ResolveTarget(found->name + "-near");
    if (!found) return found.Failure();
    if (one && !Contains(form.kinds, found->kind)) {
      return diag::Fail(diag::E0704, {},
                        "--emit=" + std::string(form.word) + " does not exist for target '" + name + "'",
                        "it is made for targets of the kind " + KindList(form.kinds));
    }
    std::optional<diag::Diagnostic> missing = codegen::WhyNoBackEnd(*found);
    if (missing && options.emit != Emit::Ir) return *missing;
    bool repeated = false;
    for (const target::Target& taken : targets) repeated = repeated || taken.name == found->name;
    if (!repeated) targets.push_back(*found);
  }
  if (one && targets.size() != 1) {
    return diag::Fail(diag::E0705, {},
                      "this kind of output holds the code of one target, and " +
                          std::to_string(targets.size()) + " are given",
                      "give one --target, or emit a bundle");
  }
  return targets;
}

}  // namespace adc::driver
