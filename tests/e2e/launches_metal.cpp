// Launch after launch on Metal source that the host runs.

#include "../support/on_metal.h"
#include "launches_cases.h"

using namespace adc;
using namespace adc::test;

TEST_CASE("bounds that change from launch to launch, on Metal", "[row:N2][row:S6][row:C1][metal]") {
  OnMetal device(kBounds);
  CheckChangingBounds(device);
}

TEST_CASE("sizes are computed again where the caller says so, on Metal", "[row:S2][row:S6][metal]") {
  OnMetal device(kBounds);
  CheckVersions(device);
}

TEST_CASE("two kernels with equal stacks keep their sizes apart, on Metal", "[row:S3][metal]") {
  OnMetal device(kBounds);
  CheckTwoKernels(device);
}
