// The push test's gradient on Metal source that the host runs.

#include "../support/folders.h"
#include "../support/on_metal.h"
#include "push_cases.h"

using namespace adc;
using namespace adc::test;

TEST_CASE("the gradient of the push test's grid step, and its rows, on Metal", "[push][metal]") {
  std::string path = adc::test::SamplesFolder() + "/mpm_grid_op.ir";
  OnMetal device(path);
  for (const Push& push : Pushes(1)) CheckPush(device, push, path, 1e-3);
}
