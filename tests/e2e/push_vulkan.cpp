// The push test's gradient on Vulkan, in f64 and in f32.

#include "../support/folders.h"
#include "../support/on_vulkan.h"
#include "push_cases.h"

using namespace adc;
using namespace adc::test;

TEST_CASE("the gradient of the push test's grid step, and its rows, on Vulkan", "[push][vulkan]") {
  std::string exact = adc::test::F64SamplesFolder() + "/mpm_grid_op.ir";
  std::string single = adc::test::SamplesFolder() + "/mpm_grid_op.ir";
  OnVulkan wide(exact), narrow(single);
  for (const Push& push : Pushes(1)) {
    Push doubled = push;  // rows of f64
    doubled.row_limit *= 2;
    doubled.heap_limit *= 2;
    CheckPush(wide, doubled, exact, 1e-10);
    CheckPush(narrow, push, single, 1e-3);
  }
}
