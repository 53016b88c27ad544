#pragma once
// The gradient of the grid step at the sizes of a push test, 603,720 cells, of which none, few, some or all
// pass the gate: right, and with no more memory than what passes needs. With 3 geoms a row holds 36 bytes of
// tape, with 8 geoms 96.
//
// The yardstick is the gradient in f64 on the CPU, which forward mode confirms.

#include <cmath>
#include <memory>

#include "../support/on_device.h"
#include "sample_cases.h"

namespace adc::test {

struct Push {
  const char* what;
  samples::MpmStateConfig config;
  uint64_t row_limit;       ///< bytes per row
  uint64_t heap_limit = 0;  ///< bytes in all; 0: what the rows take
};

/// `scale` as in MpmStateConfig.
inline std::vector<Push> Pushes(double scale) {
  constexpr uint64_t kMiB = 1 << 20;
  std::vector<Push> pushes;
  auto add = [&](const char* what, uint32_t geoms, double fraction, bool empty, uint64_t heap_limit) {
    samples::MpmStateConfig config;
    config.scale = scale;
    config.geoms = geoms;
    config.pass_fraction = fraction;
    config.empty = empty;
    pushes.push_back({what, config, geoms <= 5 ? 64u : 128u, heap_limit});
  };
  add("none", 3, 0, true, kMiB);
  add("around the particles, 0.8 %", 3, 0, false, kMiB);
  add("5 %", 3, 0.05, false, 0);
  add("all", 3, 1, false, 0);
  add("around the particles, 8 geoms", 8, 0, false, kMiB);
  add("5 %, 8 geoms", 8, 0.05, false, 0);
  return pushes;
}

/// One push in f32 or f64: the kernel has run on the CPU, the adjoints of what it wrote are random numbers.
class PushLaunch {
 public:
  PushLaunch(const std::string& path, const Push& push)
      : native_(path, 2, true), state_(samples::MakeMpmState(push.config)) {
    program_ = Program::OfFile(path, "mpm_grid_op");
    SetArguments(*program_, state_);
    value_ = program_->arguments();
    native_.Run("mpm_grid_op", value_);
    start_ = native_.DerivedArguments(kGradient, value_);
    uint64_t random = 5;
    interp::Tensor& seed = start_[native_.Companion(kGradient, Output())].tensor;
    for (int64_t k = 0; k < seed.ScalarCount(); ++k) seed.Set(k, internal::RandomNumber(random));
    gradient_ = start_;
    native_.Run(kGradient, gradient_);
  }
  static constexpr const char* kGradient = "mpm_grid_op.grad";

  uint64_t Passing() const { return samples::CountPassing(state_); }
  const interp::Arguments& start() const { return start_; }
  const interp::Arguments& gradient() const { return gradient_; }
  adrt_plan_report CpuReport() {
    interp::Arguments arguments = start_;
    Native::Launch launch = native_.Plan(kGradient, arguments);
    launch.Run();
    return launch.Report();
  }

  /// Reverse mode against forward mode along a random direction of all inputs: the difference, relative to
  /// the sum without cancellation.
  double AgainstForward() {
    std::vector<adrt_param_report> params = native_.Params(kGradient);
    interp::Arguments arguments = native_.DerivedArguments("mpm_grid_op.jvp", program_->arguments());
    uint64_t random = 17;
    double reverse = 0, size = 0;
    for (size_t n = value_.list.size(); n < params.size(); ++n) {
      if (params[n].primal >= value_.list.size() || params[n].primal == Output()) continue;
      const interp::Tensor& adjoint = gradient_[n].tensor;
      const interp::Tensor& primal = value_[params[n].primal].tensor;
      interp::Tensor& tangent = arguments[native_.Companion("mpm_grid_op.jvp", params[n].primal)].tensor;
      for (int64_t k = 0; k < tangent.ScalarCount(); ++k) {
        double along = internal::RandomNumber(random) * std::fabs(primal.Get(k));
        tangent.Set(k, along);
        reverse += adjoint.Get(k) * along;
        size += std::fabs(adjoint.Get(k) * along);
      }
    }
    native_.Run("mpm_grid_op.jvp", arguments);
    const interp::Tensor& seed = start_[native_.Companion(kGradient, Output())].tensor;
    const interp::Tensor& tangent = arguments[native_.Companion("mpm_grid_op.jvp", Output())].tensor;
    double forward = 0;
    for (int64_t k = 0; k < seed.ScalarCount(); ++k) forward += seed.Get(k) * tangent.Get(k);
    return size == 0 ? std::fabs(forward) : std::fabs(forward - reverse) / size;
  }

 private:
  size_t Output() const { return program_->Index("vel_out"); }

  Native native_;
  std::vector<samples::StateArray> state_;
  std::unique_ptr<Program> program_;
  interp::Arguments value_, start_, gradient_;
};

/// Lanes whose rows lie together.
inline constexpr uint64_t kLanes = 32;

/// The device's gradient is that of the CPU within `tolerance`, all bytes of rows counted.
inline void CheckPush(OnDevice& device, const Push& push, const std::string& path, double tolerance) {
  INFO("cells that pass: " << push.what);
  PushLaunch launch(path, push);
  interp::Arguments backward = launch.start();
  CountedRows rows;
  constexpr uint64_t kAlways = 1;  // bytes of rows from which they are counted
  device.Run(PushLaunch::kGradient, backward, {.threshold = kAlways, .rows = &rows});
  double difference = Difference(launch.gradient(), backward);
  CHECK(difference < tolerance);
  REQUIRE(rows.groups.size() == 1);
  const GroupRows& group = rows.groups[0];
  uint64_t live = std::min(launch.Passing(), rows.threads);
  uint64_t needed = std::max((live + kLanes - 1) / kLanes * kLanes, kLanes);
  CHECK(group.counted);
  CHECK(group.iterations == launch.Passing());
  CHECK(group.rows == needed);
  // Beside the rows there are words of the launch and the claim counter.
  CHECK(rows.heap_bytes <= group.row_bytes * needed + 4096);
  CHECK(group.row_bytes <= push.row_limit);
  if (push.heap_limit != 0) CHECK(rows.heap_bytes <= push.heap_limit);
  WARN(push.what << ": " << launch.Passing() << " iterations pass, " << group.rows << " rows of "
                 << group.row_bytes << " bytes, heap " << rows.heap_bytes << " bytes, off by " << difference);
}

}  // namespace adc::test
