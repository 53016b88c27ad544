// The table of passes by itself: what a compilation runs can run, whatever the options.

#include <catch2/catch.hpp>

#include "driver/pipeline.h"
#include "ir/module.h"

using namespace adc;
using driver::Pass;

namespace {

/// Follows the phases of the passes that `options` ask for.
void CheckOrder(const driver::CompileOptions& options) {
  ir::Phase phase = ir::Phase::Parsed;
  auto form = verify::Form::Any;
  const Pass* before = nullptr;
  for (const Pass& pass : driver::Pipeline()) {
    if (pass.wanted != nullptr && !pass.wanted(options)) continue;
    INFO(pass.name);
    CHECK(pass.RunsIn(phase));
    if (before != nullptr && !before->hands_to.empty()) CHECK(before->hands_to == pass.name);
    if (!pass.needs.empty()) CHECK((before != nullptr && before->name == pass.needs));
    // Forms are asked for in the order in which passes lead to them.
    if (phase == ir::Phase::Parsed && pass.name != "simplify") {
      CHECK(pass.form >= form);
      form = pass.form;
    }
    phase = pass.gives.value_or(phase);
    before = &pass;
  }
  CHECK(phase == ir::Phase::Raised);
}

}  // namespace

TEST_CASE("every pass finds the phase and the neighbour that it needs", "[driver]") {
  driver::CompileOptions options;
  CheckOrder(options);
  options.derive.gradient_tangent = options.derive.tangent = true;
  options.deterministic = options.check_writes = true;
  CheckOrder(options);
  options.derive = driver::Derivations();
  options.derive.gradient = false;
  CheckOrder(options);
}

TEST_CASE("rows of one name do the same, and each has a sentence", "[driver]") {
  for (const Pass& pass : driver::Pipeline()) {
    INFO(pass.name);
    const Pass* first = driver::FindPass(pass.name);
    REQUIRE(first != nullptr);
    CHECK(first->run == pass.run);
    CHECK(first->first == pass.first);
    CHECK(first->last == pass.last);
    CHECK(first->gives == pass.gives);
    CHECK_FALSE(pass.summary.empty());
    for (std::string_view other : {pass.hands_to, pass.needs})
      CHECK((other.empty() || driver::FindPass(other) != nullptr));
  }
}
