#include "driver/raised.h"

#include <algorithm>

#include "analysis/walk.h"
#include "ir/module.h"
#include "support/check.h"

namespace adc::driver {

namespace {

/// Memory of a block of threads that every device of the kind has; 0: its code is not made for teams.
uint32_t TeamBytes(target::Kind kind) {
  if (kind == target::Kind::Vulkan) return 16u << 10;
  return kind == target::Kind::Cuda ? 48u << 10 : 0;
}

/// Whether the module is dispatched by its invocations, with a shader's bindings.
bool IsDispatchedAsIs(const ir::Module& module, const CompileOptions& options) {
  return options.emit == Emit::Spirv && !module.shader_bindings.empty();
}

/// Whether the module has loops over the invocations of workgroups.
bool HasLoopsApart(const ir::Module& module) {
  bool apart = false;
  for (const std::unique_ptr<ir::Function>& function : module.functions) {
    if (!function->IsKernel()) continue;
    analysis::ForEachInst(*function, [&](ir::Inst inst) {
      apart = apart || ((*function)[inst].op == ir::Op::For && (*function)[inst].Has(ir::Word::Apart));
    });
  }
  return apart;
}

bool SumsFloats(const ir::Module& module) {
  bool sums = false;
  for (const std::unique_ptr<ir::Function>& kernel : module.functions) {
    if (!kernel->IsKernel()) continue;
    analysis::ForEachInst(*kernel, [&](ir::Inst inst) {
      ir::Op op = (*kernel)[inst].op;
      bool plain = (*kernel)[inst].Has(ir::Word::Plain);
      bool sum = op == ir::Op::AtomicAdd || op == ir::Op::AtomicSub || (op == ir::Op::AddTo && !plain);
      sums = sums || (sum && ir::IsFloat(kernel->TypeOf(kernel->AccessValues(inst)[0]).scalar));
    });
  }
  return sums;
}

raise::RaiseConfig RaiseConfigFor(const target::Target& target, const CompileOptions& options) {
  raise::RaiseConfig config;
  config.device = !target.IsCpu();
  config.exchanges_floats = !target.AddsFloats();
  config.check_bounds = options.check_bounds;
  config.assertions = options.keep_asserts;
  // Code that may run unverified, of `-near` targets, has no memory of the block.
  bool is_near = target.kind == target::Kind::Vulkan && !target.features.empty();
  if (!options.deterministic && !is_near) config.team_bytes = TeamBytes(target.kind);
  config.may_team = config.team_bytes != 0 && options.float_mode != FloatMode::Strict;
  config.wide_team_sums = config.team_bytes != 0 && target.kind == target::Kind::Cuda;
  if (target.IsCpu() && options.optimisation != 0) {
    // Unless another limit is asked for: a function that devices take whole can be too large for register
    // allocation on a CPU.
    constexpr uint64_t kLargestFunction = 5'000;
    bool asked = options.limits.optimised != Limits().optimised;
    config.largest_function = asked ? options.limits.optimised : kLargestFunction;
  }
  if (!target.IsCpu() || options.optimisation < 2) return config;
  config.form_for_one = true;
  bool x86 = target.arch == target::Arch::X86_64;
  config.lane_bytes = x86 && target.level >= 3 ? 32 : 16;
  config.lanes_fuse = !x86 || target.level >= 3;
  config.vector_bytes = x86 && target.level >= 4 ? 64 : config.lane_bytes;
  config.body_lanes = options.simd == kSimdAuto ? raise::kAutomaticLanes : options.simd;
  return config;
}

}  // namespace

void LeaveOutTwins(const CompileOptions& options, std::span<LoweredModule> lowered,
                   std::vector<target::Target>* targets) {
  if (SumsFloats(*lowered.front().module)) return;
  const std::vector<target::Target> all = *targets;
  auto is_twin = [&](const target::Target& newer) {
    if (newer.kind != target::Kind::Vulkan || !newer.AddsFloats()) return false;
    for (const std::string& name : options.targets) {
      if (name != newer.KindName() && newer.name.starts_with(name)) return false;
    }
    return std::any_of(all.begin(), all.end(), [&](const target::Target& older) {
      return older.kind == newer.kind && !older.AddsFloats() && older.features == newer.features;
    });
  };
  for (LoweredModule& module : lowered) std::erase_if(module.targets, is_twin);
  std::erase_if(*targets, is_twin);
}

std::vector<RaisedModule> CopyForTargets(std::span<const LoweredModule> lowered,
                                         const CompileOptions& options) {
  std::vector<RaisedModule> raised;
  for (size_t at = 0; at < lowered.size(); ++at) {
    bool own_dispatch = IsDispatchedAsIs(*lowered[at].module, options);
    bool has_teams = !own_dispatch && HasLoopsApart(*lowered[at].module);
    for (const target::Target& target : lowered[at].targets) {
      raise::RaiseConfig config = RaiseConfigFor(target, options);
      if (!has_teams) config.team_bytes = 0, config.wide_team_sums = false;
      if (own_dispatch) config.may_team = false;
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
