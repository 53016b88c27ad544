#pragma once
// Loops of many turns: a device ends them where the kernel says, or the launch is an error that names the
// driver (llvmpipe gives the loops of a thread 65,535 turns in all).

#include "../support/on_device.h"
#include "../support/program.h"

namespace adc::test {

inline const std::string long_loops = R"(
kernel @counted(%y: buffer<i32, 1>, %n: i32) {
  parallel %i in 0..shape(%y, 0) {
    %v = for %t in 0..%n carry(%a = 0) { yield (add %a, (select (ge %t, 0), 1, 2)) }
    store %y[%i], %v
  }
}
kernel @tested(%y: buffer<i32, 1>, %n: i32) {
  parallel %i in 0..shape(%y, 0) {
    %v = while carry(%a = 0) { continue_if (lt %a, %n) } do { yield (add %a, 1) }
    store %y[%i], %v
  }
}
kernel @nested(%y: buffer<i32, 1>, %n: i32) {
  parallel %i in 0..shape(%y, 0) {
    %v = for %t in 0..1000 carry(%a = 0) {
      %w = while carry(%b = %a) { continue_if (lt (sub %b, %a), (div %n, 1000)) } do { yield (add %b, 1) }
      yield %w
    }
    store %y[%i], %v
  }
}
kernel @serial(%y: buffer<i32, 1>, %n: i32) {
  %v = while carry(%a = 0) { continue_if (lt %a, %n) } do { yield (add %a, 1) }
  store %y[0], %v
}
)";

inline void CheckLongLoops(OnDevice& device, const std::string& path, bool may_cut) {
  constexpr int64_t kCells = 40;
  uint32_t cut = 0;
  for (const char* kernel : {"counted", "tested", "nested", "serial"}) {
    for (int64_t turns : {1000, 60000, 65000, 65534, 65536, 70000, 200000}) {
      INFO(kernel << ", " << turns << " turns on " << device.kind());
      auto program = Program::OfFile(path, kernel);
      program->Zeros("y", {kCells});
      program->Number("n", static_cast<double>(turns));
      interp::Arguments given = program->arguments(), found = given;
      OnDevice::Launch launch(device, kernel, given);
      launch.Plan();
      adrt_status status = launch.Run();
      INFO(device.text());
      if (status == ADRT_OK) {
        launch.Read(found);
        int64_t whole = kernel == std::string("nested") ? turns / 1000 * 1000 : turns;
        CHECK(found[0].tensor.Get(0) == static_cast<double>(whole));
        CHECK((found[0].tensor.Get(kCells - 1) ==
               static_cast<double>(kernel == std::string("serial") ? 0 : whole)));
        continue;
      }
      REQUIRE(may_cut);
      ++cut;
      CHECK(status == ADRT_ERROR_DRIVER);
      CHECK(turns > 60000);
      for (const char* part : {"llvmpipe", "has ended loops early", "65,535 iterations in all", kernel})
        CHECK(device.text().find(part) != std::string::npos);
    }
  }
  INFO(cut << " launches were cut");
  CHECK((cut > 0) == may_cut);
}

}  // namespace adc::test
