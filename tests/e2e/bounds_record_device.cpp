// Bounds records on devices, by adrt_run and in the test's own command buffer.

#include "../support/own_device.h"
#include "../support/this_device.h"
#include "bounds_record_cases.h"

using namespace adc;
using namespace adc::test;

TEST_CASE("nothing runs where a bound has changed") {
  ThisDevice device(kRecords, true);
  CheckNothingRuns(device);
}

TEST_CASE("a record that fits and iterations that have moved") {
  ThisDevice device(kRecords, true);
  CheckMovedWithRecord(device);
}

TEST_CASE("what a bounds record must be") {
  ThisDevice device(kRecords, true);
  CheckRecordArguments(device);
}

TEST_CASE("bounds records follow updates of plans") {
  ThisDevice device(kRecords, true);
  CheckRecordUpdates(device);
}

TEST_CASE("kernel and gradient in one command buffer, with a record between them", "[record]") {
  OwnDevice device(kRecords, true);
  CheckRecordsInQueue(device, device);
}
