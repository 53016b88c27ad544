// Launch after launch on Vulkan.

#include "../support/on_vulkan.h"
#include "launches_cases.h"

using namespace adc;
using namespace adc::test;

TEST_CASE("bounds that change from launch to launch, on Vulkan", "[row:N2][row:S6][row:C1][vulkan]") {
  OnVulkan device(kBounds);
  CheckChangingBounds(device);
}

TEST_CASE("sizes are computed again where the caller says so, on Vulkan", "[row:S2][row:S6][vulkan]") {
  OnVulkan device(kBounds);
  CheckVersions(device);
}

TEST_CASE("two kernels with equal stacks keep their sizes apart, on Vulkan", "[row:S3][vulkan]") {
  OnVulkan device(kBounds);
  CheckTwoKernels(device);
}
