#pragma once
// quaternion.hpp: rotations and rigid poses for kernels, for any type of float (quaternion.ir).

#include <adc/kernel.hpp>

/// A rotation: w, then the vector part; of length 1. In a buffer four numbers in this order.
template <class T>
struct Quat {
  T w;
  adc::vec<T, 3> u;

  Quat operator~() const { return {w, -u}; }
  adc::vec<T, 3> operator*(adc::vec<T, 3> v) const {
    const adc::vec<T, 3> t = cross(u, v) * T(2);
    return v + t * w + cross(u, t);
  }
};

/// Takes a point of the body's frame to `pose * point` of the world's.
template <class T>
struct Pose {
  adc::vec<T, 3> position;
  Quat<T> turn;

  adc::vec<T, 3> operator*(adc::vec<T, 3> point) const { return turn * point + position; }
  adc::vec<T, 3> Local(adc::vec<T, 3> point) const { return ~turn * (point - position); }
};
