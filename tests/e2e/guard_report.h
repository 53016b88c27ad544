#pragma once
// What does not fit is reported once, with everything one wants to know, and the next launch knows nothing of
// it.

#include <cmath>

#include "../support/numbers.h"
#include "../support/on_device.h"
#include "guard_canaries.h"

namespace adc::test {

/// The derivative of the recurrence of the gated and the plain waves at `v`.
inline double WaveDerivative(double v, int trips) {
  double product = 1;
  for (int t = 0; t < trips; ++t) {
    product *= std::cos(v);
    v = std::sin(v) + 0.1;
  }
  return product;
}

/// Arguments of waves.grad: bounds, and seeds of 1.
class Waves {
 public:
  explicit Waves(std::vector<double> bounds)
      : program_(Program::OfFile(waves_file, "waves")), bounds_(std::move(bounds)) {
    auto count = static_cast<int64_t>(bounds_.size());
    std::vector<double> x;
    for (int64_t i = 0; i < count; ++i)
      x.push_back(0.1 + 0.8 * static_cast<double>(i) / static_cast<double>(count));
    program_->Buffer("x", {count}, x);
    program_->Zeros("y", {count});
    program_->Buffer("n", {count}, bounds_);
    arguments_ = Seeded(program_->arguments(), count);
  }
  void SetBounds(std::vector<double> bounds) {
    bounds_ = std::move(bounds);
    program_->Buffer("n", {static_cast<int64_t>(bounds_.size())}, bounds_);
    arguments_[kBounds] = program_->arguments()[kBounds];
  }
  const interp::Arguments& arguments() const { return arguments_; }
  /// Whether the launch left the gradient of these bounds.
  bool IsRight(OnDevice::Launch& launch) {
    interp::Arguments found = arguments_;
    launch.Read(found);
    for (size_t i = 0; i < bounds_.size(); ++i) {
      auto at = static_cast<int64_t>(i);
      double wanted = WaveDerivative(arguments_[0].tensor.Get(at), static_cast<int>(bounds_[i]));
      if (std::abs(found[kAdjoint].tensor.Get(at) - wanted) > 1e-4) return false;
    }
    return true;
  }
  static constexpr uint32_t kBounds = 1, kAdjoint = 3;

 private:
  std::unique_ptr<Program> program_;
  std::vector<double> bounds_;
  interp::Arguments arguments_;
};

inline bool Says(const OnDevice& device, const std::string& part) {
  return device.text().find(part) != std::string::npos;
}

/// The rows O1 to O4 and O6: an overflow is reported by the launch that has it, once, whoever has it too, and
/// the next launch is clean.
inline void CheckReport(OnDevice& device) {
  constexpr size_t kThreads = 16;
  Waves waves(std::vector<double>(kThreads, 2));
  OnDevice::Launch launch(device, "waves.grad", waves.arguments());
  auto run = [&](std::vector<double> bounds) {
    waves.SetBounds(std::move(bounds));
    launch.Write(waves.arguments());
    return launch.Run();
  };
  launch.SetVersion(Waves::kBounds, 1);
  launch.Plan();
  device.Must(run(std::vector<double>(kThreads, 2)));
  CHECK(waves.IsRight(launch));
  // A change that is told is followed.
  launch.SetVersion(Waves::kBounds, 2);
  launch.Plan();
  device.Must(run(std::vector<double>(kThreads, 8)));
  CHECK(waves.IsRight(launch));
  // One that is not told is an error: that of sixteen threads, with the need of the one that needs most.
  std::vector<double> grown;
  for (size_t i = 0; i < kThreads; ++i) grown.push_back(static_cast<double>(64 - (i * 7) % kThreads));
  uint32_t status[ADRT_STATUS_BYTES / 4] = {};
  adrt_run_desc desc = {};
  desc.struct_size = sizeof desc;
  desc.status = status;
  waves.SetBounds(grown);
  launch.Write(waves.arguments());
  CHECK(launch.Run(&desc) == ADRT_ERROR_ADSTACK_OVERFLOW);
  INFO(device.text());
  for (const char* part : {"kernel 'waves.grad', task 0 (waves.ir:5:3), iteration ",
                           "the adstack at waves.ir:7:10 would have needed 64 elements and has 8",
                           "What that is computed from has changed between sizing and launch",
                           "the content of 'n'", "another content_version"}) {
    CHECK(Says(device, part));
  }
  CHECK(status[0] == 1);
  CHECK(status[1] == 0);
  CHECK(status[2] == 0);
  CHECK(status[4] >= 49);
  // Again, with nothing changed: sizes that did not hold are computed again, and the retry is right.
  waves.SetBounds(grown);
  launch.Write(waves.arguments());
  device.Must(launch.Run(&desc));
  CHECK(status[0] == 0);
  CHECK(waves.IsRight(launch));
  // One thread alone, and then a launch that fits.
  std::vector<double> one(kThreads, 64);
  one[5] = 65;
  CHECK(run(one) == ADRT_ERROR_ADSTACK_OVERFLOW);
  CHECK(Says(device, "iteration 5: "));
  CHECK(Says(device, "needed 65 elements and has 64"));
  device.Must(run(std::vector<double>(kThreads, 3)));
  CHECK(waves.IsRight(launch));
  // A cap is the caller's word for all that would be read.
  device.Must(adrt_plan_with_cap(launch.plan(), 64 * 1024, device.Error()));
  device.Must(run(std::vector<double>(kThreads, 32)));
  CHECK(waves.IsRight(launch));
  launch.Plan();
  device.Must(adrt_plan_with_cap(launch.plan(), 16 * 1024, device.Error()));
  CHECK(run(std::vector<double>(kThreads, 40000)) == ADRT_ERROR_ADSTACK_OVERFLOW);
  CHECK(Says(device, "Raise the cap of adrt_plan_with_cap"));
  // Without a version every launch follows.
  launch.SetVersion(Waves::kBounds, 0);
  launch.Plan();
  for (double bound : {8.0, 16.0, 64.0, 1.0}) {
    device.Must(run(std::vector<double>(kThreads, bound)));
    CHECK(waves.IsRight(launch));
  }
}

/// What is counted changes behind the count: a loop's end in its values, and rows behind a gate.
inline void CheckStaleCounts(OnDevice& device) {
  constexpr int64_t kCount = 300;
  interp::Arguments near = GradientOf("decay", kCount, 1, Many(kCount, 0.5)),
                    far = GradientOf("decay", kCount, 1, Many(kCount, 0.01));
  OnDevice::Launch launch(device, "decay.grad", near);
  launch.SetVersion(0, 1);
  launch.SetVersion(1, 1);
  launch.Plan();
  launch.MustRun();
  launch.Write(far);
  CHECK(launch.Run() == ADRT_ERROR_ADSTACK_OVERFLOW);
  INFO(device.text());
  for (const char* part :
       {"kernel 'decay.grad'", "at waves.ir:16:10", "at least", "'low'", "another content_version"})
    CHECK(Says(device, part));
  launch.Write(far);
  launch.MustRun();
  launch.Write(near);
  launch.MustRun();
}

/// On devices whose threads claim rows: more pass the gate than were counted.
inline void CheckRowsExhausted(OnDevice& device) {
  constexpr int64_t kCount = 1000;
  interp::Arguments few = GradientOf("gated", kCount, 0.5, Gates(kCount, 40)),
                    many = GradientOf("gated", kCount, 0.5, Gates(kCount, 500));
  CountedRows rows;
  OnDevice::Launch launch(device, "gated.grad", few, {.threshold = 1});
  launch.SetVersion(1, 1);
  launch.Plan();
  launch.MustRun();
  rows = ReadCountedRows(launch.plan());
  REQUIRE(rows.groups.size() == 1);
  REQUIRE(rows.groups[0].counted);
  CHECK(rows.groups[0].iterations == 40);
  CHECK(rows.groups[0].rows == 64);
  // 500 pass where 64 rows are, in memory with a canary behind.
  WatchedHeap heap(device, rows.heap_bytes);
  adrt_run_desc desc = heap.Desc();
  launch.Write(many);
  CHECK(launch.Run(&desc) == ADRT_ERROR_ROWS_EXHAUSTED);
  INFO(device.text());
  for (const char* part :
       {"kernel 'gated.grad'", "500 threads passed the gate at waves.ir:24:5", "more than the 64 rows",
        "the content of 'open'", "another content_version", "A row for every thread takes "}) {
    CHECK(Says(device, part));
  }
  CHECK(device.error().needed_bytes > rows.heap_bytes);
  heap.Changed();
  // The next launch counts again, without being told, and is clean.
  launch.Write(many);
  launch.MustRun();
  rows = ReadCountedRows(launch.plan());
  CHECK(rows.groups[0].iterations == 500);
  interp::Arguments found = many;
  launch.Read(found);
  for (int64_t i = 0; i < kCount; ++i) {
    double wanted = many[1].tensor.Get(i) > 0.5 ? WaveDerivative(0.5, 5) : 0;
    REQUIRE(std::abs(found[4].tensor.Get(i) - wanted) < 1e-4);
  }
}

}  // namespace adc::test
