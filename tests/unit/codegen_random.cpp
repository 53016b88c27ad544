// Random kernels, and their gradients, as machine code and in the interpreter: the same numbers.

#include <catch2/catch.hpp>
#include <cmath>

#include "../support/random_arguments.h"
#include "../support/random_kernel.h"
#include "adstack/lower.h"
#include "autodiff/accumulate.h"
#include "autodiff/reverse.h"
#include "codegen_support.h"
#include "driver/pipeline.h"
#include "interp/interpreter.h"
#include "ir/module.h"
#include "ir/number.h"
#include "parse/parser.h"

namespace {

using namespace adc;
using namespace adc::codegen_tests;

constexpr int64_t kExtent = 7;

struct Source {
  explicit Source(const std::string& text) {
    module = parse::ParseText("random.ir", text, {}, sources, diagnostics);
    Check("parse");
  }
  void Check(const char* step) {
    INFO(step << "\n" << diag::PrintDiagnostics(diagnostics, sources, false));
    REQUIRE(!diagnostics.HasErrors());
    REQUIRE(module != nullptr);
  }
  void Shape() {
    driver::Normalise(*module, diagnostics);
    Check("shape");
  }
  diag::SourceManager sources;
  diag::Diagnostics diagnostics;
  std::unique_ptr<ir::Module> module;
};

Launch LaunchOf(const ir::Function& kernel, interp::Arguments& arguments) {
  Launch launch;
  for (size_t n = 0; n < kernel.params.size(); ++n) {
    ir::Type type = kernel.TypeOf(kernel.Params()[n]);
    if (!type.IsBuffer()) {
      for (uint64_t bits : arguments[n].bits) launch.cells.push_back(bits);
      continue;
    }
    launch.cells.push_back(reinterpret_cast<uint64_t>(arguments[n].tensor.data.data()));
    for (int64_t extent : arguments[n].tensor.extents) launch.cells.push_back(static_cast<uint64_t>(extent));
  }
  return launch;
}

/// A parallel task is cut at odd places; a serial one runs once.
void RunTasks(const ir::Function& kernel, const codegen::TargetCode& code, size_t number,
              const LoadedImage& image, Launch& launch, const std::vector<adstack::TaskPlan>& plans) {
  (void)kernel;
  for (size_t task = 0; task < code.entries[number].size(); ++task) {
    std::vector<unsigned char> heap;
    launch.adstack.clear();
    bool parallel = task < plans.size() && plans[task].kind == artifact::TaskKind::kParallel;
    if (task < plans.size()) {
      // Every stack gets 64 elements of 8 bytes; rows follow one another.
      uint64_t stacks = 0;
      for (const auto& stack : plans[task].stacks) stacks += stack.storage == artifact::Storage::kRow;
      uint64_t stride = stacks * 512, groups = plans[task].groups.size();
      for (uint64_t group = 0; group < groups; ++group)
        launch.adstack.insert(launch.adstack.end(), {group * stride * 2, stride});
      for (uint64_t stack = 0; stack < stacks; ++stack)
        launch.adstack.insert(launch.adstack.end(), {stack * 512, 64});
      heap.resize(groups * stride * 2 + 64);
      launch.heap = heap.data() + (64 - reinterpret_cast<uintptr_t>(heap.data()) % 64) % 64;
    }
    auto entry = image.Entry(code.entries[number][task].symbol);
    uint64_t total = parallel ? kExtent : 1;
    for (uint64_t begin = 0; begin < total; begin += 3)
      launch.Run(entry, begin, std::min(begin + 3, total), 1);
  }
}

void CheckSeed(uint64_t seed, const test::RandomKernelConfig& config, bool gradient,
               const target::Target& target, uint32_t optimise) {
  std::string text = test::RandomKernel(seed, config);
  Source source(text);
  Source original(text);
  source.Shape();
  ir::Function* kernel = source.module->Find("random");
  if (gradient) {
    kernel = autodiff::DeriveReverse(*source.module, *kernel, {}, source.diagnostics);
    source.Check("reverse");
    REQUIRE(kernel != nullptr);
    autodiff::DecideAccumulation(*source.module, *kernel);
  }
  // The oracle: the source as written, or the gradient before its adstacks become memory.
  const ir::Module& oracle_module = gradient ? *source.module : *original.module;
  const ir::Function& oracle = gradient ? *kernel : *original.module->Find("random");
  interp::Arguments want = test::RandomArguments(oracle_module, oracle, seed, kExtent);
  interp::RunResult result = interp::Run(oracle_module, oracle, want);
  INFO("seed " << seed << "\n" << text);
  INFO(result.error.text);
  REQUIRE(result.Ok());
  interp::Arguments got = test::RandomArguments(*source.module, *kernel, seed, kExtent);
  source.module->phase = ir::Phase::Differentiated;
  adstack::AdstackPlan plan = adstack::PlanAdstacks(*source.module, *kernel, {}, source.diagnostics);
  adstack::LowerAdstacks(*source.module, *kernel, plan, source.diagnostics);
  source.Check("lower");
  source.module->phase = ir::Phase::Lowered;
  codegen::KernelToEmit what{kernel, {}};
  for (const adstack::TaskPlan& task : plan.tasks) {
    codegen::TaskRows rows{.groups = static_cast<uint32_t>(task.groups.size())};
    uint32_t position = 0;
    for (const auto& stack : task.stacks)
      rows.row_position.push_back(stack.storage == artifact::Storage::kRow ? position++ : ir::kNoAttr);
    what.tasks.push_back(rows);
  }
  auto code = test::EmitRaised(codegen::EmitCpu, *source.module, {what}, ConfigFor(target, optimise));
  REQUIRE(code.Ok());
  LoadedImage image(ImageOf(*code));
  INFO(image.Error());
  REQUIRE(image.Ok());
  REQUIRE(plan.tasks.size() == code->entries[0].size());
  Launch launch = LaunchOf(*kernel, got);
  RunTasks(*kernel, *code, 0, image, launch, plan.tasks);
  CHECK(launch.status[0] == 0);
  // Sums over iterations are made in another order.
  got.list.resize(want.list.size());
  CHECK(test::LargestDifference(want, got) < (config.scalar == "f32" ? 2e-5 : 1e-12));
}

}  // namespace

TEST_CASE("random kernels compute in machine code what the interpreter computes") {
  std::vector<target::Target> targets = RunnableTargets();
  for (uint64_t seed = 0; seed < 90; ++seed) {
    test::RandomKernelConfig config;
    config.scalar = seed % 3 == 0 ? "f32" : "f64";
    config.vectors = seed % 2 == 0;
    config.tasks = 1 + static_cast<uint32_t>(seed % 3);
    config.differentiable = false;
    CheckSeed(seed, config, false, targets[seed % targets.size()], static_cast<uint32_t>(seed % 4));
  }
}

TEST_CASE("gradients of random kernels compute in machine code what the interpreter computes") {
  std::vector<target::Target> targets = RunnableTargets();
  for (uint64_t seed = 0; seed < 60; ++seed) {
    test::RandomKernelConfig config;
    config.scalar = seed % 3 == 0 ? "f32" : "f64";
    config.vectors = seed % 2 == 0;
    CheckSeed(seed, config, true, targets[seed % targets.size()], static_cast<uint32_t>(seed % 4));
  }
}
