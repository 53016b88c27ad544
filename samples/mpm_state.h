#pragma once
// The state that mpm_grid_op.ir is called with, at the sizes of a push test: a box of soft material on a
// floor, pushed by a tool, with rigid geoms of all three kinds against it. The same numbers on every machine.

#include <cstdint>
#include <string>
#include <vector>

namespace adc::samples {

struct MpmStateConfig {
  /// Resolution against the push test: 1 is 65 x 129 x 36 cells with 4000 particles per environment.
  double scale = 1.0;
  uint32_t environments = 2;
  /// Rigid geoms; kinds in turn: plane, sphere, distance grid.
  uint32_t geoms = 3;
  /// Share of the cells that carry mass, spread over the whole grid; 0: those around the particles (0.8 %).
  double pass_fraction = 0;
  bool empty = false;  ///< no cell carries mass
  uint64_t seed = 1;
};

/// One argument, by parameter name. Values in C order, vectors and matrices as trailing axes; integers exact.
struct StateArray {
  std::string name;
  bool is_float = true;    ///< else i32
  bool is_number = false;  ///< a parameter that is no buffer
  std::vector<int64_t> extents;
  std::vector<double> values;
};

/// Every parameter of the kernel in order.
std::vector<StateArray> MakeMpmState(const MpmStateConfig& config);

/// Cells that pass the kernel's gate.
uint64_t CountPassing(const std::vector<StateArray>& state);

const StateArray& FindArray(const std::vector<StateArray>& state, const std::string& name);

/// The little-endian bytes of an array, floats as f32 or f64, integers as i32.
std::string ArrayBytes(const StateArray& array, bool f64);

}  // namespace adc::samples
