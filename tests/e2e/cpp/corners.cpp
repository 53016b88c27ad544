// More of what engines write: captures, references, loops and numbers in small kernels, as engine.cpp
// has them.

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "feature.h"

namespace corners {

struct P {
  double a, b;
};

FEATURE(star_this, {
  struct S {
    double v;
    double g() {
      auto f = [*this](double t) { return t * v; };
      v = 100;
      return f(2.0) + v;
    }
  } s{x[i]};
  return s.g();
})
FEATURE(this_capture, {
  struct S {
    double v;
    double g() {
      auto f = [this](double t) {
        v += t;
        return v;
      };
      f(1.0);
      return f(2.0) + v;
    }
  } s{x[i]};
  return s.g();
})
FEATURE(step_continue, {
  double v = 0;
  int k = 0;
  for (; k < 20; k += 3) {
    if (k & 1) continue;
    v += x[k % 16];
    if (v > 5) break;
  }
  return v + k;
})
FEATURE(do_effect, {
  int k = 0;
  double v = x[i];
  do {
    v += 0.1;
    if (v > 2) continue;
    v *= 1.1;
  } while (x[k++] > 0.5 && k < 9);
  return v + k;
})
FEATURE(ref_swap, {
  double a = x[i], b = x[0];
  double& p = a;
  double& q = b;
  std::swap(p, q);
  p += 1;
  return a * 2 + b;
})
FEATURE(arr_of_arr, {
  double a[2][3] = {{1, 2}, {x[i]}};
  auto& r = a[1];
  r[2] = 5;
  double(&s)[3] = a[0];
  s[0] = r[0];
  return a[0][0] + a[1][2] + a[0][2];
})
FEATURE(array_by_value_lambda, {
  std::array<double, 3> a{x[i], 2, 3};
  auto f = [a]() mutable {
    a[0] = 9;
    return a[0] + a[1];
  };
  double r = f();
  return r + a[0];
})
FEATURE(array_param, {
  auto f = [](std::array<double, 2> a) {
    a[0] *= 2;
    return a[0] + a[1];
  };
  std::array<double, 2> a{x[i], 1};
  double v = f(a);
  return v * a[0];
})
FEATURE(nested_struct_assign, {
  struct O {
    P p;
    P q[2];
  } o{{x[i], 1}, {{2, 3}, {4, 5}}};
  o.p = o.q[1];
  o.q[0] = {o.p.b, o.p.a};
  o.q[1].a = x[i];
  return o.p.a * o.q[0].a + o.q[0].b + o.q[1].a;
})
FEATURE(loop_ref, {
  P a[3] = {{1, 2}, {3, x[i]}, {5, 6}};
  for (auto& p : a) {
    p.a += p.b;
    for (auto q : a) p.b += 0.1 * q.a;
  }
  return a[0].a + a[1].b * a[2].b;
})
FEATURE(loop_copy, {
  double a[3] = {1, x[i], 3};
  double v = 0;
  for (auto e : a) {
    e *= 2;
    v += e;
    a[2] += 1;
  }
  return v + a[1];
})
FEATURE(bind_copy, {
  P p{x[i], 2};
  auto [a, b] = p;
  p.a = 100;
  auto& [c, d] = p;
  c += 1;
  return a + b + p.a + d;
})
FEATURE(bind_array_ref, {
  double a[2] = {x[i], 2};
  auto& [p, q] = a;
  p *= 3;
  a[1] = p;
  return q + p;
})
FEATURE(uninit_branch, {
  double v;
  if (i > 3)
    v = x[i];
  else
    v = x[0] * x[i];
  return v;
})
FEATURE(const_after, {
  const double c = x[i] > 1 ? x[0] : 2;
  double v = c;
  v += c;
  return v * x[i];
})
FEATURE(while_break_carry, {
  int k = 0;
  double last = 0, v = x[i];
  while (true) {
    last = v;
    v = v * 0.5 + 0.7;
    if (++k > 6 || last > v) break;
    last += 1;
  }
  return last * v + k;
})
FEATURE(switch_loop, {
  double v = x[i];
  for (int k = 0; k < 6; ++k) switch (k) {
      case 2:
        v += 1;
        continue;
      case 4:
        v *= 2;
      default:
        v += 0.1;
        break;
      case 5:
        return v;
    }
  return -1;
})
FEATURE(two_level_return, {
  auto f = [&](double t) {
    for (int a = 0; a < 3; ++a) {
      for (int b = 0; b < 3; ++b)
        if (x[a + b] * t > 1.5) return x[a + b] * 10 + a;
      t += 0.2;
    }
    return t;
  };
  return f(x[i]) + f(0.3);
})
FEATURE(fold_min, {
  double best = 1e9;
  int at = -1;
  for (int k = 0; k < 16; ++k)
    if (x[k] < best) best = x[k], at = k;
  return best * at + x[i];
})
FEATURE(sort3, {
  double a[4] = {x[i], x[1], x[2], x[3]};
  for (int p = 0; p < 3; ++p)
    for (int q = 0; q < 3 - p; ++q)
      if (a[q] > a[q + 1]) std::swap(a[q], a[q + 1]);
  return a[0] + 2 * a[1] + 3 * a[2] + 4 * a[3];
})
FEATURE(post_inc_struct, {
  struct I {
    int k;
    I operator++(int) {
      I o = *this;
      ++k;
      return o;
    }
  } it{0};
  double v = x[it++.k];
  v += x[it++.k] * x[it.k] * x[i];
  return v;
})
FEATURE(exchange_, {
  double a = x[i];
  double b = std::exchange(a, 2.0);
  return a * b;
})
FEATURE(max_self, {
  double a = x[i];
  a = std::max(a, 1.0);
  double& r = a;
  r = std::min(r, r * r);
  return a * x[0];
})
FEATURE(clamp_ref, {
  double v = x[i] * 2, lo = 0.5, hi = 2.5;
  const double& c = std::clamp(v, lo, hi);
  v += 100;
  return c;
})
FEATURE(uchar_loop, {
  double v = 0;
  for (unsigned char k = 0; k < 10; ++k) v += x[k] * k;
  return v * x[i];
})
FEATURE(short_sum, {
  short s = 32000;
  s += 1000;
  int k = s;
  unsigned short u = s;
  return x[i] * (k + u);
})
FEATURE(int_min, {
  int m = -2147483647 - 1;
  return x[i] * (m < 0) + (m >> 31) + static_cast<unsigned>(m) * 1e-9;
})
FEATURE(u64_mod, {
  unsigned long long u = 18446744073709551615ull - static_cast<unsigned>(i);
  return x[i] * static_cast<double>(u % 1000003ull) + static_cast<double>(u / 3 >> 40);
})
FEATURE(cmp_mixed, {
  unsigned u = 3;
  int s = i - 4;
  double v = x[i];
  if (u > static_cast<unsigned>(s)) v += 1;
  if (s < 0 ? true : u > 2) v *= 2;
  return v + (s < (long long)u);
})
FEATURE(static_fn_table, {
  constexpr int order[3][2] = {{1, 2}, {0, 2}, {0, 1}};
  double v = 0;
  for (auto& r : order) v += x[r[0]] * x[r[1]];
  return v * x[i];
})
template <class T>
struct Vec3 {
  T x{}, y{}, z{};
  constexpr Vec3 operator+(const Vec3& o) const { return {x + o.x, y + o.y, z + o.z}; }
  constexpr Vec3 operator*(T s) const { return {x * s, y * s, z * s}; }
  Vec3& operator+=(const Vec3& o) {
    x += o.x;
    y += o.y;
    z += o.z;
    return *this;
  }
  T& operator[](int k) { return k == 0 ? x : k == 1 ? y : z; }
  friend constexpr Vec3 operator-(const Vec3& a, const Vec3& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
  friend constexpr T Dot(const Vec3& a, const Vec3& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
  friend constexpr Vec3 Cross(Vec3 a, Vec3 b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
  }
};
template <class T>
struct Quat {
  Vec3<T> v;
  T w;
  Quat operator*(const Quat& o) const { return {Cross(v, o.v) + o.v * w + v * o.w, w * o.w - Dot(v, o.v)}; }
  Vec3<T> Rotate(const Vec3<T>& p) const { return ((*this) * Quat{p, T(0)} * Quat{v * T(-1), w}).v; }
};
FEATURE(chosen_of_three, {
  Vec3<double> v{x[i], 2, 3};
  for (int k = 0; k < 7; ++k) {
    v[(k + i) % 3] += v[k % 3] * 0.5;
    double& part = i > k ? v.x : v.y < v.z ? v.y : v.z;
    part *= 0.75;
  }
  return v[0] * v[1] - v[2];
})
FEATURE(chosen_writes, {
  double a = x[i];
  double b = 1;
  double c = -1;
  (i % 3 == 0 ? a : i % 3 == 1 ? b : c) += 2 * a;
  auto swapped = [&](double& p, double& q) { std::swap(p, q); };
  swapped(i % 2 == 0 ? a : i > 4 ? b : c, b);
  return a + 10 * b + 100 * c;
})
FEATURE(bodies_step, {
  static constexpr std::array<double, 4> table{0.5, -1.25, 2.0, 3.5};
  Vec3<double> p{x[i], 0.5, -0.25};
  Quat<double> rot{{0.1, x[(i + 1) % 16], 0.3}, 0.9};
  double mass = 1;
  Vec3<double> acc{};
  for (int k = 0; k < 5; ++k) {
    Vec3<double> d = Vec3<double>{x[(i + k) % 16], 1, 0.25} - p;
    double r2 = Dot(d, d) + 0.1;
    acc += d * (mass / (r2 * std::sqrt(r2)));
    if (r2 > 4.0) break;
    p += rot.Rotate(acc) * 0.01;
    rot = rot * Quat<double>{d, 1.0};
    switch ((i + k) & 3) {
      case 0:
        mass *= 1.1;
        [[fallthrough]];
      case 1: {
        acc[k % 3] += table[static_cast<unsigned>(k & 3)];
        break;
      }
      case 2:
        if (k == 1) continue;
        mass += table[static_cast<unsigned>(i & 3)];
        break;
      default:
        break;
    }
    double& c = k % 2 == 0 ? p.y : rot.w;
    c *= 0.75;
  }
  return acc.x + acc.y * p.z + rot.w * mass;
})

// Both forms of the line, and its end, which the standard wants exact.
FEATURE(lerps, {
  double u = x[i] - 1;
  return std::lerp(1.0, 3.0, x[i]) + std::lerp(u, x[i + 1], 0.3) + std::lerp(x[i], -u, u) +
         std::lerp(x[i], x[i + 2], 1.0) + std::lerp(1e20, x[i], 1.0) + std::lerp(x[i], u, 1.5);
})

// clang-format off
#define ADC_CORNERS(X) \
  X(star_this) X(this_capture) X(step_continue) X(do_effect) X(ref_swap) \
  X(arr_of_arr) X(array_by_value_lambda) X(array_param) X(nested_struct_assign) X(loop_ref) \
  X(loop_copy) X(bind_copy) X(bind_array_ref) X(uninit_branch) X(const_after) \
  X(while_break_carry) X(switch_loop) X(two_level_return) X(fold_min) X(sort3) \
  X(post_inc_struct) X(exchange_) X(max_self) X(clamp_ref) X(uchar_loop) \
  X(short_sum) X(int_min) X(u64_mod) X(cmp_mixed) X(static_fn_table) \
  X(chosen_of_three) X(chosen_writes) X(bodies_step) X(lerps)
// clang-format on

}  // namespace corners
