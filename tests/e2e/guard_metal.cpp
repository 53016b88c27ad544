// The guard on Metal source that the host runs: tapes of every type, reports, counts that hold no more.

#include "../support/on_metal.h"
#include "guard_cases.h"

using namespace adc;
using namespace adc::test;

TEST_CASE("an overflow writes nothing outside of its row, on metal", "[guard][metal]") {
  for (const TapeType& type : kTapeTypes) {
    if (std::string(type.scalar) == "f64") continue;  // Metal has none
    for (bool counted : {false, true}) {
      PassingFile file(TapeKernel(type, counted));
      OnMetal device(file.path);
      CheckCanaries(device, type, counted, file.path);
    }
  }
}

TEST_CASE("an overflow is one report, and the next launch is clean, on metal", "[guard][metal]") {
  OnMetal device(waves_file);
  CheckReport(device);
  CheckStaleCounts(device);
  CheckRowsExhausted(device);
}

TEST_CASE("what was sized runs, and what changed since is right or reported, on metal", "[guard][metal]") {
  constexpr uint32_t kNests = 10;
  uint32_t reported = 0, right = 0;
  std::string text;
  for (uint32_t number = 0; number < kNests; ++number) text += RandomNest(5, number);
  PassingFile file(text);
  OnMetal device(file.path);
  CheckRightOrReported(device, file.path, kNests, 5, &reported, &right);
  CHECK(reported > 4);
  CHECK(right > 20);
}

TEST_CASE("every thread that passes a gate has a row of its own, on metal", "[guard][metal]") {
  OnMetal device(waves_file);
  CheckClaims(device, {0, 64, 96, 1000});
}

TEST_CASE("an overflow, and the process ends with everything held, on metal", "[.][exit]") {
  OverflowAndLeave(new OnMetal(waves_file));
}
