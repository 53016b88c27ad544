#include "cpu/workloads.h"

#include <algorithm>
#include <memory>

#include "cpu/primals.h"
#include "ir/type.h"

namespace adc::bench {
namespace {

using interp::Arguments, interp::Tensor;

/// Numbers of a fixed sequence (Knuth's linear congruential generator, the upper bits).
class Sequence {
 public:
  uint32_t Below(uint32_t limit) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>((state_ >> 33) % limit);
  }
  double Between(double low, double high) {
    return low + (high - low) * static_cast<double>(Below(1u << 30)) / (1u << 30);
  }

 private:
  uint64_t state_ = 1;
};

/// A tensor of vectors of `width` numbers, drawn from `low` to `high`; zeros where these are equal.
Tensor Numbers(Sequence& sequence, std::vector<int64_t> extents, uint32_t width, double low, double high) {
  ir::Type element = width == 1 ? ir::kF64 : ir::Type::Vec(ir::Scalar::F64, width);
  Tensor tensor = Tensor::Zeros(element, std::move(extents));
  for (double& number : tensor.As<double>()) number = low == high ? 0 : sequence.Between(low, high);
  return tensor;
}

double* At(Arguments& arguments, size_t position) {
  return arguments[position].tensor.As<double>().data();
}

void Add(Arguments& arguments, Tensor tensor) {
  arguments.list.emplace_back().tensor = std::move(tensor);
}

Workload MakeGmm() {
  constexpr int kPoints = 1000, kDimensions = 10, kMixtures = 25;
  Workload work{"gmm", "d10 k25 n1000", {}, {0, 1, 2}, 6, 1.0, {}};
  Sequence sequence;
  Add(work.arguments, Numbers(sequence, {kMixtures}, 1, -0.5, 0.5));
  Add(work.arguments, Numbers(sequence, {kMixtures, kDimensions}, 1, -1, 1));
  Add(work.arguments, Numbers(sequence, {kMixtures, kDimensions * (kDimensions + 1) / 2}, 1, -0.3, 0.3));
  Add(work.arguments, Numbers(sequence, {kPoints, kDimensions}, 1, -1, 1));
  Add(work.arguments, Numbers(sequence, {kMixtures, kDimensions}, 1, 0, 0));
  Add(work.arguments, Numbers(sequence, {kMixtures}, 1, 0, 0));
  Add(work.arguments, Numbers(sequence, {}, 1, 0, 0));
  work.primal = [](Arguments& a) {
    *At(a, 6) = GmmPrimal(
        {kPoints, kDimensions, kMixtures, At(a, 0), At(a, 1), At(a, 2), At(a, 3), At(a, 4), At(a, 5)});
  };
  return work;
}

Workload MakeNbody() {
  constexpr int kBodies = 1024;
  Workload work{"nbody", "1024 bodies", {}, {0}, 2, 2.5, {}};
  Sequence sequence;
  Add(work.arguments, Numbers(sequence, {kBodies}, 3, 0, 1));
  Add(work.arguments, Numbers(sequence, {kBodies}, 1, 0.5, 2));
  Add(work.arguments, Numbers(sequence, {kBodies}, 3, 0, 0));
  work.primal = [](Arguments& a) { NbodyPrimal(kBodies, At(a, 0), At(a, 1), At(a, 2)); };
  return work;
}

Workload MakeHashGrid() {
  constexpr int kPoints = 1 << 15, kLevels = 8;
  constexpr uint32_t kEntries = 1u << 14;
  Workload work{"hash_grid", "32768 points, 8 levels of 16384", {}, {1}, 2, 3.0, {}};
  Sequence sequence;
  Add(work.arguments, Numbers(sequence, {kPoints}, 3, 0, 1));
  Add(work.arguments, Numbers(sequence, {kLevels, kEntries}, 2, -1, 1));
  Add(work.arguments, Numbers(sequence, {kPoints, kLevels}, 2, 0, 0));
  work.primal = [](Arguments& a) {
    HashGridPrimal(kPoints, kLevels, kEntries, At(a, 0), At(a, 1), At(a, 2));
  };
  return work;
}

Workload MakeRayMarch() {
  constexpr int kRays = 4096, kSteps = 100, kSize = 64;
  Workload work{"ray_march", "4096 rays of 100 steps, 64^3 cells", {}, {0}, 4, 2.0, {}};
  Sequence sequence;
  Add(work.arguments, Numbers(sequence, {kSize, kSize, kSize}, 2, 0, 0.1));
  Add(work.arguments, Numbers(sequence, {kRays}, 3, 1, 30));
  Add(work.arguments, Numbers(sequence, {kRays}, 3, 0.05, 0.3));
  work.arguments.list.push_back(interp::NumberArgument(ir::kI32, kSteps));
  Add(work.arguments, Numbers(sequence, {kRays}, 1, 0, 0));
  work.primal = [](Arguments& a) {
    RayMarchPrimal(kRays, kSteps, kSize, At(a, 0), At(a, 1), At(a, 2), At(a, 4));
  };
  return work;
}

Workload MakeSprings() {
  constexpr int kSide = 256;
  constexpr double kStiffness = 40;
  Workload work{"springs", "cloth of 256 by 256 points", {}, {0, 3}, 5, 1.6, {}};
  Sequence sequence;
  std::vector<int32_t> one, other;
  auto tie = [&](int row, int column, int down, int right) {
    if (row + down >= kSide || column + right >= kSide || column + right < 0) return;
    one.push_back(row * kSide + column);
    other.push_back((row + down) * kSide + column + right);
  };
  for (int row = 0; row < kSide; ++row) {
    for (int column = 0; column < kSide; ++column) {
      tie(row, column, 0, 1);
      tie(row, column, 1, 0);
      tie(row, column, 1, 1);
      tie(row, column, 1, -1);
    }
  }
  auto springs = static_cast<int64_t>(one.size());
  auto ends = [&](const std::vector<int32_t>& from) {
    Tensor tensor = Tensor::Zeros(ir::kI32, {springs});
    std::copy(from.begin(), from.end(), tensor.As<int32_t>().begin());
    return tensor;
  };
  Add(work.arguments, Numbers(sequence, {kSide * kSide}, 3, 0, 1));
  Add(work.arguments, ends(one));
  Add(work.arguments, ends(other));
  Add(work.arguments, Numbers(sequence, {springs}, 1, 0.2, 0.6));
  work.arguments.list.push_back(interp::NumberArgument(ir::kF64, kStiffness));
  Add(work.arguments, Numbers(sequence, {kSide * kSide}, 3, 0, 0));
  work.primal = [springs](Arguments& a) {
    auto force = a[5].tensor.As<double>();
    std::fill(force.begin(), force.end(), 0.0);
    SpringsPrimal(static_cast<int>(springs), At(a, 0), a[1].tensor.As<int32_t>().data(),
                  a[2].tensor.As<int32_t>().data(), At(a, 3), kStiffness, force.data());
  };
  return work;
}

Workload MakeWave() {
  constexpr int64_t kSize = 1024;
  constexpr double kSpeed = 0.3;
  Workload work{"wave", "1024 by 1024 points", {}, {0, 1}, 3, 1.5, {}};
  Sequence sequence;
  Add(work.arguments, Numbers(sequence, {kSize, kSize}, 1, -1, 1));
  Add(work.arguments, Numbers(sequence, {kSize, kSize}, 1, -1, 1));
  work.arguments.list.push_back(interp::NumberArgument(ir::kF64, kSpeed));
  Add(work.arguments, Numbers(sequence, {kSize, kSize}, 1, 0, 0));
  work.primal = [](Arguments& a) { WavePrimal(kSize, At(a, 0), At(a, 1), kSpeed, At(a, 3)); };
  return work;
}

}  // namespace

std::vector<Workload> Workloads() {
  return {MakeGmm(), MakeNbody(), MakeHashGrid(), MakeRayMarch(), MakeSprings(), MakeWave()};
}

}  // namespace adc::bench
