#pragma once
// Lowered kernels as the driver raises them for a target, for the tests of back ends.

#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "driver/pipeline.h"

namespace adc::test {

struct RaisedModule {
  std::unique_ptr<ir::Module> module;
  std::vector<codegen::KernelToEmit> kernels;
};

/// `module`, which stays as it is, and its `kernels` after all passes of Stage::Raise for `target`.
inline RaisedModule RaiseFor(const ir::Module& module, std::vector<codegen::KernelToEmit> kernels,
                             const target::Target& target, const driver::CompileOptions& options = {}) {
  std::unique_ptr<ir::Module> copy = module.Copy();
  diag::Diagnostics diagnostics;
  std::vector<target::Target> targets = {target};
  driver::PipelineState state{*copy, options, diagnostics, targets};
  REQUIRE(driver::RunStage(driver::Stage::Raise, state));
  RaisedModule raised{std::move(state.raised.front().module), {}};
  raised.kernels = driver::TwinsOf(module, *raised.module, std::move(kernels));
  return raised;
}

/// Raises and emits: what the driver does of a lowered module for one target.
template <class Emit>
auto EmitRaised(const Emit& emit, const ir::Module& module, std::vector<codegen::KernelToEmit> kernels,
                const codegen::CodeConfig& config, const driver::CompileOptions& options = {}) {
  RaisedModule raised = RaiseFor(module, std::move(kernels), config.target, options);
  return emit(*raised.module, raised.kernels, config);
}

}  // namespace adc::test
