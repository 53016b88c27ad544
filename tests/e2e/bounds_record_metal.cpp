// Bounds records on Metal source that the host runs, by adrt_run and in the test's own queue.

#include "../support/own_metal.h"
#include "bounds_record_cases.h"

using namespace adc;
using namespace adc::test;

TEST_CASE("nothing runs where a bound has changed, on Metal", "[metal]") {
  OnMetal device(kRecords, true);
  CheckNothingRuns(device);
}

TEST_CASE("what a bounds record must be, on Metal", "[metal]") {
  OnMetal device(kRecords, true);
  CheckRecordArguments(device);
}

TEST_CASE("bounds records follow updates of plans, on Metal", "[metal]") {
  OnMetal device(kRecords, true);
  CheckRecordUpdates(device);
}

TEST_CASE("kernel and gradient in one command buffer, with a record between them, on Metal", "[metal]") {
  OwnMetal device(kRecords, true);
  CheckRecordsInQueue(device, device);
}
