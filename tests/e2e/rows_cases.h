#pragma once
// Rows behind gates on a device, beside the CPU, which has a row per worker: the same gradients, as many rows
// as iterations pass, and no more bytes than they take.

#include <algorithm>

#include "../support/on_device.h"
#include "sample_cases.h"

namespace adc::test {

inline constexpr uint64_t kAlways = 1, kNever = UINT64_MAX;  ///< bytes of rows from which they are counted

/// Rows of `iterations` that pass: at most one per thread, whole blocks of 32 lanes, and one block at least.
inline uint64_t RowsFor(uint64_t iterations, uint64_t threads) {
  return std::max<uint64_t>((std::min(iterations, threads) + 31) / 32 * 32, 32);
}

/// A kernel of rows/gates.ir and how many gates it has.
struct GatedKernel {
  const char* name;
  int64_t gates;
  bool late = false;               ///< counted during the launch: a plan does not tell afterwards
  uint64_t row_bytes[2] = {0, 0};  ///< of each gate's rows, where that says something: 9 iterations
};

inline const GatedKernel kGatedKernels[] = {{"bare", 1},
                                            {"used_after", 1},
                                            {"modulo", 1},
                                            {"half", 1},
                                            {"constant", 1},
                                            {"indirect", 1},
                                            {"sliced", 1},
                                            {"compound", 1},
                                            {"in_loop", 1},
                                            {"several", 2},
                                            {"nested", 2},
                                            {"otherwise", 1},
                                            {"integers", 1},
                                            {"unbounded", 1},
                                            {"border", 1},
                                            {"late", 1, true},
                                            {"flags", 1, false, {8}},
                                            {"kinds", 2, false, {8, 16}}};

/// `open`: the share of the cells of %sel that are above 0.6.
inline void GatedArguments(Program& program, int64_t size, double open) {
  std::vector<double> sel, id;
  for (double number : RandomNumbers(static_cast<size_t>(size) + 64, 0, 1, 11))
    sel.push_back(number < open ? 0.61 + 0.39 * number / std::max(open, 1e-9) : 0.6 * number);
  for (int64_t k = 0; k < size; ++k) id.push_back(static_cast<double>((k * 37 + 11) % size));
  program.Buffer("x", {size}, RandomNumbers(static_cast<size_t>(size), 0.1, 1, 12));
  program.Zeros("y", {size});
  program.Buffer("sel", {size + 64}, sel);
  program.Buffer("id", {size}, id);
  program.Zeros("hit", {2, size});
  program.Number("n", 9);
  program.Number("m", 40);
}

/// Iterations that passed each gate, as the kernel itself has written them down.
inline std::vector<uint64_t> Hits(const interp::Arguments& arguments, size_t hit, int64_t gates,
                                  int64_t size) {
  std::vector<uint64_t> hits;
  for (int64_t gate = 0; gate < gates; ++gate) {
    uint64_t sum = 0;
    for (int64_t k = 0; k < size; ++k) sum += arguments[hit].tensor.Get(gate * size + k) != 0;
    hits.push_back(sum);
  }
  return hits;
}

/// How many iterations of kernel @border pass, each operation rounded by itself.
inline uint64_t BorderHits(const interp::Arguments& arguments, int64_t size) {
  uint64_t hits = 0;
  for (int64_t k = 0; k < size; ++k) {
    volatile float a = 0.1f * static_cast<float>(arguments[3].tensor.Get(k));
    volatile float s = static_cast<float>(arguments[2].tensor.Get(k));
    volatile float t = s > 0.6f ? 0.99999994f * s : s;
    volatile float left = a * s, right = a * t;
    hits += left > right;
  }
  return hits;
}

/// Every kernel with some gates open, none and all.
inline void CompareGatedKernels(OnDevice& device, const std::string& path, int64_t size) {
  Native native(path, 2);
  for (const GatedKernel& kernel : kGatedKernels) {
    for (double open : {0.1, 0.0, 1.0}) {
      INFO(kernel.name << ", a share of " << open << " open");
      auto program = Program::OfFile(path, kernel.name);
      GatedArguments(*program, size, open);
      std::string gradient = kernel.name + std::string(".grad");
      interp::Arguments value = program->arguments();
      native.Run(kernel.name, value);
      constexpr size_t kHit = 4;
      std::vector<uint64_t> hits = Hits(value, kHit, kernel.gates, size);
      if (kernel.name == std::string("border")) CHECK(hits[0] == BorderHits(value, size));
      interp::Arguments start = GradientArguments(native, gradient, value), expected = start;
      native.Run(gradient, expected);
      uint64_t most = 0;
      for (uint64_t threshold : {kNever, kAlways}) {
        interp::Arguments backward = start;
        CountedRows rows;
        device.Run(gradient, backward, {.threshold = threshold, .rows = &rows});
        CHECK(Difference(expected, backward) < 1e-5);
        int64_t gated = 0;
        for (const GroupRows& group : rows.groups) {
          if (group.gate.empty()) continue;
          INFO("group at " << group.gate << ", threshold " << threshold);
          CHECK(group.can_count);
          if (uint64_t bytes = kernel.row_bytes[gated]; bytes > 0) CHECK(group.row_bytes == bytes);
          uint64_t passed = hits[static_cast<size_t>(gated++)];
          bool must = std::string(kernel.name) == "unbounded";
          if (kernel.late) continue;
          CHECK(group.counted == (threshold == kAlways || must));
          if (!group.counted) continue;
          CHECK(group.iterations == passed);
          CHECK(group.rows == RowsFor(passed, rows.threads));
        }
        CHECK(gated == kernel.gates);
        if (threshold == kNever) most = rows.heap_bytes;
        if (threshold == kAlways) CHECK(rows.heap_bytes <= most);
      }
    }
  }
}

/// The grid step with `fraction` of its cells behind the gate (0: none at all), all bytes of rows counted.
inline void CompareGrid(OnDevice& device, const std::string& path, double fraction) {
  INFO("a share of " << fraction << " of the cells carries mass");
  samples::MpmStateConfig config;
  config.scale = 0.25;
  config.geoms = 5;
  config.pass_fraction = fraction == 0 ? 0.05 : fraction;
  std::vector<samples::StateArray> state = samples::MakeMpmState(config);
  for (samples::StateArray& array : state) {
    if (fraction == 0 && array.name == "mass") std::fill(array.values.begin(), array.values.end(), 0.0);
  }
  uint64_t passing = samples::CountPassing(state);
  auto program = Program::OfFile(path, "mpm_grid_op");
  SetArguments(*program, state);
  Native native(path, 2);
  interp::Arguments value = program->arguments();
  native.Run("mpm_grid_op", value);
  interp::Arguments start = GradientArguments(native, "mpm_grid_op.grad", value), expected = start;
  native.Run("mpm_grid_op.grad", expected);
  interp::Arguments backward = start, uncounted = start;
  CountedRows rows;
  device.Run("mpm_grid_op.grad", uncounted, {.threshold = kNever, .rows = &rows});
  device.Run("mpm_grid_op.grad", backward, {.threshold = kAlways, .rows = &rows});
  CHECK(Difference(uncounted, backward) < 1e-5);
  // Steep contacts and sums over all cells, in f32: each device rounds them in its own way.
  CHECK(Difference(expected, backward) < 1e-4);
  REQUIRE(rows.groups.size() == 1);
  const GroupRows& group = rows.groups[0];
  CHECK(group.counted);
  CHECK(group.iterations == passing);
  CHECK(group.rows == RowsFor(passing, rows.threads));
  CHECK(group.row_bytes <= 64);
  // Beside the rows there are words of the launch and the claim counter.
  CHECK(rows.heap_bytes <= 64 * group.rows + 4096);
}

inline constexpr double kGridFractions[] = {0, 0.008, 0.05, 1};

}  // namespace adc::test
