// Launch after launch on the CPU.

#include "../support/on_cpu.h"
#include "launches_cases.h"

using namespace adc;
using namespace adc::test;

TEST_CASE("bounds that change from launch to launch", "[row:N2][row:S6][row:C1]") {
  OnCpu device(kBounds, 2);
  CheckChangingBounds(device);
}

TEST_CASE("sizes are computed again where the caller says so", "[row:S2][row:S6]") {
  OnCpu device(kBounds, 2);
  CheckVersions(device);
}

TEST_CASE("two kernels with equal stacks keep their sizes apart", "[row:S3]") {
  OnCpu device(kBounds, 2);
  CheckTwoKernels(device);
}
