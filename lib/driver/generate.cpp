#include "driver/generate.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>

#include "codegen/amdgpu/emit.h"
#include "codegen/common/can_generate.h"
#include "codegen/cpu/emit.h"
#include "codegen/msl/translate.h"
#include "codegen/nvptx/emit.h"
#include "codegen/spirv/emit.h"
#include "diag/errors/codegen.h"
#include "driver/targets.h"
#include "host/bounded_run.h"
#include "host/crash.h"
#include "ir/module.h"
#include "support/check.h"

namespace adc::driver {

namespace {

/// Metal's language is written from the SPIR-V that the printer makes for it.
diag::Result<codegen::TargetCode> EmitMsl(const ir::Module& module,
                                          std::span<const codegen::KernelToEmit> kernels,
                                          const codegen::CodeConfig& config) {
  diag::Result<codegen::TargetCode> code = codegen::EmitSpirv(module, kernels, config);
  if (!code) return code;
  std::vector<std::vector<std::string>> names;
  for (const codegen::KernelToEmit& what : kernels) {
    names.emplace_back();
    for (ir::Value param : what.kernel->Params()) {
      names.back().emplace_back(module.Text((*what.kernel)[param].name));
    }
  }
  // SPIRV-Cross calls itself once for each block that follows another.
  std::optional<diag::Status> translated;
  RunDeep([&] { translated = codegen::TranslateToMsl(config.target, names, *code); });
  if (!*translated) return translated->Failure();
  return code;
}

diag::Result<codegen::TargetCode> EmitOne(const ir::Module& module,
                                          std::span<const codegen::KernelToEmit> kernels,
                                          const codegen::CodeConfig& config) {
  switch (config.target.kind) {
    case target::Kind::Cpu:
      return codegen::EmitCpu(module, kernels, config);
    case target::Kind::Cuda:
      return codegen::EmitNvptx(module, kernels, config);
    case target::Kind::Hip:
      return codegen::EmitAmdgpu(module, kernels, config);
    case target::Kind::Vulkan:
      return codegen::EmitSpirv(module, kernels, config);
    case target::Kind::Metal:
      return EmitMsl(module, kernels, config);
  }
  ADC_UNREACHABLE("a kind of target without a back end");
}

}  // namespace

std::vector<diag::Result<codegen::TargetCode>> EmitAll(std::span<const EmitJob> jobs, uint32_t threads_wanted,
                                                       JobServer* tokens) {
  std::vector<std::optional<diag::Result<codegen::TargetCode>>> slots(jobs.size());
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t at = next++; at < jobs.size(); at = next++) {
      slots[at] = EmitOne(*jobs[at].module, jobs[at].kernels, jobs[at].config);
    }
  };
  uint32_t at_once = threads_wanted != 0 ? threads_wanted : std::max(1u, std::thread::hardware_concurrency());
  size_t helpers = std::min<size_t>(at_once, jobs.size());
  std::vector<std::thread> threads;
  auto help = [&] {
    AlternateStack stack;  // for a back end that uses its stack up
    work();
    if (tokens != nullptr) tokens->Give();
  };
  for (size_t helper = 1; helper < helpers; ++helper) {
    if (tokens != nullptr && !tokens->Take()) break;
    threads.emplace_back(help);
  }
  work();
  for (std::thread& thread : threads) thread.join();
  std::vector<diag::Result<codegen::TargetCode>> results;
  for (auto& slot : slots) results.push_back(std::move(*slot));
  return results;
}

bool IsInexpressible(diag::ErrorId id) {
  return id == diag::E0601 || id == diag::E0602 || id == diag::E0620;
}

std::vector<std::string> TargetsThatCan(const ir::Module& module,
                                        std::span<const codegen::KernelToEmit> kernels,
                                        target::Kind without) {
  std::vector<std::string> names;
  for (const std::string& name : DefaultTargets()) {
    target::Target target = *target::FindTarget(name);
    if (target.kind == without) continue;
    std::vector<diag::Diagnostic> warnings;
    bool can = std::all_of(kernels.begin(), kernels.end(), [&](const codegen::KernelToEmit& what) {
      return static_cast<bool>(codegen::CanGenerate(module, *what.kernel, target, warnings));
    });
    if (can) names.push_back(name);
  }
  return names;
}

}  // namespace adc::driver
