#include "driver/raised.h"

#include <algorithm>

#include "ir/module.h"
#include "support/check.h"

namespace adc::driver {

raise::RaiseConfig RaiseConfigFor(const target::Target& target, const CompileOptions& options) {
  raise::RaiseConfig config;
  config.device = !target.IsCpu();
  config.exchanges_floats = !target.AddsFloats();
  config.check_bounds = options.check_bounds;
  config.assertions = options.keep_asserts;
  if (!target.IsCpu() || options.optimisation < 2) return config;
  bool x86 = target.arch == target::Arch::X86_64;
  config.lane_bytes = x86 && target.level >= 3 ? 32 : 16;
  config.lanes_fuse = !x86 || target.level >= 3;
  config.vector_bytes = x86 && target.level >= 4 ? 64 : config.lane_bytes;
  config.body_lanes = options.simd == kSimdAuto ? raise::kAutomaticLanes : options.simd;
  return config;
}

std::vector<RaisedModule> CopyForTargets(std::span<const LoweredModule> lowered,
                                         const CompileOptions& options) {
  std::vector<RaisedModule> raised;
  for (size_t at = 0; at < lowered.size(); ++at) {
    for (const target::Target& target : lowered[at].targets) {
      raise::RaiseConfig config = RaiseConfigFor(target, options);
      auto known = std::find_if(raised.begin(), raised.end(), [&](const RaisedModule& one) {
        return one.lowered == at && one.config == config;
      });
      if (known == raised.end()) {
        raised.push_back({lowered[at].module->Copy(), at, {}, config});
        known = raised.end() - 1;
      }
      known->targets.push_back(target);
    }
  }
  return raised;
}

const RaisedModule& ModuleOf(std::span<const RaisedModule> modules, const target::Target& target) {
  for (const RaisedModule& one : modules) {
    for (const target::Target& known : one.targets) {
      if (known.name == target.name) return one;
    }
  }
  ADC_UNREACHABLE("a target of no module");
}

std::vector<codegen::KernelToEmit> TwinsOf(const ir::Module& lowered, const ir::Module& raised,
                                           std::vector<codegen::KernelToEmit> kernels) {
  for (codegen::KernelToEmit& kernel : kernels) {
    auto same = [&](const std::unique_ptr<ir::Function>& function) {
      return function.get() == kernel.kernel;
    };
    auto found = std::find_if(lowered.functions.begin(), lowered.functions.end(), same);
    ADC_CHECK(found != lowered.functions.end(), "a kernel that is not of its module");
    kernel.kernel = raised.functions[static_cast<size_t>(found - lowered.functions.begin())].get();
  }
  return kernels;
}

}  // namespace adc::driver
