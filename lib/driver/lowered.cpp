#include "driver/lowered.h"

#include <algorithm>
#include <map>

#include "ir/module.h"
#include "support/check.h"

namespace adc::driver {
namespace {

/// The function of `copy` that `function` of `module` is.
ir::Function* TwinOf(const ir::Module& module, const ir::Module& copy, const ir::Function* function) {
  for (size_t n = 0; n < module.functions.size(); ++n) {
    if (module.functions[n].get() == function) return copy.functions[n].get();
  }
  ADC_UNREACHABLE("a planned kernel that is not of its module");
}

/// Where the stacks of each task lie among its cells, for the code generator.
std::vector<codegen::TaskRows> RowsOf(const adstack::AdstackPlan& plan) {
  std::vector<codegen::TaskRows> tasks;
  for (const adstack::TaskPlan& task : plan.tasks) {
    codegen::TaskRows rows;
    rows.groups = static_cast<uint32_t>(task.groups.size());
    for (const adstack::PlannedGroup& group : task.groups) rows.gated.push_back(group.gated);
    uint32_t position = 0;
    for (const adstack::PlannedStack& stack : task.stacks) {
      bool in_row = stack.storage == artifact::Storage::kRow;
      rows.row_position.push_back(in_row ? position++ : ir::kNoAttr);
    }
    tasks.push_back(std::move(rows));
  }
  return tasks;
}

/// A block that a device can run, near what a kernel or the command line asks for; 0 where neither does.
uint32_t DeviceBlock(uint32_t asked) {
  constexpr uint32_t kLanes = 32, kMost = 1024;
  return std::min(kMost, (asked + kLanes - 1) / kLanes * kLanes);
}

}  // namespace

uint32_t SmallestTapeBytes(std::span<const target::Target> targets) {
  uint32_t least = UINT32_MAX;
  for (const target::Target& target : targets) least = std::min(least, target.tape_bytes);
  return targets.empty() ? target::Target().tape_bytes : least;
}

std::vector<LoweredModule> DivideTargets(ir::Module& module, std::vector<product::PlannedKernel> kernels,
                                         std::span<const target::Target> targets, bool alike) {
  std::map<uint32_t, std::vector<target::Target>> by_limit;
  uint32_t least = SmallestTapeBytes(targets);
  for (const target::Target& target : targets) by_limit[alike ? least : target.tape_bytes].push_back(target);
  std::vector<LoweredModule> modules(1);
  modules[0].module = &module;
  modules[0].kernels = std::move(kernels);
  for (const auto& [limit, own] : by_limit) {
    std::vector<adstack::AdstackPlan> plans;
    bool same = true;
    for (size_t n = 0; n < modules[0].kernels.size() && limit > least; ++n) {
      plans.push_back(adstack::MovePrivate(modules[0].kernels[n].plan, limit));
      same = same && adstack::SameStorage(plans.back(), modules.back().kernels[n].plan);
    }
    if (!same) {
      LoweredModule made;
      made.copy = module.Copy();
      made.module = made.copy.get();
      for (size_t n = 0; n < plans.size(); ++n) {
        ir::Function* twin = TwinOf(module, *made.copy, modules[0].kernels[n].kernel);
        made.kernels.push_back({twin, std::move(plans[n])});
      }
      modules.push_back(std::move(made));
    }
    std::vector<target::Target>& all = modules.back().targets;
    all.insert(all.end(), own.begin(), own.end());
  }
  return modules;
}

std::vector<codegen::KernelToEmit> KernelsToEmit(const LoweredModule& lowered, uint32_t block_size) {
  std::vector<codegen::KernelToEmit> kernels;
  for (const product::PlannedKernel& planned : lowered.kernels) {
    codegen::KernelToEmit& kernel = kernels.emplace_back(planned.kernel, RowsOf(planned.plan));
    for (const adstack::TaskPlan& task : planned.plan.tasks) {
      kernel.block_size.push_back(DeviceBlock(task.block_size != 0 ? task.block_size : block_size));
    }
  }
  return kernels;
}

}  // namespace adc::driver
