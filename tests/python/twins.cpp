// The C++ twins of the kernels of twins.py that are not among samples/cpp.

#include <adc/kernel.hpp>
#include <cmath>

using Vec3 = adc::vec<double, 3>;
using Quat = adc::vec<double, 4>;  // x, y, z, w
template <class T, int rank>
using In = adc::readonly<adc::diff<adc::buffer<T, rank>>>;
template <class T, int rank>
using Data = adc::readonly<adc::buffer<T, rank>>;
template <class T, int rank>
using Out = adc::diff<adc::buffer<T, rank>>;

inline Vec3 Rotate(Quat q, Vec3 v) {
  Vec3 u(q.x, q.y, q.z);
  Vec3 t = 2.0 * cross(u, v);
  return v + q.w * t + cross(u, t);
}

inline Quat Turned(Quat q, Vec3 rate, double dt) {
  Vec3 u(q.x, q.y, q.z);
  Vec3 change = (q.w * rate + cross(u, rate)) * (0.5 * dt);
  double scalar = -0.5 * dt * dot(u, rate);
  Quat next(q.x + change.x, q.y + change.y, q.z + change.z, q.w + scalar);
  return next / length(next);
}

/// Quadrotors that follow thrusts of their four rotors; the loss asks for a place at the end.
ADC_KERNEL void quadrotor(In<Vec3, 1> start, In<double, 3> thrust, Data<Vec3, 1> goal, Out<double, 0> loss,
                          adc::diff<double> mass, double arm, double dt) {
  const int steps = thrust.extent(1);
  adc::parallel(start.extent(0), [&](int i) {
    Vec3 position = start[i], velocity(0.0), rate(0.0);
    Quat turn(0.0, 0.0, 0.0, 1.0);
    for (int t = 0; t < steps; ++t) {
      double a = thrust(i, t, 0), b = thrust(i, t, 1), c = thrust(i, t, 2), d = thrust(i, t, 3);
      Vec3 lift = Rotate(turn, Vec3(0.0, 0.0, (a + b + c + d) / mass));
      velocity = velocity + (lift - Vec3(0.0, 0.0, 9.81) - 0.1 * velocity) * dt;
      position = position + velocity * dt;
      Vec3 torque(arm * (b - d), arm * (c - a), 0.01 * (a - b + c - d));
      rate = rate + (torque - cross(rate, rate * 0.5)) * dt;
      turn = Turned(turn, rate, dt);
    }
    Vec3 miss = position - goal[i];
    adc::atomic_add(loss(), dot(miss, miss));
  });
}

/// Velocities of a grid from its momenta: gravity, and walls with friction.
ADC_KERNEL void mpm_grid(In<double, 3> mass, In<Vec3, 3> momentum, Out<Vec3, 3> velocity, Vec3 gravity,
                         double dt, double friction, int wall) {
  const int nx = mass.extent(0), ny = mass.extent(1), nz = mass.extent(2);
  adc::parallel(nx, ny, nz, [&](int i, int j, int k) {
    const double m = mass(i, j, k);
    if (!(m > 1e-10)) return;
    Vec3 v = momentum(i, j, k) / m + gravity * dt;
    if (k < wall && v.z < 0.0) {
      double along = std::sqrt(v.x * v.x + v.y * v.y + 1e-12);
      double left = std::max(along + friction * v.z, 0.0) / along;
      v = Vec3(v.x * left, v.y * left, 0.0);
    }
    if ((i < wall && v.x < 0.0) || (i >= nx - wall && v.x > 0.0)) v = Vec3(0.0, v.y, v.z);
    if ((j < wall && v.y < 0.0) || (j >= ny - wall && v.y > 0.0)) v = Vec3(v.x, 0.0, v.z);
    velocity(i, j, k) = v;
  });
}

/// Reprojection errors of points in cameras with two coefficients of distortion, under a robust loss.
ADC_KERNEL void bundle_adjustment(Data<int, 1> camera_of, Data<int, 1> point_of,
                                  Data<adc::vec<double, 2>, 1> seen, In<double, 2> camera, In<Vec3, 1> point,
                                  Out<double, 0> loss, double width) {
  adc::parallel(seen.extent(0), [&](int o) {
    const int c = camera_of[o];
    Vec3 axis(camera(c, 0), camera(c, 1), camera(c, 2)), p = point[point_of[o]];
    double angle_squared = dot(axis, axis);
    Vec3 q;
    if (angle_squared > 1e-12) {
      double angle = std::sqrt(angle_squared);
      Vec3 w = axis / angle;
      q = p * std::cos(angle) + cross(w, p) * std::sin(angle) + w * (dot(w, p) * (1.0 - std::cos(angle)));
    } else {
      q = p + cross(axis, p);
    }
    q = q + Vec3(camera(c, 3), camera(c, 4), camera(c, 5));
    double x = -q.x / q.z, y = -q.y / q.z, r = x * x + y * y;
    double scale = camera(c, 6) * (1.0 + r * (camera(c, 7) + camera(c, 8) * r));
    double dx = scale * x - seen[o].x, dy = scale * y - seen[o].y, e = dx * dx + dy * dy;
    adc::atomic_add(loss(), e <= width * width ? e : 2.0 * width * std::sqrt(e) - width * width);
  });
}

/// Spheres that meet pairwise: a spring and damper along the normal, friction across it.
ADC_KERNEL void contact(Data<int, 2> pair, In<Vec3, 1> position, In<Vec3, 1> velocity, In<double, 1> radius,
                        Out<Vec3, 1> force, double stiffness, double damping, double friction) {
  adc::parallel(pair.extent(0), [&](int n) {
    const int a = pair(n, 0), b = pair(n, 1);
    const Vec3 apart = position[b] - position[a];
    const double distance = length(apart), depth = radius[a] + radius[b] - distance;
    if (depth <= 0.0) return;
    const Vec3 normal = apart / distance, relative = velocity[b] - velocity[a];
    const double inward = dot(relative, normal);
    const double push = std::max(stiffness * depth - damping * inward, 0.0);
    const Vec3 along = relative - normal * inward;
    const double slide = std::sqrt(dot(along, along) + 1e-8);
    const Vec3 pull = normal * push - along * (friction * push / slide);
    adc::atomic_add(force[b], pull);
    adc::atomic_sub(force[a], pull);
  });
}

inline double Score(In<double, 2> query, In<double, 2> key, int i, int j) {
  const int width = query.extent(1);
  double sum = 0.0;
  for (int k = 0; k < width; ++k) sum += query(i, k) * key(j, k);
  return sum / std::sqrt(double(width));
}

/// Attention of one head over a short sequence, the largest score first so that no exponential overflows.
ADC_KERNEL void attention(In<double, 2> query, In<double, 2> key, In<double, 2> value, Out<double, 2> out) {
  const int length = key.extent(0), width = query.extent(1);
  adc::parallel(query.extent(0), [&](int i) {
    double largest = -1e30, total = 0.0;
    for (int j = 0; j < length; ++j) largest = std::max(largest, Score(query, key, i, j));
    for (int j = 0; j < length; ++j) total += std::exp(Score(query, key, i, j) - largest);
    for (int j = 0; j < length; ++j) {
      const double weight = std::exp(Score(query, key, i, j) - largest) / total;
      for (int k = 0; k < width; ++k) out(i, k) += weight * value(j, k);
    }
  });
}

inline double Scene(Vec3 p, double radius) {
  double ball = length(p) - radius, floor = p.y + 1.0;
  double h = std::max(0.3 - std::abs(ball - floor), 0.0) / 0.3;
  return std::min(ball, floor) - h * h * 0.075;
}

/// Rays through a field of distances: a ball that melts into a floor, until the field is near zero.
ADC_KERNEL void ray_march(Data<Vec3, 1> direction, Vec3 eye, adc::diff<double> radius, Out<double, 1> depth,
                          int most) {
  adc::parallel(direction.extent(0), [&](int i) {
    const Vec3 along = direction[i];
    double t = 0.0;
    for (int step = 0; step < most; ++step) {
      double near = Scene(eye + along * t, radius);
      if (near < 1e-3 || t > 8.0) break;
      t += near;
    }
    depth[i] = t;
  });
}

/// Channels of sound through a delay line with feedback and a low pass in its loop.
ADC_KERNEL void delay_line(In<double, 2> input, adc::settled<Out<double, 2>> output,
                           adc::diff<double> feedback, adc::diff<double> damp, int delay) {
  const int samples = input.extent(1);
  adc::parallel(input.extent(0), [&](int c) {
    double low = 0.0;
    for (int t = 0; t < samples; ++t) {
      double back = 0.0;
      if (t >= delay) back = output(c, t - delay);
      low = low + (back - low) * damp;
      output(c, t) = input(c, t) + std::tanh(feedback * low);
    }
  });
}
