#pragma once
// What sizes are computed from changes from launch to launch, on one device in one process: each launch is
// right, its tapes are as long as they need to be, and nothing is computed again that the caller says is the
// same.

#include <cmath>
#include <memory>

#include "../support/folders.h"
#include "../support/on_device.h"
#include "../support/program.h"

namespace adc::test {

inline const std::string kBounds = adc::test::TestsFolder() + "/launches/bounds.ir";

/// A gradient of a kernel of launches/bounds.ir, whose recurrence is v * (factor - v), over 6 iterations.
class Recurrence {
 public:
  static constexpr int64_t kSize = 6;
  static constexpr uint32_t kSource = 2;  ///< the parameter that holds the bounds

  Recurrence(OnDevice& device, const std::string& kernel, double factor)
      : device_(&device),
        is_field_(kernel == "field"),
        factor_(factor),
        program_(Program::OfFile(kBounds, kernel)) {
    program_->Buffer("x", {kSize}, {0.3, 0.5, 0.7, 0.2, 0.9, 0.4});
    program_->Zeros("y", {kSize});
    if (is_field_) {
      program_->arguments()[kSource].tensor.data.resize(kSize * 2 * sizeof(int32_t));
    } else {
      program_->Zeros("a", {kSize});
    }
    arguments_ = program_->arguments();
    for (double seed : {0.0, 1.0}) {  // of x, of y
      interp::Argument& companion = arguments_.list.emplace_back();
      companion.tensor = interp::Tensor::Zeros(ir::Type::Of(ir::Scalar::F32), {kSize});
      for (int64_t k = 0; k < kSize; ++k) companion.tensor.Set(k, seed);
    }
    launch_ = std::make_unique<OnDevice::Launch>(device, kernel + ".grad", arguments_);
  }

  /// From now on the caller vouches for the bounds with this number; a plan is made anew.
  void SetVersion(uint64_t version) {
    launch_->SetVersion(kSource, version);
    launch_->Plan();
  }
  /// The host writes the bounds, launches, and reads: true if the gradient is that of these bounds.
  bool IsRightWith(const std::vector<int32_t>& bounds) {
    SetBounds(bounds);
    launch_->Write(arguments_);
    launch_->MustRun();
    interp::Arguments after = arguments_;
    launch_->Read(after);
    for (int64_t i = 0; i < kSize; ++i) {
      double value = arguments_[0].tensor.Get(i), slope = 1;
      for (int32_t t = 0; t < TripsOf(bounds, i); ++t) {
        slope *= factor_ - 2 * value;
        value *= factor_ - value;
      }
      if (std::fabs(after[3].tensor.Get(i) - slope) > 1e-5 * std::max(1.0, std::fabs(slope))) return false;
    }
    return true;
  }
  uint64_t Capacity() {
    adrt_stack_report stack = {};
    stack.struct_size = sizeof stack;
    device_->Must(adrt_plan_stack(launch_->plan(), 0, 0, &stack, device_->Error()));
    return stack.capacity;
  }

 private:
  /// Of a field the bound lies one element further.
  int32_t TripsOf(const std::vector<int32_t>& bounds, int64_t i) const {
    return bounds[static_cast<size_t>(is_field_ ? (i + 1) % kSize : i)];
  }
  void SetBounds(const std::vector<int32_t>& bounds) {
    REQUIRE(bounds.size() == kSize);
    interp::Tensor& tensor = arguments_[kSource].tensor;
    for (int64_t i = 0; i < kSize; ++i) {
      if (!is_field_) {
        tensor.Set(i, bounds[static_cast<size_t>(i)]);
        continue;
      }
      int32_t cell[] = {bounds[static_cast<size_t>(i)], static_cast<int32_t>((i + 1) % kSize)};
      std::memcpy(tensor.data.data() + i * static_cast<int64_t>(sizeof cell), cell, sizeof cell);
    }
  }

  OnDevice* device_;
  bool is_field_;
  double factor_;
  std::unique_ptr<Program> program_;
  interp::Arguments arguments_;
  std::unique_ptr<OnDevice::Launch> launch_;
};

/// One plan, bounds that the host writes before each launch.
inline void CheckChangingBounds(OnDevice& device) {
  for (const char* kernel : {"first", "field"}) {
    INFO(kernel);
    Recurrence launch(device, kernel, kernel == std::string("first") ? 1.9 : 1.5);
    launch.SetVersion(0);
    for (int32_t most : {1, 20, 50, 8, 16, 3}) {
      CHECK(launch.IsRightWith({0, 1, most, 1, 0, 1}));
      CHECK(launch.Capacity() == static_cast<uint64_t>(most));
    }
  }
}

/// What the caller vouches for is not looked at again; a new number is.
inline void CheckVersions(OnDevice& device) {
  for (const char* kernel : {"first", "field"}) {
    INFO(kernel);
    Recurrence launch(device, kernel, kernel == std::string("first") ? 1.9 : 1.5);
    launch.SetVersion(7);
    CHECK(launch.IsRightWith({2, 9, 4, 1, 0, 3}));
    CHECK(launch.Capacity() == 9);
    // Shorter than was said: right, and sized as before.
    CHECK(launch.IsRightWith({2, 1, 4, 1, 0, 3}));
    CHECK(launch.Capacity() == 9);
    launch.SetVersion(8);
    CHECK(launch.IsRightWith({2, 1, 4, 1, 0, 3}));
    CHECK(launch.Capacity() == 4);
    CHECK(launch.IsRightWith({2, 1, 4, 1, 0, 3}));
    CHECK(launch.Capacity() == 4);
  }
}

/// Two kernels of one module, launched in turn.
inline void CheckTwoKernels(OnDevice& device) {
  Recurrence first(device, "first", 1.9), second(device, "second", 1.7);
  first.SetVersion(1);
  second.SetVersion(1);
  CHECK(first.IsRightWith({2, 9, 4, 1, 0, 3}));
  CHECK(second.IsRightWith({30, 1, 2, 0, 5, 6}));
  for (int turn = 0; turn < 2; ++turn) {
    CHECK(first.IsRightWith({2, 9, 4, 1, 0, 3}));
    CHECK(first.Capacity() == 9);
    CHECK(second.IsRightWith({30, 1, 2, 0, 5, 6}));
    CHECK(second.Capacity() == 30);
  }
}

}  // namespace adc::test
