// track.cpp: how far an arm is from its path, at every point of the path. The arm has as many joints as
// `angle` has columns; link j turns with joint j about `axis[j]` and carries joint j + 1 at its end.

#include <adc/kernel.hpp>

using Vec3 = adc::vec<double, 3>;

/// `v` turned about the unit vector `axis`, by Rodrigues' formula.
inline Vec3 Turn(Vec3 axis, double angle, Vec3 v) {
  const double c = std::cos(angle);
  return c * v + std::sin(angle) * cross(axis, v) + (1 - c) * dot(axis, v) * axis;
}

/// A row of `residual` is a point of the path: where the tip is less where it should be, and then how far
/// each joint turned since the point before, times `calm`. The path is closed. `joint` is for the picture:
/// the ends of the links.
ADC_KERNEL void track(adc::readonly<adc::buffer<Vec3, 1>> axis, adc::readonly<adc::buffer<Vec3, 1>> link,
                      adc::readonly<adc::buffer<Vec3, 1>> path,
                      adc::readonly<adc::diff<adc::buffer<double, 2>>> angle, double calm,
                      adc::writeonce<adc::diff<adc::buffer<double, 2>>> residual,
                      adc::buffer<Vec3, 2> joint) {
  adc::parallel(path.extent(0), [&](int t) {
    const int joints = angle.extent(1), before = t > 0 ? t - 1 : path.extent(0) - 1;
    Vec3 x(1, 0, 0), y(0, 1, 0), z(0, 0, 1), at(0, 0, 0);  // the last link's frame, and its end
    for (int j = 0; j < joints; ++j) {
      const Vec3 about = axis[j].x * x + axis[j].y * y + axis[j].z * z;
      x = Turn(about, angle(t, j), x);
      y = Turn(about, angle(t, j), y);
      z = cross(x, y);
      at = at + link[j].x * x + link[j].y * y + link[j].z * z;
      joint(t, j) = at;
      residual(t, 3 + j) = calm * (angle(t, j) - angle(before, j));
    }
    const Vec3 miss = at - path[t];
    residual(t, 0) = miss.x;
    residual(t, 1) = miss.y;
    residual(t, 2) = miss.z;
  });
}
