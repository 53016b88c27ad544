#pragma once
// How often a `parallel` runs was read from a buffer, which then changes without a word: no iteration runs
// past the bound that it meets, none is left out in silence, and the next launch is right.

#include "../support/on_device.h"
#include "../support/program.h"

namespace adc::test {

inline const std::string moved_kernel = R"(
kernel @moved(%x: buffer<f32, 1> diff, %y: buffer<f32, 1> diff, %n: buffer<i32, 1>) {
  %c = load %n[0]
  parallel %i in 0..%c {
    %v = load %x[%i]
    %w = mul %v, %v
    store %y[%i], %w
  }
}
kernel @counted(%x: buffer<f32, 1> diff, %y: buffer<f32, 1> diff, %n: buffer<f32, 1>) {
  %c = cast (load %n[0]) to i32
  parallel %i in 0..%c {
    %v = load %x[%i]
    %w = mul %v, %v
    store %y[%i], %w
  }
}
kernel @moved2(%x: buffer<f32, 1> diff, %y: buffer<f32, 1> diff, %n: buffer<i32, 1>) {
  %c = load %n[0]
  %k = add %c, 1
  parallel %i, %j in 0..%c, 0..%k {
    %row = mul %i, %k
    %at = add %row, %j
    %v = load %x[%at]
    %w = mul %v, %v
    store %y[%at], %w
  }
}
)";

inline void CheckMovedBounds(OnDevice& device, const std::string& path) {
  constexpr int64_t kCells = 200;
  constexpr uint32_t kOut = 1, kBound = 2;
  struct Case {
    const char* kernel;
    int64_t (*iterations)(int64_t bound);
    const char* place;
  };
  const Case cases[] = {{"moved", [](int64_t bound) { return bound; }, ":4:3"},
                        {"counted", [](int64_t bound) { return bound; }, ":12:3"},
                        {"moved2", [](int64_t bound) { return bound * (bound + 1); }, ":21:3"}};
  for (const Case& one : cases) {
    INFO(one.kernel);
    auto with = [&](int64_t bound) {
      auto program = Program::OfFile(path, one.kernel);
      program->Buffer("x", {kCells}, std::vector<double>(kCells, 3));
      program->Buffer("y", {kCells}, std::vector<double>(kCells, -1));
      program->Buffer("n", {1}, {static_cast<double>(bound)});
      return program->arguments();
    };
    OnDevice::Launch launch(device, one.kernel, with(13));
    launch.SetVersion(kBound, 1);
    launch.Plan();
    launch.MustRun();
    int64_t sized = 13;
    for (int64_t bound : {4, 13, 0, 5, 11, 2}) {
      interp::Arguments now = with(bound), found = now;
      launch.Write(now);
      CHECK(launch.Run() == ADRT_ERROR_ADSTACK_OVERFLOW);
      INFO(device.text());
      for (const std::string& part :
           {std::string("kernel '") + one.kernel + "', task 0", std::string(one.place),
            "made for " + std::to_string(one.iterations(sized)) + " iterations",
            "come to " + std::to_string(one.iterations(bound)) + " now", std::string("the content of 'n'")})
        CHECK(device.text().find(part) != std::string::npos);
      // Nothing ran past the bound that is there now.
      launch.Read(found);
      for (int64_t i = one.iterations(bound); i < kCells; ++i) REQUIRE(found[kOut].tensor.Get(i) == -1);
      launch.MustRun();
      launch.Read(found);
      for (int64_t i = 0; i < kCells; ++i)
        REQUIRE(found[kOut].tensor.Get(i) == (i < one.iterations(bound) ? 9 : -1));
      sized = bound;
    }
  }
}

}  // namespace adc::test
