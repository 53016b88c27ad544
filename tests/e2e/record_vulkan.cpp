// Counting and launching, recorded into a Vulkan command buffer of the caller's own.

#include "../support/on_cpu.h"
#include "../support/own_vulkan.h"
#include "record_cases.h"

using namespace adc;
using namespace adc::test;

TEST_CASE("recorded counts settle a plan, on vulkan", "[record][vulkan]") {
  OwnVulkan device(waves_file);
  OnCpu cpu(waves_file, 2);
  CheckRecordedCounts(device, device, cpu);
}

TEST_CASE("recorded counts choose checkpoints within a budget, on vulkan", "[record][vulkan]") {
  OwnVulkan device(waves_file);
  OnCpu cpu(waves_file, 2);
  CheckRecordedCheckpoints(device, device, cpu);
}

TEST_CASE("recorded counts say how many rows there are, on vulkan", "[record][vulkan]") {
  OwnVulkan device(waves_file);
  OnCpu cpu(waves_file, 2);
  CheckRecordedRows(device, device, cpu);
}

TEST_CASE("a recorded launch that overflows says so in its status block, on vulkan", "[record][vulkan]") {
  OwnVulkan device(waves_file);
  OnCpu cpu(waves_file, 2);
  CheckRecordedOverflow(device, device, cpu);
}

TEST_CASE("recorded counts say how often a loop runs, on vulkan", "[record][vulkan]") {
  OwnVulkan device(waves_file);
  OnCpu cpu(waves_file, 2);
  CheckRecordedTrips(device, device, cpu);
}
