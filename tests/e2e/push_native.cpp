// The push test's gradient on the CPU: in f64 against forward mode, in f32 against f64, and its memory.

#include "../support/folders.h"
#include "push_cases.h"

using namespace adc;
using namespace adc::test;

TEST_CASE("the gradient of the push test's grid step is right and takes a row per worker", "[push]") {
  for (const Push& push : Pushes(1)) {
    INFO("cells that pass: " << push.what);
    PushLaunch exact(adc::test::F64SamplesFolder() + "/mpm_grid_op.ir", push);
    double forward = exact.AgainstForward();
    CHECK(forward < 1e-11);
    PushLaunch single(adc::test::SamplesFolder() + "/mpm_grid_op.ir", push);
    double rounding = Difference(exact.gradient(), single.gradient());
    CHECK(rounding < 5e-3);  // contacts are steep, and in f32 distances have few digits
    adrt_plan_report report = single.CpuReport();
    CHECK(report.heap_bytes <= 2 * push.row_limit);
    WARN(push.what << ": " << exact.Passing() << " iterations pass, heap " << report.heap_bytes
                   << " bytes, f64 off by " << forward << " from forward mode, f32 by " << rounding
                   << " from f64");
  }
}
