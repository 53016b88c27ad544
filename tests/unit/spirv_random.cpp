// Random kernels, and their gradients, on a Vulkan device and in the interpreter: the same numbers, whether
// buffers are reached through descriptors or through device addresses.

#include "../support/random_kernel.h"
#include "spirv_kernel.h"

namespace {

using namespace adc;
using namespace adc::test;

constexpr int64_t kExtent = 77;

/// Fills the arguments of the random kernel, or of one derived from it, with numbers from the seed.
interp::Arguments Arguments(const ir::Module& module, const ir::Function& kernel, uint64_t seed) {
  interp::Arguments arguments = interp::MakeArguments(module, kernel);
  uint64_t state = seed * 77 + 5;
  auto number = [&] {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<double>(static_cast<int64_t>(state >> 33) % 2000) / 1000.0 - 0.5;
  };
  for (size_t n = 0; n < kernel.params.size(); ++n) {
    ir::Type type = kernel.TypeOf(kernel.Params()[n]);
    if (!type.IsBuffer()) {
      arguments[n] = interp::NumberArgument(type, type.IsFloat() ? number() : 3);
      continue;
    }
    bool scratch = kernel.params[n].role == ir::ParamRole::Scratch;
    arguments[n].tensor = interp::Tensor::Zeros(type.Element(), std::vector<int64_t>(type.count, kExtent));
    for (int64_t k = 0; k < arguments[n].tensor.ScalarCount() && !scratch; ++k)
      arguments[n].tensor.Set(k, ir::IsFloat(type.scalar) ? number() : std::floor(number() * 8));
  }
  return arguments;
}

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
    REQUIRE(transform::ShapeForDifferentiation(*oracle_module, {}, diagnostics));
    oracle = autodiff::DeriveReverse(*oracle_module, *oracle_module->Find("random"), {}, diagnostics);
    REQUIRE(oracle != nullptr);
  }
  interp::Arguments want = Arguments(*oracle_module, *oracle, seed);
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
      interp::Arguments got = Arguments(*lowered->module, *kernel.kernel, seed);
      RunStatus status = RunKernel(runner, kernel, module.code.entries[n], got, near,
                                   {.iterations = {kExtent}, .threads = near ? 5u : 200u});
      CHECK(status.code == 0);
      got.list.resize(want.list.size());
      INFO((near ? "near" : "far"));
      CHECK(Difference(want, got) < (config.scalar == "f32" ? 5e-5 : 1e-12));
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
