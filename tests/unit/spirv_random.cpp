// Random kernels, and their gradients, on a Vulkan device and in the interpreter: the same numbers, whether
// buffers are reached through descriptors or through device addresses.

#include <cmath>
#include <iostream>

#include "../support/random_kernel.h"
#include "interp/interpreter.h"
#include "spirv_runner.h"
#include "spirv_support.h"

namespace {

using namespace adc;
using namespace adc::test;

constexpr int64_t kExtent = 77;
constexpr uint64_t kStackBytes = 8192, kLanes = 32;

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

/// Largest difference relative to the larger of 1 and the number.
double Difference(const interp::Arguments& a, const interp::Arguments& b) {
  double worst = 0;
  for (size_t n = 0; n < a.list.size(); ++n) {
    if (a[n].tensor.data.empty()) continue;
    for (int64_t k = 0; k < a[n].tensor.ScalarCount(); ++k) {
      double x = a[n].tensor.Get(k), y = b[n].tensor.Get(k);
      if (std::isnan(x) && std::isnan(y)) continue;
      double difference = std::fabs(x - y) / std::max(1.0, std::fabs(x));
      worst = std::isnan(difference) ? INFINITY : std::max(worst, difference);
    }
  }
  return worst;
}

/// Runs every task of `kernel` on the device; `threads` take part.
void RunKernel(VulkanRunner& runner, const LoweredKernel& kernel,
               const std::vector<codegen::EntryCode>& entries, interp::Arguments& arguments, bool near,
               uint64_t threads) {
  runner.Reset();
  std::vector<uint64_t> cells;
  std::vector<VulkanRunner::Range> places;
  for (size_t n = 0; n < kernel.kernel->params.size(); ++n) {
    if (!kernel.kernel->TypeOf(kernel.kernel->Params()[n]).IsBuffer()) {
      cells.insert(cells.end(), arguments[n].bits.begin(), arguments[n].bits.end());
      places.push_back({});
      continue;
    }
    const auto& data = arguments[n].tensor.data;
    places.push_back({runner.Take(data.size()), data.size()});
    std::memcpy(runner.At(places.back().place), data.data(), data.size());
    cells.push_back(runner.AddressOf(places.back().place));
    for (int64_t extent : arguments[n].tensor.extents) cells.push_back(static_cast<uint64_t>(extent));
  }
  uint64_t status = runner.Take(64);
  REQUIRE(kernel.plan.tasks.size() == entries.size());
  for (size_t number = 0; number < entries.size(); ++number) {
    const adstack::TaskPlan& task = kernel.plan.tasks[number];
    const codegen::EntryCode& entry = entries[number];
    bool parallel = task.kind == artifact::TaskKind::kParallel;
    uint64_t stacks = 0, groups = task.groups.size();
    for (const auto& stack : task.stacks) stacks += stack.storage == artifact::Storage::kRow;
    uint64_t rows = (threads + kLanes - 1) / kLanes * kLanes, stride = stacks * kStackBytes;
    uint64_t heap = runner.Take(256 + groups * stride * rows);
    std::memset(runner.At(heap), 0, 256);
    std::vector<uint64_t> words = cells;
    for (uint64_t group = 0; group < groups; ++group)
      words.insert(words.end(), {256 + group * stride * rows, stride, rows, group * 4});
    for (uint64_t stack = 0; stack < stacks; ++stack)
      words.insert(words.end(), {stack * kStackBytes, kStackBytes / 8});
    uint64_t total = parallel ? kExtent : 1, taking_part = parallel ? threads : 1;
    words.insert(words.end(), {runner.AddressOf(heap), runner.AddressOf(status), total, taking_part});
    std::vector<VulkanRunner::Range> ranges;
    for (const codegen::Binding& binding : entry.bindings) {
      if (near) ranges.push_back(places[binding.param]);
    }
    uint64_t blocks = (taking_part + entry.block_size - 1) / entry.block_size;
    runner.Run(near ? entry.symbol : entry.far_symbol, ranges, words, static_cast<uint32_t>(blocks));
  }
  uint32_t report[16];
  std::memcpy(report, runner.At(status), sizeof report);
  INFO("task " << report[1] << " index " << report[2] << " needed " << report[4] << " iteration "
               << report[6]);
  CHECK(report[0] == 0);
  for (size_t n = 0; n < places.size(); ++n) {
    auto& data = arguments[n].tensor.data;
    if (!data.empty()) std::memcpy(data.data(), runner.At(places[n].place), data.size());
  }
}

void CheckSeed(VulkanRunner& runner, uint64_t seed, const RandomKernelConfig& config, bool gradient) {
  std::string text = RandomKernel(seed, config);
  LowerConfig lower;
  lower.derive = gradient;
  lower.plan.lanes = kLanes;
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
      RunKernel(runner, kernel, module.code.entries[n], got, near, near ? 5 : 200);
      got.list.resize(want.list.size());
      INFO((near ? "near" : "far"));
      CHECK(Difference(want, got) < (config.scalar == "f32" ? 5e-5 : 1e-12));
    }
  }
}

VulkanRunner* Runner() {
  VulkanRunner* runner = VulkanRunner::Get();
  if (runner == nullptr) std::cerr << "SKIPPED: no Vulkan device here, so that no kernel is run\n";
  return runner;
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
