// Random nests of control, each with checkpoints of another kind, against dual numbers. Longer sweeps:
// ADC_NESTS="FIRST COUNT" adc_unit_autodiff "autodiff: a sweep of random nests".

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "../support/nest_kernel.h"
#include "autodiff_harness.h"

using namespace adc;
using namespace adc::testing;

namespace {

using Which = autodiff::CheckpointConfig::Which;

void Check(uint64_t seed) {
  test::NestKernelConfig config;
  config.scalar = "real";
  config.depth = static_cast<uint32_t>(2 + seed % 3);
  config.statements = static_cast<uint32_t>(2 + seed / 3 % 4);
  config.serial = seed % 7 == 0;
  double infinity = std::numeric_limits<double>::infinity();
  std::map<std::string, Input> inputs{
      {"x", Random({4}, -1.0, 1.0)},
      {"e", Given({4}, {0.0, 0.7, seed % 2 == 0 ? infinity : -infinity, std::nan("")})},
      {"g", Given({4}, {0, 1, 0, 0})},
      {"k", Given({4}, {3, 7, 0, 2})},
      {"y", Random({4}, -1.0, 1.0)},
      {"loss", Zeros({})},
      {"n", Number(static_cast<double>(seed / 5 % 4))},
      {"c", Number(0.37)}};
  CheckOptions options{.f64_tolerance = 1e-8, .f32 = false, .differences = false};
  options.forward = seed % 4 == 0;
  uint32_t length = static_cast<uint32_t>(seed / 11 % 4);
  options.checkpoints.few_trips = 0;
  if (seed % 3 == 1 && length > 0) {
    options.checkpoints = {Which::All, length, 0};
  } else if (seed % 3 == 2) {
    options.checkpoints = {Which::AtLaunch, 0, 0};
  }
  options.segment = static_cast<int32_t>(length);
  CheckDerivatives(test::NestKernel(seed, config), inputs, options);
}

}  // namespace

TEST_CASE("autodiff: random nests") {
  for (uint64_t seed = 1; seed <= 120; ++seed) {
    INFO("seed " << seed);
    Check(seed);
  }
}

TEST_CASE("autodiff: a sweep of random nests", "[.sweep]") {
  const char* range = std::getenv("ADC_NESTS");
  REQUIRE(range != nullptr);
  unsigned long long first = 0, count = 0;
  REQUIRE(std::sscanf(range, "%llu %llu", &first, &count) == 2);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    // Where a defect ends the process, the last line says which seed it was.
    std::fprintf(stderr, "seed %llu\n", static_cast<unsigned long long>(seed));
    INFO("seed " << seed);
    Check(seed);
  }
}
