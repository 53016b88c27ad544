#pragma once
// Promises that are checked before a launch: it runs where they hold, and is refused, with memory as it was,
// where they do not.

#include <map>
#include <set>

#include "record_cases.h"
#include "sample_cases.h"

namespace adc::test {

/// Which iterations read and write each scalar of %x, as rows/promises.ir says.
class Meetings {
 public:
  void Read(int64_t cell, int64_t iteration) { all_[cell].insert(iteration); }
  void Write(int64_t cell, int64_t iteration) {
    Read(cell, iteration);
    written_.insert(cell);
  }
  bool Any() const {
    return std::any_of(written_.begin(), written_.end(),
                       [&](int64_t cell) { return all_.at(cell).size() > 1; });
  }

 private:
  std::map<int64_t, std::set<int64_t>> all_;
  std::set<int64_t> written_;
};

/// A random launch of a kernel of rows/promises.ir, and whether iterations meet in it.
struct PromiseCase {
  static constexpr int64_t kCells = 40;

  PromiseCase(const std::string& kernel, uint64_t seed) {
    bool scatters = kernel == "scatter";
    int64_t rows = 1 + static_cast<int64_t>(seed % 6),
            columns = scatters ? 1 + static_cast<int64_t>(seed % 3) : 2;
    auto count = static_cast<size_t>(rows * columns);
    std::vector<double> numbers = RandomNumbers(2 * count, 0, 1, seed), to(count), from(count);
    Meetings meetings;
    for (size_t n = 0; n < count && scatters; ++n) {
      to[n] = std::floor(numbers[n] * kCells) - 2;
      bool own = numbers[count + n] < 0.7 && to[n] >= 0;
      from[n] = own ? to[n] : std::floor(numbers[count + n] * kCells);
      if (to[n] < 0) continue;
      auto iteration = static_cast<int64_t>(n);
      meetings.Write(2 * static_cast<int64_t>(to[n]), iteration);
      for (int64_t part : {0, 1}) meetings.Read(2 * static_cast<int64_t>(from[n]) + part, iteration);
    }
    for (size_t row = 0; row < count / 2 && !scatters; ++row) {
      double length = std::floor(numbers[2 * row + 1] * 5);
      to[2 * row] = std::floor(numbers[2 * row] * (kCells - 4));
      to[2 * row + 1] = to[2 * row] + length;
      for (auto cell = static_cast<int64_t>(to[2 * row]); cell < static_cast<int64_t>(to[2 * row + 1]);
           ++cell) {
        meetings.Read(2 * cell, static_cast<int64_t>(row));
        meetings.Write(2 * cell + 1, static_cast<int64_t>(row));
      }
    }
    broken = meetings.Any();
    program = Program::OfFile(TestsFolder() + "/rows/promises.ir", kernel);
    program->Buffer("x", {kCells}, RandomNumbers(2 * kCells, 0.1, 1, seed + 1));
    program->Buffer("to", {rows, columns}, to);
    program->Buffer("from", {rows, columns}, from);
  }

  std::unique_ptr<Program> program;
  bool broken = false;
};

/// Random launches of both kernels, against sets of iterations.
inline void CheckPromises(OnDevice& device, uint64_t cases) {
  uint64_t broken = 0;
  for (const char* kernel : {"scatter", "ranges"}) {
    for (uint64_t seed = 1; seed <= cases; ++seed) {
      INFO(kernel << ", seed " << seed << " on " << device.kind());
      PromiseCase one(kernel, seed);
      interp::Arguments given = one.program->arguments(), found = given, expected = given;
      OnDevice::Launch launch(device, kernel, given);
      launch.Plan();
      CHECK(launch.Report().resolved == 0);
      adrt_status status = launch.Run();
      INFO(device.text());
      CHECK(status == (one.broken ? ADRT_ERROR_WRITE_PROMISE : ADRT_OK));
      if (one.broken) {
        ++broken;
        CHECK(device.text().find("two iterations of one parallel loop meet in an element of 'x'") !=
              std::string::npos);
      } else {
        one.program->Run();
        expected = one.program->arguments();
      }
      launch.Read(found);
      CHECK(Difference(expected, found) < 1e-6);
    }
  }
  CHECK(broken > cases / 2);
  CHECK(broken < 2 * cases - cases / 2);
}

/// What was checked holds until contents may have changed; a cap, which leaves counting out, is refused.
inline void CheckPromisesAgain(OnDevice& device) {
  auto program = Program::OfFile(TestsFolder() + "/rows/promises.ir", "ranges");
  program->Buffer("x", {8}, RandomNumbers(16, 0.1, 1, 3));
  program->Buffer("to", {2, 2}, {0, 3, 3, 5});
  program->Buffer("from", {2, 2}, {0, 0, 0, 0});
  interp::Arguments good = program->arguments(), bad = good;
  bad[1].tensor.Set(2, 2);
  OnDevice::Launch launch(device, "ranges", good);
  launch.SetVersion(1, 7);
  launch.Plan();
  launch.MustRun();
  // The version promises that nothing has changed.
  launch.Write(1, bad[1]);
  launch.MustRun();
  launch.SetVersion(1, 0);
  launch.Plan();
  CHECK(launch.Run() == ADRT_ERROR_WRITE_PROMISE);
  launch.Write(1, good[1]);
  launch.MustRun();
  device.Must(adrt_plan_with_cap(launch.plan(), 1 << 20, device.Error()));
  CHECK(launch.Run() == ADRT_ERROR_UNSUPPORTED);
  CHECK(device.text().find("which a cap excludes") != std::string::npos);
}

/// The same in the caller's queue: counts that are read back say whether the launch may be recorded.
inline void CheckRecordedPromises(OnDevice& device, Recorder& recorder) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    PromiseCase one("ranges", seed);
    INFO("seed " << seed << " on " << device.kind());
    interp::Arguments given = one.program->arguments(), found = given;
    OnDevice::Launch launch(device, "ranges", given);
    launch.Plan();
    CHECK(CountAndResolve(device, recorder, launch, given) == 1);
    DeviceBytes heap(device, std::max<uint64_t>(launch.Report().heap_bytes, 256)),
        block(device, ADRT_STATUS_BYTES);
    adrt_status status = recorder.RecordLaunch(launch.plan(), &heap.region(), block.region(), device.Error());
    INFO(device.text());
    CHECK(status == (one.broken ? ADRT_ERROR_WRITE_PROMISE : ADRT_OK));
    recorder.Submit();
    if (one.broken) continue;
    launch.Read(found);
    one.program->Run();
    CHECK(Difference(one.program->arguments(), found) < 1e-6);
  }
}

}  // namespace adc::test
