#include "driver/targets.h"

#include "support/nearest.h"

namespace adc::driver {

std::vector<std::string> DefaultTargets() {
  return {"cpu:x86-64-v3", "cpu:x86-64"};
}

std::string HostTarget() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v4")) return "cpu:x86-64-v4";
  if (__builtin_cpu_supports("x86-64-v3")) return "cpu:x86-64-v3";
  if (__builtin_cpu_supports("x86-64-v2")) return "cpu:x86-64-v2";
  return "cpu:x86-64";
#elif defined(__aarch64__)
  return "cpu:aarch64";
#else
#error "adc runs on x86-64 and AArch64"
#endif
}

diag::Result<target::Target> ResolveTarget(const std::string& name) {
  std::optional<target::Target> known = target::FindTarget(name);
  if (known && known->IsCpu()) return *known;
  std::vector<std::string_view> names;
  std::string list;
  for (const target::Target& target : target::AllTargets()) {
    if (!target.IsCpu()) continue;
    names.push_back(target.name);
    list += (list.empty() ? "" : ", ") + std::string(target.name);
  }
  for (std::string_view kind : {"cuda", "hip", "vulkan", "metal"}) {
    if (name == kind || name.starts_with(std::string(kind) + ":")) {
      return diag::Fail(diag::ErrorId::E0704, {}, "no code is generated for target '" + name + "'",
                        "the targets are " + list);
    }
  }
  std::string_view near = NearestName(name, names);
  return diag::Fail(diag::ErrorId::E0703, {}, "unknown target '" + name + "'",
                    near.empty() ? "the targets are " + list : "did you mean '" + std::string(near) + "'?");
}

}  // namespace adc::driver
