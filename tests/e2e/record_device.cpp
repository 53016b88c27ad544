// Counting and launching, recorded into a command buffer of the caller's own.

#include "../support/on_cpu.h"
#include "../support/own_device.h"
#include "promise_cases.h"
#include "record_cases.h"
#include "sequence_cases.h"

using namespace adc;
using namespace adc::test;

TEST_CASE("recorded counts settle a plan", "[record]") {
  OwnDevice device(waves_file);
  OnCpu cpu(waves_file, 2);
  CheckRecordedCounts(device, device, cpu);
}

TEST_CASE("recorded counts choose checkpoints within a budget", "[record]") {
  OwnDevice device(waves_file);
  OnCpu cpu(waves_file, 2);
  CheckRecordedCheckpoints(device, device, cpu);
}

TEST_CASE("recorded counts say how many rows there are", "[record]") {
  OwnDevice device(waves_file);
  OnCpu cpu(waves_file, 2);
  CheckRecordedRows(device, device, cpu);
}

TEST_CASE("a recorded launch that overflows says so in its status block", "[record]") {
  OwnDevice device(waves_file);
  OnCpu cpu(waves_file, 2);
  CheckRecordedOverflow(device, device, cpu);
}

TEST_CASE("recorded counts say how often a loop runs", "[record]") {
  OwnDevice device(waves_file);
  OnCpu cpu(waves_file, 2);
  CheckRecordedTrips(device, device, cpu);
}

TEST_CASE("bounds that code has counted and that move on the queue", "[record]") {
  OwnDevice device(waves_file);
  CheckRecordedMoves(device, device);
}

TEST_CASE("recorded counts check promises", "[record]") {
  OwnDevice device(adc::test::TestsFolder() + "/rows/promises.ir");
  CheckRecordedPromises(device, device);
}

#if defined(ADC_TEST_ON_VULKAN)
TEST_CASE("code without device addresses runs where its descriptors are not pushed", "[record]") {
  OwnVulkan device(waves_file, false, "vulkan:1.2-near", false);
  OnCpu cpu(waves_file, 2);
  CheckRecordedCounts(device, device, cpu);
  CheckRecordedRows(device, device, cpu);
  CheckRecordedOverflow(device, device, cpu);
}

TEST_CASE("a status block that no descriptor reaches is refused by name", "[record]") {
  OwnVulkan device(waves_file, false, "vulkan:1.2-near");
  CheckOddStatus(device, device);
}
#endif

#if !defined(ADC_TEST_ON_PREPARED)  // its kernels are made when it runs
TEST_CASE("whatever came before, a plan is as a fresh one", "[sequence]") {
  CheckSequences(
      [](const std::string& path, Recorder** recorder) {
        auto device = std::make_unique<OwnDevice>(path);
        *recorder = device.get();
        return device;
      },
      20);
}
#endif
