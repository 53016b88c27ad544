#pragma once
// The arguments of mpm_grid_op.ir for the interpreter, and which of its inputs may be moved how far without
// stepping over its gate.

#include <cstring>

#include "gradient_check.h"
#include "mpm_state.h"
#include "program.h"

namespace adc::test {

/// Hands a state to a program that runs the kernel (f32 or f64) or one derived from it.
inline void SetMpmArguments(Program& program, const std::vector<samples::StateArray>& state) {
  for (const samples::StateArray& array : state) {
    size_t n = program.Index(array.name);
    ir::Type type = program.TypeOf(n);
    if (array.is_number) {
      program.Number(array.name, 0);
      for (size_t k = 0; k < array.values.size(); ++k)
        program.arguments()[n].bits[k] = interp::NumberArgument(type.ScalarType(), array.values[k]).bits[0];
      continue;
    }
    std::vector<int64_t> extents(array.extents.begin(), array.extents.begin() + type.count);
    interp::Tensor& tensor = program.arguments()[n].tensor;
    tensor = interp::Tensor::Zeros(type.Element(), extents);
    std::string bytes = samples::ArrayBytes(array, type.scalar == ir::Scalar::F64);
    REQUIRE(bytes.size() == tensor.data.size());
    std::memcpy(tensor.data.data(), bytes.data(), bytes.size());
  }
}

/// Names of the differentiable inputs of the kernel, in parameter order.
inline const std::vector<std::string>& MpmInputs() {
  static const std::vector<std::string> names{"mass",      "vel_in",   "tool_pos", "tool_quat", "geom_pos",
                                              "geom_quat", "link_pos", "link_vel", "link_ang"};
  return names;
}

/// The inputs of a state as a point.
inline Point MpmPoint(const std::vector<samples::StateArray>& state) {
  Point point;
  for (const std::string& name : MpmInputs()) point.push_back(samples::FindArray(state, name).values);
  return point;
}

/// Masses move in proportion, so that empty cells stay empty; momenta in proportion to the mass. Poses move
/// little: a tool's velocity is its motion over a time step of 2e-4, and a contact begins and ends at a
/// distance of millimetres, where the kernel's result jumps.
inline Point MpmScale(const std::vector<samples::StateArray>& state) {
  Point scale = MpmPoint(state);
  const std::vector<double>& mass = samples::FindArray(state, "mass").values;
  for (size_t n = 0; n < scale.size(); ++n) {
    double pose = n == 2 || n == 3 ? 2e-4 : n == 4 || n == 5 ? 1e-2 : 1.0;
    for (size_t k = 0; k < scale[n].size(); ++k) scale[n][k] = n == 0 ? mass[k] : n == 1 ? mass[k / 3] : pose;
  }
  return scale;
}

}  // namespace adc::test
