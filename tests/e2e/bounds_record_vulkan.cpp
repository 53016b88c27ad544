// Bounds records on Vulkan, by adrt_run and in the test's own command buffer.

#include "../support/on_vulkan.h"
#include "../support/own_vulkan.h"
#include "bounds_record_cases.h"

using namespace adc;
using namespace adc::test;

TEST_CASE("nothing runs where a bound has changed, on Vulkan", "[vulkan]") {
  OnVulkan device(kRecords, true);
  CheckNothingRuns(device);
}

TEST_CASE("what a bounds record must be, on Vulkan", "[vulkan]") {
  OnVulkan device(kRecords, true);
  CheckRecordArguments(device);
}

TEST_CASE("bounds records follow updates of plans, on Vulkan", "[vulkan]") {
  OnVulkan device(kRecords, true);
  CheckRecordUpdates(device);
}

TEST_CASE("kernel and gradient in one command buffer, with a record between them, on Vulkan", "[vulkan]") {
  OwnVulkan device(kRecords, true);
  CheckRecordsInQueue(device, device);
}
