// The guard on devices: tapes of every type, reports, counts that hold no more.

#include "../support/this_device.h"
#include "guard_cases.h"
#include "guard_long_loops.h"

using namespace adc;
using namespace adc::test;

TEST_CASE("an overflow writes nothing outside of its row", "[guard]") {
  for (const TapeType& type : kTapeTypes) {
    if (std::string(type.scalar) == "f64" && !kHasDoubles) continue;
    for (bool counted : {false, true}) {
      PassingFile file(TapeKernel(type, counted));
      ThisDevice device(file.path);
      CheckCanaries(device, type, counted, file.path);
    }
  }
}

TEST_CASE("an overflow is one report, and the next launch is clean", "[guard]") {
  ThisDevice device(waves_file);
  CheckReport(device);
  CheckStaleCounts(device);
  CheckRowsExhausted(device);
}

TEST_CASE("iterations whose bounds have moved are not run", "[guard]") {
  PassingFile file(moved_kernel);
  ThisDevice device(file.path);
  CheckMovedBounds(device, file.path);
}

#if defined(ADC_TEST_ON_VULKAN)
TEST_CASE("loops of any length end where they should, or the launch says that they did not", "[guard]") {
  PassingFile file(long_loops);
  for (const char* target : {"vulkan:1.2", "vulkan:1.2-near"}) {
    INFO(target);
    OnVulkan device(file.path, false, target);
    adrt_device_report report = {};
    report.struct_size = sizeof report;
    device.Must(adrt_device_info(device.device(), &report, device.Error()));
    CheckLongLoops(device, file.path, std::string(report.name).find("llvmpipe") != std::string::npos);
  }
}
#endif

TEST_CASE("what was sized runs, and what changed since is right or reported", "[guard]") {
  constexpr uint32_t kNests = 10;
  uint32_t reported = 0, right = 0;
  std::string text;
  for (uint32_t number = 0; number < kNests; ++number) text += RandomNest(5, number);
  PassingFile file(text);
  ThisDevice device(file.path);
  CheckRightOrReported(device, file.path, 0, kNests, 5, &reported, &right);
  CHECK(reported > 4);
  CHECK(right > 20);
}

TEST_CASE("every thread that passes a gate has a row of its own", "[guard]") {
  ThisDevice device(waves_file);
  CheckClaims(device, {0, 64, 96, 1000});
}

#if defined(ADC_TEST_ON_VULKAN)  // the host's Metal promises nothing of launches at once
TEST_CASE("launches at once know nothing of each other", "[guard]") {
  ThisDevice device(waves_file);
  CheckTwoAtOnce(device);
}
#endif

TEST_CASE("an overflow, and the process ends with everything held", "[.][exit]") {
  OverflowAndLeave(new ThisDevice(waves_file));
}
