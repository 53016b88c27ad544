// forward_kinematics.cpp: poses of the links of a robot from its joint angles, down a tree that stands in the
// data.

#include <adc/kernel.hpp>

using Vec3 = adc::vec<float, 3>;
using Quat = adc::vec<float, 4>;  // x, y, z, w

inline Quat Multiply(Quat a, Quat b) {
  Vec3 u(a.x, a.y, a.z), v(b.x, b.y, b.z);
  Vec3 w = a.w * v + b.w * u + cross(u, v);
  return Quat(w.x, w.y, w.z, a.w * b.w - dot(u, v));
}

inline Vec3 Rotate(Quat q, Vec3 v) {
  Vec3 u(q.x, q.y, q.z);
  Vec3 t = 2.0f * cross(u, v);
  return v + q.w * t + cross(u, t);
}

inline Quat About(Vec3 axis, float angle) {
  Vec3 v = axis * std::sin(0.5f * angle);
  return Quat(v.x, v.y, v.z, std::cos(0.5f * angle));
}

/// Links lie behind their parents; the parent of a root is -1. A row of `angle` is a robot.
ADC_KERNEL void forward_kinematics(adc::readonly<adc::buffer<int, 1>> parent,
                                   adc::readonly<adc::buffer<Vec3, 1>> axis,
                                   adc::readonly<adc::buffer<Vec3, 1>> offset,
                                   adc::readonly<adc::diff<adc::buffer<float, 2>>> angle,
                                   adc::writeonce<adc::diff<adc::buffer<Vec3, 2>>> position,
                                   adc::writeonce<adc::diff<adc::buffer<Quat, 2>>> rotation) {
  adc::parallel(angle.extent(0), [&](int robot) {
    for (int link = 0; link < parent.extent(0); ++link) {
      Vec3 at = offset[link];
      Quat turn = About(axis[link], angle(robot, link));
      const int above = parent[link];
      if (above >= 0) {
        const Quat q = rotation(robot, above);
        at = position(robot, above) + Rotate(q, at);
        turn = Multiply(q, turn);
      }
      position(robot, link) = at;
      rotation(robot, link) = turn;
    }
  });
}
