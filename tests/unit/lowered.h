#pragma once
// Text to lowered kernels, as the driver does it, for the tests of back ends: primals, their gradients, and
// the kernels that count adstacks.

#include <catch2/catch.hpp>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "adstack/lower.h"
#include "adstack/plan.h"
#include "autodiff/accumulate.h"
#include "autodiff/reverse.h"
#include "codegen/common/code.h"
#include "counting/size_kernel.h"
#include "driver/pipeline.h"
#include "ir/module.h"
#include "parse/parser.h"
#include "transform/inline.h"
#include "transform/memory_to_registers.h"
#include "transform/scalarise.h"
#include "transform/simplify.h"
#include "transform/sink_sums.h"
#include "verify/verify.h"

namespace adc::test {

struct LoweredKernel {
  ir::Function* kernel = nullptr;
  adstack::AdstackPlan plan;
};

struct LoweredModule {
  diag::SourceManager sources;
  diag::Diagnostics diagnostics{0};
  std::unique_ptr<ir::Module> module;
  std::vector<LoweredKernel> kernels;

  std::string Messages() { return diag::PrintDiagnostics(diagnostics, sources, false); }

  /// What a back end is given.
  std::vector<codegen::KernelToEmit> ToEmit() const {
    std::vector<codegen::KernelToEmit> all;
    for (const LoweredKernel& lowered : kernels) {
      codegen::KernelToEmit& kernel = all.emplace_back();
      kernel.kernel = lowered.kernel;
      for (const adstack::TaskPlan& task : lowered.plan.tasks) {
        codegen::TaskRows& rows = kernel.tasks.emplace_back();
        rows.groups = static_cast<uint32_t>(task.groups.size());
        for (const adstack::PlannedGroup& group : task.groups) rows.gated.push_back(group.gated);
        uint32_t position = 0;
        for (const adstack::PlannedStack& stack : task.stacks) {
          bool in_row = stack.storage == artifact::Storage::kRow;
          rows.row_position.push_back(in_row ? position++ : ir::kNoAttr);
        }
        kernel.block_size.push_back(task.block_size);
      }
    }
    return all;
  }
};

struct LowerConfig {
  bool derive = true;  ///< gradients of the kernels that have differentiable parameters
  adstack::PlanConfig plan;
};

namespace detail {

inline std::vector<ir::Function*> KernelsOf(const ir::Module& module) {
  std::vector<ir::Function*> kernels;
  for (const auto& function : module.functions) {
    if (function->IsKernel()) kernels.push_back(function.get());
  }
  return kernels;
}

inline bool HasDiff(const ir::Module& module, const ir::Function& kernel) {
  bool diff = false;
  for (const ir::ParamInfo& info : kernel.params) diff = diff || info.diff;
  for (ir::Value param : kernel.Params()) {
    ir::Type type = kernel.TypeOf(param);
    if (!type.IsLayout()) continue;
    for (const ir::LayoutField& field : module.layouts[type.count].fields) diff = diff || field.diff;
  }
  return diff;
}

inline bool LowerParsed(LoweredModule& lowered, const LowerConfig& config) {
  ir::Module& module = *lowered.module;
  diag::Diagnostics& diagnostics = lowered.diagnostics;
  if (!verify::Verify(module, diagnostics)) return false;
  if (!driver::Normalise(module, diagnostics)) return false;
  for (ir::Function* kernel : KernelsOf(module)) {
    if (!config.derive || !HasDiff(module, *kernel)) continue;
    if (autodiff::DeriveReverse(module, *kernel, {}, diagnostics) == nullptr) return false;
  }
  module.phase = ir::Phase::Differentiated;
  transform::InlineConfig inlining;
  inlining.keep_custom_derivatives = false;
  if (!transform::Inline(module, inlining, diagnostics) || !transform::Scalarise(module, {}, diagnostics) ||
      !transform::MemoryToRegisters(module, {}, diagnostics) || !transform::Simplify(module, {}, diagnostics))
    return false;
  for (ir::Function* kernel : KernelsOf(module)) {
    autodiff::DecideAccumulation(module, *kernel);
    transform::SinkSums(*kernel);
  }
  for (ir::Function* kernel : KernelsOf(module)) {
    adstack::AdstackPlan plan = adstack::PlanAdstacks(module, *kernel, config.plan, diagnostics);
    for (counting::SizeKernel& size : counting::AddSizeKernels(module, *kernel, plan, {}, diagnostics))
      lowered.kernels.push_back({size.function, std::move(size.plan)});
    lowered.kernels.push_back({kernel, std::move(plan)});
  }
  for (LoweredKernel& kernel : lowered.kernels) {
    if (!adstack::LowerAdstacks(module, *kernel.kernel, kernel.plan, diagnostics)) return false;
  }
  module.phase = ir::Phase::Lowered;
  return transform::Simplify(module, {}, diagnostics) && !diagnostics.HasErrors();
}

}  // namespace detail

/// The kernels of `text`.
inline std::unique_ptr<LoweredModule> LowerText(const std::string& text, const LowerConfig& config = {}) {
  auto lowered = std::make_unique<LoweredModule>();
  lowered->module = parse::ParseText("test.ir", text, {}, lowered->sources, lowered->diagnostics);
  bool good = lowered->module != nullptr && detail::LowerParsed(*lowered, config);
  INFO(lowered->Messages());
  REQUIRE(good);
  return lowered;
}

/// The kernels of a file and its imports.
inline std::unique_ptr<LoweredModule> LowerFile(const std::string& path, const LowerConfig& config = {}) {
  auto lowered = std::make_unique<LoweredModule>();
  lowered->module = parse::ParseFiles({path}, {}, lowered->sources, lowered->diagnostics);
  bool good = lowered->module != nullptr && detail::LowerParsed(*lowered, config);
  INFO(path << lowered->Messages());
  REQUIRE(good);
  return lowered;
}

}  // namespace adc::test
