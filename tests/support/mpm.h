#pragma once
// The arguments of mpm_grid_op.ir for the interpreter, and which of its inputs may be moved how far without
// stepping over its gate.

#include "gradient_check.h"
#include "state.h"

namespace adc::test {

/// Hands a state to a program that runs the kernel (f32 or f64) or one derived from it.
inline void SetMpmArguments(Program& program, const std::vector<samples::StateArray>& state) {
  SetArguments(program, state);
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
