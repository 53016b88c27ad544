// Launch after launch.

#include "../support/this_device.h"
#include "guard_inputs.h"
#include "guard_moved.h"
#include "launches_cases.h"
#include "words_cases.h"

using namespace adc;
using namespace adc::test;

TEST_CASE("bounds that change from launch to launch", "[row:N2][row:S6][row:C1]") {
  ThisDevice device(kBounds);
  CheckChangingBounds(device);
}

TEST_CASE("sizes are computed again where the caller says so", "[row:S2][row:S6]") {
  ThisDevice device(kBounds);
  CheckVersions(device);
}

#if defined(ADC_TEST_ON_HIP)  // guard_device.cpp runs it elsewhere
TEST_CASE("iterations whose bounds have moved are not run") {
  PassingFile file(moved_kernel);
  ThisDevice device(file.path);
  CheckMovedBounds(device, file.path);
}
#endif

#if !defined(ADC_TEST_ON_PREPARED)  // tests/gpu/cases.cpp has it
TEST_CASE("a launch hands over any number of words") {
  PassingFile file(WordsText());
  ThisDevice device(file.path);
#if defined(ADC_TEST_ON_METAL)  // hands over no more
  CheckEdge(device, file.path, kEdges[0]);
#else
  CheckWords(device, file.path);
#endif
}
#endif

TEST_CASE("two kernels with equal stacks keep their sizes apart", "[row:S3]") {
  ThisDevice device(kBounds);
  CheckTwoKernels(device);
}
