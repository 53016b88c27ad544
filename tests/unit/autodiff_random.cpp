// Random kernels: reverse and forward mode against dual numbers, and against differences where kinks are left
// out.

#include <catch2/catch.hpp>

#include "../support/random_kernel.h"
#include "autodiff_harness.h"
#include "ir/module.h"

using namespace adc;
using namespace adc::testing;

namespace {

std::map<std::string, Input> Inputs() {
  return {{"x", Random({4}, -1.0, 1.0)}, {"w", Random({4}, -1.0, 1.0)},
          {"p", Random({4}, -1.0, 1.0)}, {"k", Given({4}, {3, 7, 0, 12})},
          {"y", Random({4}, -1.0, 1.0)}, {"z", Given({4}, {1, 2, 3, 4})},
          {"loss", Zeros({})},           {"n", Number(3)},
          {"c", Number(0.37)},           {"s", Zeros({4, test::kStoreSites, test::kStoreTurns})}};
}

void Sweep(uint64_t first, uint64_t count, test::RandomKernelConfig config, const CheckOptions& options) {
  config.scalar = "real";
  for (uint64_t seed = first; seed < first + count; ++seed) {
    INFO("seed " << seed);
    CheckDerivatives(test::RandomKernel(seed, config), Inputs(), options);
  }
}

}  // namespace

TEST_CASE("autodiff: random kernels") {
  test::RandomKernelConfig config;
  Sweep(1, 120, config, {.f64_tolerance = 1e-8, .f32 = false, .differences = false});
}

TEST_CASE("autodiff: random kernels of several tasks, with vectors") {
  test::RandomKernelConfig config;
  config.tasks = 3;
  config.vectors = true;
  Sweep(1000, 60, config, {.f64_tolerance = 1e-8, .f32 = false, .differences = false});
}

TEST_CASE("autodiff: random smooth kernels against differences, and their second derivatives") {
  test::RandomKernelConfig config;
  config.smooth = true;
  Sweep(2000, 60, config,
        {.f64_tolerance = 1e-8, .f32 = false, .difference_tolerance = 1e-5, .second = true});
}

TEST_CASE("autodiff: deeply nested random kernels") {
  test::RandomKernelConfig config;
  config.depth = 5;
  config.statements = 6;
  Sweep(3000, 40, config, {.f64_tolerance = 1e-8, .f32 = false, .differences = false});
}

TEST_CASE("autodiff: random kernels that keep values in a writeonce buffer") {
  test::RandomKernelConfig config;
  config.stores_values = true;
  config.statements = 8;
  Sweep(4000, 120, config, {.f64_tolerance = 1e-8, .f32 = false, .differences = false});
  // No kernel loads %s: where its gradient does, a value is read again.
  uint32_t reading = 0;
  config.scalar = "f64";
  for (uint64_t seed = 4000; seed < 4120; ++seed) {
    Compiled gradient = Gradient(test::RandomKernel(seed, config), "f64");
    reading += ir::Print(*gradient.module, *gradient.derived).find("load %s[") != std::string::npos ? 1 : 0;
  }
  CHECK(reading > 30);
}
