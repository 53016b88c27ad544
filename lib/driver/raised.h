#pragma once
// The modules that are raised: one for all targets of a lowered module that raising treats alike
// (raise/config.h).

#include <memory>
#include <span>
#include <vector>

#include "driver/lowered.h"
#include "driver/options.h"
#include "raise/config.h"

namespace adc::driver {

struct RaisedModule {
  std::unique_ptr<ir::Module> module;
  size_t lowered = 0;  ///< position of the module that it is raised from
  std::vector<target::Target> targets;
  raise::RaiseConfig config;
};

/// Leaves out of `targets`, and of those in `lowered`, the one of Vulkan that adds floats in memory, where no
/// kernel does: its code would be that of the one beside it that every device can run. A target that
/// `options` names in full stays.
void LeaveOutTwins(const CompileOptions& options, std::span<LoweredModule> lowered,
                   std::vector<target::Target>* targets);

/// Copies of the modules in `lowered`, in their order, one for each configuration that their targets have.
std::vector<RaisedModule> CopyForTargets(std::span<const LoweredModule> lowered,
                                         const CompileOptions& options);

/// `kernels` of `lowered` as those of its copy `raised`.
std::vector<codegen::KernelToEmit> TwinsOf(const ir::Module& lowered, const ir::Module& raised,
                                           std::vector<codegen::KernelToEmit> kernels);

}  // namespace adc::driver
