// On random kernels and their gradients, a search for the first NaN is a plain run, and finds one exactly
// where one comes out.

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "../support/random_kernel.h"
#include "autodiff_harness.h"
#include "interp/find_nan.h"

using namespace adc;
using namespace adc::testing;

namespace {

/// How many searches ended in each way.
struct Ends {
  uint32_t found = 0, left_out = 0, none = 0;
};

/// `outputs`: names of what begins as numbers and is written.
void CheckSearch(const ir::Module& module, const ir::Function& kernel, const interp::Arguments& arguments,
                 const std::vector<std::string>& outputs, bool infinities, Ends& ends) {
  interp::Arguments plain = arguments, watched = arguments;
  interp::RunResult run = interp::Run(module, kernel, plain);
  interp::NanSearch search = interp::FindNan(module, kernel, watched, {.infinities = infinities});
  REQUIRE(run.Ok());
  REQUIRE(search.run.Ok());
  for (size_t n = 0; n < plain.list.size(); ++n) CHECK(plain[n].tensor == watched[n].tensor);
  bool comes_out = false;
  for (const std::string& name : outputs) {
    uint32_t n = interp::ParameterIndex(module, kernel, name);
    if (n == ir::kNoAttr) continue;
    const interp::Tensor& tensor = plain[n].tensor;
    for (int64_t at = 0; at < tensor.ScalarCount(); ++at) {
      double number = tensor.Get(at);
      comes_out = comes_out || (infinities ? !std::isfinite(number) : std::isnan(number));
    }
  }
  bool found = search.first && !search.first->reaches.empty();
  INFO((search.first ? search.first->statement + " reaches " + search.first->reaches : "nothing"));
  CHECK(found == comes_out);
  ++(found ? ends.found : search.first ? ends.left_out : ends.none);
}

}  // namespace

TEST_CASE("autodiff: searches for the first NaN in random kernels and gradients") {
  Ends ends, of_gradients;
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    INFO("seed " << seed);
    test::RandomKernelConfig config;
    config.scalar = "real";
    config.vectors = seed % 2 == 0;
    config.tasks = seed % 3 == 0 ? 3 : 1;
    std::string text = test::RandomKernel(seed, config);
    std::map<std::string, Input> inputs = {{"x", Random({4}, -1.0, 1.0)},
                                           {"w", Random({4}, -1.0, 1.0)},
                                           {"p", Random({4}, -1.0, 1.0)},
                                           {"k", Given({4}, {3, 7, 0, 12})},
                                           {"y", Random({4}, -1.0, 1.0)},
                                           {"z", Given({4}, {1, 2, 3, 4})},
                                           {"loss", Zeros({})},
                                           {"n", Number(3)},
                                           {"c", Number(0.37)}};
    double special = seed % 5 == 0   ? std::numeric_limits<double>::quiet_NaN()
                     : seed % 5 == 1 ? std::numeric_limits<double>::infinity()
                     : seed % 5 == 2 ? 1e300
                                     : 0.0;
    if (seed % 5 != 4) inputs["x"] = Given({4}, {0.5, special, -0.25, 0.0});
    Compiled primal = Parse(text, "f64");
    const ir::Function& kernel = *primal.module->functions.back();
    interp::Arguments arguments = Bind(*primal.module, kernel, inputs);
    for (bool infinities : {false, true})
      CheckSearch(*primal.module, kernel, arguments, {"y", "loss"}, infinities, ends);
    Compiled gradient = Gradient(text, "f64");
    REQUIRE(gradient.derived != nullptr);
    interp::Arguments derived = interp::MakeDerivedArguments(*gradient.module, *gradient.derived, arguments);
    for (const char* seeded : {"y.adj", "loss.adj"}) {
      interp::Tensor& tensor =
          derived[interp::ParameterIndex(*gradient.module, *gradient.derived, seeded)].tensor;
      for (int64_t at = 0; at < tensor.ScalarCount(); ++at) tensor.Set(at, 1.0 + static_cast<double>(at));
    }
    for (bool infinities : {false, true}) {
      CheckSearch(*gradient.module, *gradient.derived, derived,
                  {"x.adj", "w.adj", "p.adj", "y.adj", "loss.adj", "c.adj"}, infinities, of_gradients);
    }
  }
  CHECK(std::min({ends.found, ends.left_out, ends.none}) > 0);
  CHECK(std::min({of_gradients.found, of_gradients.left_out, of_gradients.none}) > 0);
}
