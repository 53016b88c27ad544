#include "driver/plan_dump.h"

#include "adstack/plan.h"
#include "ir/module.h"

namespace adc::driver {
namespace {

/// "1 (cpu:x86-64), 32 (cuda:sm_80, vulkan:1.2)": by how many lanes rows interleave, and where.
std::string LanesText(const std::vector<target::Target>& targets) {
  std::map<uint32_t, std::string> by_lanes;
  for (const target::Target& target : targets) {
    std::string& names = by_lanes[target.row_lanes];
    names += (names.empty() ? "" : ", ") + target.name;
  }
  std::string text;
  for (const auto& [lanes, names] : by_lanes)
    text += (text.empty() ? "" : ", ") + std::to_string(lanes) + " (" + names + ")";
  return text;
}

}  // namespace

std::vector<PlanDump> DumpPlans(std::span<const LoweredModule> modules,
                                const std::map<std::string, autodiff::ProvisionRecord>& provisions,
                                const diag::SourceManager& sources) {
  std::vector<PlanDump> dumps;
  for (size_t n = 0; n < modules.front().kernels.size(); ++n) {
    const adstack::AdstackPlan& first = modules.front().kernels[n].plan;
    std::vector<std::vector<target::Target>> alike;
    for (const LoweredModule& lowered : modules) {
      bool same = !alike.empty() && adstack::SameStorage(lowered.kernels[n].plan, first);
      std::vector<target::Target>& list = same ? alike.front() : alike.emplace_back();
      list.insert(list.end(), lowered.targets.begin(), lowered.targets.end());
    }
    for (const LoweredModule& lowered : modules) {
      const auto& [kernel, plan, loops] = lowered.kernels[n];
      bool is_first = &lowered == &modules.front();
      if (!is_first && adstack::SameStorage(plan, first)) continue;
      std::string title = "adstack";
      const std::vector<target::Target>& targets = is_first ? alike.front() : lowered.targets;
      for (const target::Target& target : targets) {
        if (alike.size() > 1) title += (title == "adstack" ? " of " : ", ") + target.name;
      }
      dumps.push_back(
          {title, adstack::PrintPlan(*lowered.module, *kernel, plan, sources, LanesText(targets))});
      auto record = provisions.find(std::string(lowered.module->Text(kernel->name)));
      if (is_first && record != provisions.end() && !record->second.units.empty())
        dumps.push_back({"adstack", autodiff::PrintProvisions(record->first, record->second, sources)});
    }
  }
  return dumps;
}

}  // namespace adc::driver
