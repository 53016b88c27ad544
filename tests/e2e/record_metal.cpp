// Counting and launching, recorded into a Metal command buffer of the caller's own.

#include "../support/on_cpu.h"
#include "../support/own_metal.h"
#include "record_cases.h"

using namespace adc;
using namespace adc::test;

TEST_CASE("recorded counts settle a plan, on metal", "[record][metal]") {
  OwnMetal device(waves_file);
  OnCpu cpu(waves_file, 2);
  CheckRecordedCounts(device, device, cpu);
}

TEST_CASE("recorded counts choose checkpoints within a budget, on metal", "[record][metal]") {
  OwnMetal device(waves_file);
  OnCpu cpu(waves_file, 2);
  CheckRecordedCheckpoints(device, device, cpu);
}

TEST_CASE("recorded counts say how many rows there are, on metal", "[record][metal]") {
  OwnMetal device(waves_file);
  OnCpu cpu(waves_file, 2);
  CheckRecordedRows(device, device, cpu);
}

TEST_CASE("a recorded launch that overflows says so in its status block, on metal", "[record][metal]") {
  OwnMetal device(waves_file);
  OnCpu cpu(waves_file, 2);
  CheckRecordedOverflow(device, device, cpu);
}

TEST_CASE("recorded counts say how often a loop runs, on metal", "[record][metal]") {
  OwnMetal device(waves_file);
  OnCpu cpu(waves_file, 2);
  CheckRecordedTrips(device, device, cpu);
}
