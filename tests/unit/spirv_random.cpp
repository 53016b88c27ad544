// Random kernels, and their gradients, on a Vulkan device and in the interpreter: the same numbers, whether
// buffers are reached through descriptors or through device addresses.

#include "../support/random_arguments.h"
#include "../support/random_kernel.h"
#include "driver/pipeline.h"
#include "ir/module.h"
#include "spirv_kernel.h"

namespace {

using namespace adc;
using namespace adc::test;

constexpr int64_t kExtent = 77;

void CheckSeed(VulkanRunner& runner, uint64_t seed, const RandomKernelConfig& config, bool gradient) {
  std::string text = RandomKernel(seed, config);
  LowerConfig lower;
  lower.derive = gradient;
  lower.plan.lanes = kRowLanes;
  auto lowered = LowerText(text, lower);
  // The oracle: the source as written, or the gradient before its adstacks become memory.
  diag::SourceManager sources;
  diag::Diagnostics diagnostics;
  auto oracle_module = parse::ParseText("random.ir", text, {}, sources, diagnostics);
  REQUIRE(oracle_module != nullptr);
  const ir::Function* oracle = oracle_module->Find("random");
  if (gradient) {
    REQUIRE(driver::Normalise(*oracle_module, diagnostics));
    oracle = autodiff::DeriveReverse(*oracle_module, *oracle_module->Find("random"), {}, diagnostics);
    REQUIRE(oracle != nullptr);
  }
  interp::Arguments want = RandomArguments(*oracle_module, *oracle, seed, kExtent);
  interp::RunResult result = interp::Run(*oracle_module, *oracle, want);
  INFO("seed " << seed << "\n" << text);
  INFO(result.error.text);
  REQUIRE(result.Ok());
  codegen::CodeConfig code_config = SpirvConfig(
      seed % 2 == 0 || config.scalar == "f64" ? "vulkan:1.2" : "vulkan:1.3", seed % 3 == 0 ? 0 : 2);
  SpirvModule module = SpirvFor(*lowered, code_config);
  runner.LoadModule(module.words);
  for (size_t n = 0; n < lowered->kernels.size(); ++n) {
    const LoweredKernel& kernel = lowered->kernels[n];
    if (lowered->module->Text(kernel.kernel->name) != (gradient ? "random.grad" : "random")) continue;
    for (bool near : {true, false}) {
      interp::Arguments got = RandomArguments(*lowered->module, *kernel.kernel, seed, kExtent);
      RunStatus status = RunKernel(runner, kernel, module.code.entries[n], got, near,
                                   {.iterations = {kExtent}, .threads = near ? 5u : 200u});
      CHECK(status.code == 0);
      got.list.resize(want.list.size());
      INFO((near ? "near" : "far"));
      CHECK(LargestDifference(want, got) < (config.scalar == "f32" ? 5e-5 : 1e-12));
    }
  }
}

}  // namespace

TEST_CASE("random kernels compute on Vulkan what the interpreter computes") {
  VulkanRunner* runner = Runner();
  if (runner == nullptr) return;
  for (uint64_t seed = 0; seed < 30; ++seed) {
    RandomKernelConfig config;
    config.scalar = seed % 3 == 0 ? "f64" : "f32";
    config.vectors = seed % 2 == 0;
    config.tasks = 1 + static_cast<uint32_t>(seed % 3);
    config.differentiable = false;
    CheckSeed(*runner, seed, config, false);
  }
}

TEST_CASE("gradients of random kernels compute on Vulkan what the interpreter computes") {
  VulkanRunner* runner = Runner();
  if (runner == nullptr) return;
  for (uint64_t seed = 0; seed < 30; ++seed) {
    RandomKernelConfig config;
    config.scalar = seed % 3 == 0 ? "f64" : "f32";
    config.vectors = seed % 2 == 0;
    CheckSeed(*runner, seed, config, true);
  }
}
