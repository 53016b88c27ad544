// A pass may change how a kernel computes, never what: random kernels give the same bits before and after.

#include "../support/random_kernel.h"
#include "driver/pipeline.h"
#include "interp/interpreter.h"
#include "ir/module.h"
#include "transform/isolate_tasks.h"
#include "transform/memory_to_registers.h"
#include "transform/scalarise.h"
#include "transform/simplify.h"
#include "transform/unroll.h"
#include "transform_support.h"

using namespace adc;        // NOLINT
using namespace adc::test;  // NOLINT

namespace {

constexpr int64_t kExtent = 5;

/// Arguments for RandomKernel: fixed numbers, the same for every run of one seed.
interp::Arguments RandomArguments(const ir::Module& module, const ir::Function& kernel) {
  interp::Arguments arguments = interp::MakeArguments(module, kernel);
  uint32_t number = 1;
  for (size_t n = 0; n < arguments.list.size(); ++n) {
    ir::Type type = kernel.TypeOf(kernel.Params()[n]);
    if (!type.IsBuffer()) {
      arguments[n] = interp::NumberArgument(type, type.IsFloat() ? 0.625 : 3);
      continue;
    }
    if (type.count == 0) continue;
    arguments[n].tensor = interp::Tensor::Zeros(type.Element(), {kExtent});
    for (int64_t at = 0; at < arguments[n].tensor.ScalarCount(); ++at) {
      number = number * 1103515245u + 12345u;
      double value = static_cast<double>((number >> 16) % 2001) / 1000.0 - 1.0;
      arguments[n].tensor.Set(at, type.IsFloat() ? value : static_cast<double>((number >> 16) % 19) - 6.0);
    }
  }
  return arguments;
}

interp::Arguments RunKernel(const ir::Module& module, const ir::Function& kernel) {
  interp::Arguments arguments = RandomArguments(module, kernel);
  interp::RunResult result = interp::Run(module, kernel, arguments);
  INFO(ir::Print(module));
  INFO(result.error.text);
  REQUIRE(result.Ok());
  return arguments;
}

using Pass = std::function<bool(ir::Module&, diag::Diagnostics&)>;

/// `tolerance` 0 asks for the same bits.
void CheckClose(const interp::Tensor& before, const interp::Tensor& after, double tolerance) {
  if (tolerance == 0.0 || before.data.empty()) {
    REQUIRE(before == after);
    return;
  }
  for (int64_t at = 0; at < before.ScalarCount(); ++at)
    REQUIRE(after.Get(at) == Approx(before.Get(at)).epsilon(tolerance).margin(tolerance));
}

void CheckSame(const RandomKernelConfig& config, uint64_t seeds, const Pass& pass, double tolerance = 0.0) {
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    std::string text = RandomKernel(seed, config);
    auto parsed = Parse(text);
    interp::Arguments before = RunKernel(*parsed->module, parsed->Kernel("random"));
    bool done = pass(*parsed->module, parsed->diagnostics);
    INFO("seed " << seed);
    INFO(text);
    INFO(parsed->Errors());
    REQUIRE(done);
    CheckValid(*parsed);
    const ir::Function& kernel = parsed->Kernel("random");
    interp::Arguments after = RunKernel(*parsed->module, kernel);
    INFO(ir::Print(*parsed->module));
    for (size_t n = 0; n < before.list.size(); ++n) {
      INFO("parameter " << parsed->module->Text(kernel[kernel.Params()[n]].name));
      CheckClose(before[n].tensor, after[n].tensor, tolerance);
    }
  }
}

const Pass kSimplify = [](ir::Module& module, diag::Diagnostics& diagnostics) {
  return transform::Simplify(module, {}, diagnostics);
};
const Pass kShape = [](ir::Module& module, diag::Diagnostics& diagnostics) {
  return driver::Normalise(module, diagnostics);
};

}  // namespace

TEST_CASE("Simplify keeps every bit of random kernels") {
  CheckSame({.differentiable = false}, 150, kSimplify);
  CheckSame({.scalar = "f32", .statements = 6, .depth = 5}, 100, kSimplify);
}

TEST_CASE("Promotion and unrolling keep every bit of random kernels") {
  CheckSame({.differentiable = false}, 100, [](ir::Module& module, diag::Diagnostics& diagnostics) {
    return transform::Unroll(module, {.small = true}, diagnostics) &&
           transform::MemoryToRegisters(module, {}, diagnostics);
  });
}

TEST_CASE("The whole sequence keeps every bit of random kernels, over several tasks too") {
  CheckSame({.differentiable = false}, 100, kShape);
  CheckSame({.scalar = "f32", .statements = 8, .tasks = 3}, 100, kShape);
}

TEST_CASE("Vectors taken apart compute what whole ones do") {
  // Sums of whole vectors may be rounded in another order.
  CheckSame({.vectors = true}, 100, kShape, 1e-12);
  CheckSame(
      {.arrays = false, .vectors = true}, 50,
      [](ir::Module& module, diag::Diagnostics& diagnostics) {
        return transform::Scalarise(module, {}, diagnostics);
      },
      1e-12);
}

TEST_CASE("Simplifying again changes nothing more") {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    auto parsed = Parse(RandomKernel(seed, {.differentiable = false}));
    REQUIRE(transform::Simplify(*parsed->module, {.rounds = 12}, parsed->diagnostics));
    std::string once = ir::Print(*parsed->module);
    REQUIRE(transform::Simplify(*parsed->module, {.rounds = 12}, parsed->diagnostics));
    INFO("seed " << seed);
    REQUIRE(ir::Print(*parsed->module) == once);
  }
}

TEST_CASE("Shaping twice from the same text gives the same text") {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    std::string text = RandomKernel(seed, {.tasks = 2, .vectors = true});
    auto first = Parse(text), second = Parse(text);
    REQUIRE(driver::Normalise(*first->module, first->diagnostics));
    REQUIRE(driver::Normalise(*second->module, second->diagnostics));
    REQUIRE(ir::Print(*first->module) == ir::Print(*second->module));
  }
}
