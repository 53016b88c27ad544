#pragma once
// States that update_cartesian_space.ir is called with: a free body, a robot arm on a fixed base, and trees
// of links with every kind of joint. The same numbers on every machine.

#include "mpm_state.h"

namespace adc::samples {

/// Kinds of joints, as the kernel numbers them.
enum class Joint : uint8_t { Fixed = 0, Revolute = 1, Prismatic = 2, Spherical = 3, Free = 4 };

struct ArticulatedConfig {
  enum class Scene : uint8_t {
    Body,  ///< one link on a free joint, with one geom
    Arm,   ///< eleven links: a fixed base, seven revolute joints, a flange, a hand with two prismatic fingers
    Tree,  ///< several entities of random trees: a parent may lie in an earlier entity, a link may have
           ///< several joints of any kind or none
  };
  Scene scene = Scene::Arm;
  uint32_t environments = 2;
  uint32_t links = 40;  ///< of Tree
  uint64_t seed = 1;
};

/// Every parameter of the kernel in order, outputs filled with zeros, but for the poses of fixed roots.
std::vector<StateArray> MakeArticulatedState(const ArticulatedConfig& config);

}  // namespace adc::samples
