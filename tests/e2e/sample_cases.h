#pragma once
// The samples with arguments of a size for tests, to be run on a device and on the CPU beside it.

#include <cmath>

#include "../support/mpm.h"
#include "../support/native.h"
#include "../support/numbers.h"
#include "../support/state.h"
#include "articulated_state.h"

namespace adc::test {

using Prepare = void (*)(Program& program);

struct Sample {
  const char* name;
  Prepare prepare;
};

inline void Relax(Program& program) {
  program.Buffer("x", {3000}, RandomNumbers(3000, -1, 2, 1));
  program.Number("n", 17);
}

inline void CsrReduce(Program& program) {
  constexpr size_t kRows = 300, kColumns = 50;
  std::vector<double> start{0}, column;
  for (size_t r = 0; r < kRows; ++r) start.push_back(start.back() + static_cast<double>((r * r * 7) % 23));
  auto entries = static_cast<size_t>(start.back());
  for (size_t k = 0; k < entries; ++k) column.push_back(static_cast<double>((k * 31 + k / 7) % kColumns));
  program.Buffer("start", {kRows + 1}, start);
  program.Buffer("column", {static_cast<int64_t>(entries)}, column);
  program.Buffer("value", {static_cast<int64_t>(entries)}, RandomNumbers(entries, -1, 1, 2));
  program.Buffer("x", {kColumns}, RandomNumbers(kColumns, -1, 1, 3));
  program.Zeros("y", {kRows});
}

inline void Cholesky(Program& program) {
  constexpr int64_t kBatch = 200, kSize = 7;
  std::vector<double> a = RandomNumbers(kBatch * kSize * kSize, -0.5, 0.5, 4);
  for (int64_t m = 0; m < kBatch; ++m) {
    for (int64_t i = 0; i < kSize; ++i) a[static_cast<size_t>((m * kSize + i) * kSize + i)] += 4;
  }
  program.Buffer("a", {kBatch, kSize, kSize}, a);
  program.Zeros("l", {kBatch, kSize, kSize});
}

// A tenth of the cells pass the gate, so that rows are claimed all over the grid.
inline void MpmGridOp(Program& program) {
  samples::MpmStateConfig config;
  config.scale = 0.25;
  config.pass_fraction = 0.1;
  SetArguments(program, samples::MakeMpmState(config));
}

inline void UpdateCartesianSpace(Program& program) {
  SetArguments(program, samples::MakeArticulatedState({samples::ArticulatedConfig::Scene::Tree, 3, 40, 1}));
}

inline const Sample kSamples[] = {{"relax", Relax},
                                  {"csr_reduce", CsrReduce},
                                  {"cholesky", Cholesky},
                                  {"mpm_grid_op", MpmGridOp},
                                  {"update_cartesian_space", UpdateCartesianSpace}};

/// Arguments of the gradient: every companion begins with random numbers.
inline interp::Arguments GradientArguments(Native& native, const std::string& name,
                                           const interp::Arguments& primal) {
  interp::Arguments arguments = native.DerivedArguments(name, primal);
  uint64_t random = 5;
  for (size_t n = primal.list.size(); n < arguments.list.size(); ++n) {
    interp::Tensor& tensor = arguments[n].tensor;
    if (tensor.data.empty()) continue;  // scratch
    for (int64_t k = 0; k < tensor.ScalarCount(); ++k) tensor.Set(k, internal::RandomNumber(random));
  }
  return arguments;
}

}  // namespace adc::test
