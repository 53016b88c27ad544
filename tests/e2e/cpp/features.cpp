// What a kernel in C++ may use, a kernel each: alone, and nested.

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <limits>
#include <tuple>
#include <utility>

#include "feature.h"

using V2 = adc::vec<double, 2>;
using V4 = adc::vec<double, 4>;
using M2 = adc::mat<double, 2, 2>;

// ---- Control flow

FEATURE(if_else, {
  double v = x[i];
  if (v > 1.0) {
    v = v * v;
  } else {
    v = 3.0 * v;
  }
  return v;
})
FEATURE(else_if, {
  double v = x[i];
  if (v > 1.5)
    return v * v;
  else if (v > 1.0)
    return 2.0 * v;
  else if (v > 0.5)
    return v - 1.0;
  return -v;
})
FEATURE(early_return, {
  if (i == 3) return 0.5;
  double v = x[i] * x[i + 1];
  if (v > 1.0) return v;
  v += 1.0;
  if (v > 1.5) {
    v *= 2.0;
    if (i % 2 == 0) return v * x[0];
    v -= 1.0;
  }
  return v * v;
})
FEATURE(return_in_loop, {
  double v = x[i];
  for (int t = 0; t < 10; ++t) {
    v = v * 1.3;
    if (v > 2.0) return v * v;
  }
  return v;
})
FEATURE(return_in_nested_loops, {
  double v = x[i];
  for (int t = 0; t < n; ++t) {
    for (int u = 0; u <= t; ++u) {
      v += 0.1 * x[u];
      if (v > 2.5) return v * v * x[t];
    }
    v *= 1.05;
  }
  v += 100.0;
  return v;
})
FEATURE(for_break, {
  double v = x[i];
  for (int t = 0; t < 20; ++t) {
    if (v > 3.0) break;
    v = v * 1.25 + 0.1;
  }
  return v;
})
FEATURE(for_continue, {
  double v = 1.0;
  for (int t = 0; t < 8; ++t) {
    if ((t + i) % 3 == 0) continue;
    v = v * x[t];
  }
  return v;
})
FEATURE(while_loop, {
  double v = x[i];
  while (v < 5.0) v = v * 1.5 + 0.25;
  return v;
})
FEATURE(while_with_effects, {
  double v = 1.0;
  int k = n;
  while (k-- > 0) v = v * x[k] + 0.5;
  return v + k;
})
FEATURE(while_declares, {
  double v = x[i];
  int k = n;
  while (int left = k) {
    v = v * 0.9 + 0.1 * left;
    --k;
  }
  return v;
})
FEATURE(do_while, {
  double v = x[i];
  int k = 0;
  do {
    v = v * v * 0.7;
    ++k;
    if (v < 0.2) continue;
    v += 0.05;
  } while (k < 4 && v > 0.1);
  return v;
})
FEATURE(endless_with_break, {
  double v = x[i];
  for (;;) {
    v = v * 0.8;
    if (v < 0.3) break;
  }
  while (true) {
    v = v * 1.7;
    if (v > 2.0) break;
  }
  return v;
})
FEATURE(for_down, {
  double v = 1.0;
  for (int t = n - 1; t >= 0; --t) v = v * x[t] + 0.1;
  for (int t = n; t > 1; --t) v = v * 0.9 + x[t];
  return v;
})
FEATURE(for_step, {
  double v = 1.0;
  for (int t = i; t < 16; t += 3) v = v * x[t] + 0.1;
  for (int t = 9; t > 0; t -= 2) v += x[t] * v;
  return v;
})
FEATURE(for_inclusive, {
  double v = 1.0;
  for (int t = 1; t <= n; ++t) {
    for (int u = 0; u <= t; ++u) v = v * 0.5 + x[u] * x[t];
  }
  return v;
})
FEATURE(for_unsigned, {
  double v = 0.0;
  const auto m = static_cast<unsigned>(n);
  for (unsigned t = 0; t < m; ++t) v += x[t] * x[t + 1];
  for (std::size_t t = 0; t < 4; ++t) v = v * x[t];
  for (unsigned t = m; t-- > 0;) v += 0.5 * v * x[t];
  return v;
})
FEATURE(for_long, {
  double v = 0.0;
  const long m = n;
  for (int t = 0; t < m; ++t) v += x[t] * x[t];
  for (long t = m; t >= 1; --t) v = v * x[t];
  return v;
})
FEATURE(for_not_equal, {
  double v = 1.0;
  for (int t = 0; t != 6; ++t) v *= x[t];
  for (int t = 2; t != n; ++t) v += x[t];
  return v;
})
FEATURE(for_moving_bound, {
  double v = 0.0;
  int end = n;
  for (int t = 0; t < end; ++t) {
    v += x[t] * v + 0.3;
    if (v > 1.0) end = 4;
  }
  return v;
})
FEATURE(for_moving_index, {
  double v = 1.0;
  for (int t = 0; t < 9; ++t) {
    v = v * x[t] + 0.2;
    if (v > 1.0) ++t;
  }
  return v;
})
FEATURE(for_condition, {
  double v = x[i];
  for (int t = 0; t < 12 && v < 4.0; ++t) v = v * 1.2 + 0.1 * t;
  return v;
})
FEATURE(index_after_loop, {
  int t;
  double v = 0.0;
  for (t = 0; t < n; ++t) v += x[t];
  int u = 0;
  for (; u < 10; ++u) {
    v = v * 1.1;
    if (v > 8.0) break;
  }
  return v * t + u;
})
FEATURE(loop_bound_from_buffer, {
  double v = x[i];
  const int m = static_cast<int>(x[i] * 4.0);
  for (int t = 0; t < m; ++t) v = std::sin(v) + 0.2;
  return v;
})
FEATURE(switch_cases, {
  double v = x[i];
  switch (i % 4) {
    case 0:
      v = v * v;
      break;
    case 1:
    case 2:
      v = 3.0 * v;
      if (v > 2.0) break;
      v += 0.25;
      break;
    default:
      v = -v;
  }
  return v;
})
FEATURE(switch_falls_through, {
  double v = x[i];
  switch (i) {
    case 1:
      v += 1.0;
      [[fallthrough]];
    case 2:
      v *= x[2];
      [[fallthrough]];
    default:
      v *= 0.5;
      break;
    case 4:
      v = 7.0 * v;
  }
  return v;
})
FEATURE(switch_returns, {
  switch (i % 3) {
    case 0:
      return x[i] * x[i];
    case 1:
      if (x[i] > 1.0) return 2.0;
      break;
    default:
      return -x[i];
  }
  return x[i] + 1.0;
})
FEATURE(break_in_for_in_switch_in_lambda, {
  auto act = [&](int what, double v) {
    switch (what) {
      case 0:
        for (int t = 0; t < 9; ++t) {
          if (v > 2.0) break;
          v *= 1.4;
        }
        break;
      case 1:
        for (int t = 0; t < n; ++t) {
          if (t == 2) continue;
          switch (t) {
            case 3:
              v += x[t];
              break;
            default:
              if (v > 3.0) return v * 10.0;
              v *= 1.3;
          }
        }
        break;
      default:
        return v;
    }
    return v + 1.0;
  };
  return act(i % 3, x[i]);
})
FEATURE(continue_in_switch, {
  double v = 1.0;
  for (int t = 0; t < 8; ++t) {
    switch (t & 3) {
      case 0:
        continue;
      case 1:
        v *= x[t];
        break;
      default:
        v += 0.1 * x[t];
    }
    v *= 1.01;
  }
  return v;
})
FEATURE(conditional_operator, {
  double v = x[i] > 1.0 ? x[i] * x[i] : std::sqrt(x[i]);
  return i < 4 ? v : (i < 6 ? -v : v * x[0]);
})
FEATURE(short_circuit, {
  double v = x[i];
  int calls = 0;
  auto count = [&] { return ++calls > 0; };
  if (v > 1.0 && count()) v *= 2.0;
  if (v < 0.5 || count()) v += 0.5;
  if (i < 7 && x[i + 9] > 0.5 && !(v > 3.0)) v *= x[i + 1];
  return v + calls;
})

// ---- Expressions

FEATURE(compound_assignment, {
  double v = x[i];
  v += 1.0;
  v -= 0.25;
  v *= v;
  v /= 3.0;
  int k = i;
  k += 7;
  k -= 2;
  k *= 3;
  k /= 2;
  k %= 5;
  k <<= 2;
  k >>= 1;
  k |= 8;
  k &= 13;
  k ^= 3;
  return v * k;
})
FEATURE(steps, {
  int k = i;
  int a = k++ + 2;
  int b = ++k * 3;
  int c = k-- - a;
  int d = --k;
  double v = x[i];
  double w = v++;
  return w * a + v * b - c * d;
})
FEATURE(order_of_assignment, {
  int k = 0;
  std::array<double, 4> a = {0.0, 0.0, 0.0, 0.0};
  a[static_cast<std::size_t>(k)] = (k = 2, x[i]);
  k = k++ + 3;
  return a[2] + k;
})
FEATURE(comma, {
  double v = (x[i], x[i] * 2.0);
  int a = 0;
  for (int t = 0, u = 3; t < u; ++t, --u) a += u, v *= 1.1;
  return v + a;
})
FEATURE(integers, {
  const int a = i - 3;
  const unsigned u = static_cast<unsigned>(a);
  const long long l = static_cast<long long>(a) * 3000000000LL;
  const short s = static_cast<short>(70000 + i);
  const unsigned char c = static_cast<unsigned char>(300 + i);
  const std::int8_t t = static_cast<std::int8_t>(200 + i);
  return x[i] * (a / 2) + a % 2 + static_cast<double>(u >> 28) + static_cast<double>(l / 7) * 1e-9 + s + c +
         t + static_cast<double>(~u & 255u) + (-a) + !a;
})
FEATURE(casts, {
  const double v = x[i] * 3.0;
  const int a = static_cast<int>(v);
  const float f = static_cast<float>(i) * 0.3f;
  const bool b = static_cast<bool>(a);
  const auto g = float(a) * 0.5f;
  return v * a + static_cast<double>(f) + b + (double)g + int(true);
})
FEATURE(bit_cast, {
  const auto bits = std::bit_cast<std::uint64_t>(2.5 + i);
  const auto back = std::bit_cast<double>(bits ^ (std::uint64_t{1} << 63));
  return x[i] * back + static_cast<double>(bits >> 52);
})
FEATURE(bits, {
  const auto u = static_cast<unsigned>(i * 37 + 5);
  return x[i] * std::popcount(u) + std::countl_zero(u) + std::countr_zero(u);
})
FEATURE(math, {
  const double v = x[i];
  double s = std::sin(v) + std::cos(v) + std::tan(v * 0.5) + std::exp(v) + std::log(v) + std::sqrt(v);
  s +=
      std::pow(v, 2.5) + std::atan2(v, 2.0) + std::hypot(v, 1.0) + std::tanh(v) + std::exp2(v) + std::log2(v);
  s += std::asin(v * 0.3) + std::acos(v * 0.3) + std::atan(v) + std::sinh(v) + std::cosh(v) + std::cbrt(v);
  s += std::erf(v) + std::erfc(v) + std::expm1(v) + std::log1p(v) + std::log10(v) + std::fma(v, v, 1.0);
  return s + std::asinh(v) + std::acosh(v + 1.0) + std::atanh(v * 0.3) + std::pow(v, 3);
})
FEATURE(rounding, {
  const double v = (x[i] - 1.0) * 5.0;
  const double half = i - 3.5;
  return std::floor(v) + 10.0 * std::ceil(v) + 100.0 * std::trunc(v) + 1000.0 * std::round(half) +
         1e4 * std::nearbyint(half) + std::fabs(v) + std::abs(v) + std::fmod(v, 0.7) + std::abs(i - 4);
})
FEATURE(extremes, {
  const double v = x[i];
  const double w = x[i + 1];
  return std::min(v, w) + 2.0 * std::max(v, w) + std::clamp(v, 0.5, 1.5) * w + std::fmin(v, 1.0) +
         std::fmax(w, 1.0) + std::max(i, 3) + std::min({v, w, 1.1});
})
FEATURE(classes_of_numbers, {
  const double bad = x[i] > 1.0 ? std::numeric_limits<double>::quiet_NaN() : x[i];
  double v = std::isnan(bad) ? 1.0 : bad * bad;
  if (std::isfinite(v) && !std::isinf(v) && !std::signbit(v))
    v += std::copysign(2.0, -v) + std::fdim(x[i], 1.0);
  return v;
})

// ---- Types

enum class Mode { linear, square, cube = 5 };
enum Flags : unsigned char { kNone = 0, kTwice = 2 };
FEATURE(enumerations, {
  const Mode mode = i % 2 == 0 ? Mode::square : i == 5 ? Mode::cube : Mode::linear;
  const auto flags = static_cast<Flags>(i & 2);
  double v = x[i];
  switch (mode) {
    case Mode::linear:
      break;
    case Mode::square:
      v = v * v;
      break;
    case Mode::cube:
      v = v * v * v;
  }
  return flags == kTwice ? 2.0 * v : v;
})

struct Particle {
  V3 position;
  double mass = 1.0;
  int kind = 0;
  double Energy(double g) const { return mass * g * position.z; }
  void Push(V3 by) { position += by; }
  Particle& Heavier(double f) {
    mass *= f;
    return *this;
  }
  friend Particle operator+(Particle a, const Particle& b) {
    a.position += b.position;
    a.mass += b.mass;
    return a;
  }
};
FEATURE(structs, {
  Particle p{V3(x[i], x[i + 1], x[i + 2])};
  Particle q = p;
  q.Push(V3(0.5, 0.25, x[3]));
  q.Heavier(2.0).Heavier(x[4]).kind = 3;
  p = p + q;
  Particle r;
  r = q;
  return p.Energy(9.81) + r.Energy(1.0) * r.kind + q.position.y;
})
struct Body {
  Particle parts[2];
  std::array<double, 3> weights{1.0, 2.0, 3.0};
  double Total() const {
    double sum = 0.0;
    for (const Particle& part : parts) sum += part.mass * part.position.x;
    for (double w : weights) sum += w;
    return sum;
  }
};
FEATURE(nested_structs, {
  Body body;
  body.parts[0].position = V3(x[i], 1.0, 2.0);
  body.parts[1].position.x = x[i + 1] * x[i];
  body.parts[1].mass = x[2];
  body.weights[1] = x[5];
  Body other = body;
  other.parts[i % 2].mass *= 3.0;
  return body.Total() + other.Total();
})
struct Base {
  double a = 2.0;
  explicit Base(double v) : a(v) {}
  double Twice() const { return 2.0 * a; }
};
struct Derived : Base {
  double b;
  Derived(double v, double w) : Base(v * w), b(w) { a += 1.0; }
  explicit Derived(double v) : Derived(v, v) {}
  double Both() const { return Twice() + b; }
};
FEATURE(inheritance, {
  Derived d(x[i], x[i + 1]);
  const Base& base = d;
  Derived e(x[2]);
  return d.Both() * base.a + e.Both() + static_cast<Base&>(e).Twice();
})
struct Complex {
  double re = 0.0, im = 0.0;
  friend Complex operator*(Complex a, Complex b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  Complex& operator+=(const Complex& o) {
    re += o.re;
    im += o.im;
    return *this;
  }
  Complex operator-() const { return {-re, -im}; }
  double operator()(double t) const { return re + t * im; }
  explicit operator double() const { return re * re + im * im; }
  double& operator[](int k) { return k == 0 ? re : im; }
};
FEATURE(operators, {
  Complex c{x[i], x[i + 1]};
  Complex z;
  for (int t = 0; t < n; ++t) {
    z = z * z;
    z += c;
    z += -Complex{0.3, 0.1};
    z = z * Complex{0.5, 0.0};
  }
  return static_cast<double>(z) + c(2.0);
})
FEATURE(local_arrays, {
  double a[4] = {x[i], x[i + 1]};
  int order[] = {3, 1, 2, 0};
  for (int k = 0; k < 4; ++k) a[order[k]] += 0.5 * k;
  double grid[2][3] = {{1.0, 2.0, 3.0}, {x[0], x[1], x[2]}};
  for (int r = 0; r < 2; ++r)
    for (int c = 0; c < 3; ++c) grid[r][c] *= a[(r + c) % 4];
  const int k = i % 3;
  return grid[1][k] + grid[i % 2][0] * a[i % 4];
})
FEATURE(arrays_in_loops, {
  double sum = 0.0;
  for (int t = 0; t < n; ++t) {
    std::array<double, 3> a{};
    a[static_cast<std::size_t>(t % 3)] = x[t];
    double b[3];
    for (int k = 0; k < 3; ++k) b[k] = a[static_cast<std::size_t>(k)] * (k + 1);
    sum = sum * 0.9 + b[0] + b[1] * b[1] + b[2];
  }
  return sum;
})
constexpr double kWeights[] = {0.25, 0.5, 0.25, 1.0};
constexpr std::array<int, 3> kOffsets = {0, 2, 5};
constexpr V3 kUp(0.0, 0.0, 1.0);
static const double kScale = 1.5;
FEATURE(constants, {
  double sum = 0.0;
  for (int k = 0; k < 4; ++k) sum += kWeights[k] * x[i + k];
  for (int o : kOffsets) sum *= x[o] * kScale;
  constexpr int table[] = {1, 3, 5};
  return sum * table[i % 3] + dot(kUp, V3(1.0, 2.0, x[i]));
})
FEATURE(references, {
  double a = x[i];
  double b = x[i + 1];
  double& chosen = a;
  chosen *= 2.0;
  const double& same = b;
  b += chosen;
  auto swap = [](double& p, double& q) {
    double t = p;
    p = q;
    q = t;
  };
  swap(a, b);
  std::swap(a, chosen);
  double arr[2] = {a, b};
  double& element = arr[i % 2];
  element += same;
  return arr[0] * 3.0 + arr[1];
})
FEATURE(structured_bindings, {
  Complex c{x[i], 2.0};
  auto [re, im] = c;
  auto& [re2, im2] = c;
  re2 += im;
  double pair[2] = {x[0], x[1]};
  auto [first, second] = pair;
  auto [p, q] = std::pair<double, int>(x[2], 4);
  auto [s, t] = std::tuple<double, double>(x[3], 5.0);
  return re * c.re + im2 * first + second + p * q + s * t;
})

// ---- Templates, lambdas, functions

template <class T>
T Square(T v) {
  return v * v;
}
template <int N, class T>
T Power(T v) {
  if constexpr (N == 0) {
    return T(1);
  } else {
    return v * Power<N - 1>(v);
  }
}
template <class... T>
double Sum(T... v) {
  return (v + ...);
}
FEATURE(templates, { return Square(x[i]) + Power<5>(x[i]) + Sum(x[0], 2, 3.5f, x[1]) + Square(3); })
inline double Mix(double a, double b, double t = 0.25) {
  return a + (b - a) * t;
}
inline double Mix(int a, double b) {
  return a * b;
}
FEATURE(overloads, { return Mix(x[i], 2.0) + Mix(x[i], 1.0, x[2]) + Mix(3, x[i]); })
FEATURE(lambdas, {
  double total = 0.0;
  auto add = [&](double v) { total += v; };
  auto scaled = [s = x[1], k = 2](auto v) { return v * s * k; };
  auto twice = [](auto f, double v) { return f(f(v)); };
  add(x[i]);
  add(scaled(x[i]));
  add(twice(scaled, x[2]));
  int calls = 0;
  auto counter = [calls]() mutable { return ++calls; };
  add(counter());
  add(counter());
  return total + calls;
})
template <class F>
double Integrate(F f, double a, double b, int steps) {
  double h = (b - a) / steps;
  double sum = 0.0;
  for (int k = 0; k < steps; ++k) sum += f(a + (k + 0.5) * h);
  return sum * h;
}
FEATURE(lambda_to_template, {
  return Integrate(
      [&](double t) { return x[i] * t * t + Integrate([t](double s) { return s * t; }, 0.0, 1.0, 3); }, 0.0,
      2.0, n);
})
template <class T>
struct Newton {
  T value;
  int steps = 0;
  constexpr explicit Newton(T start) : value(start) {}
  template <class F, class D>
  bool Solve(F f, D d, int most) {
    for (steps = 0; steps < most; ++steps) {
      T r = f(value);
      if (std::abs(r) < T(1e-10)) return true;
      value -= r / d(value);
    }
    return false;
  }
};
FEATURE(class_templates, {
  Newton<double> newton(1.0);
  bool good = newton.Solve([&](double v) { return v * v - x[i]; }, [](double v) { return 2.0 * v; }, 12);
  return good ? newton.value : -1.0;
})
template <class T>
concept Number = requires(T t) { t + t; };
FEATURE(constant_conditions, {
  constexpr bool wide = sizeof(double) == 8;
  double v = x[i];
  if constexpr (wide && Number<double>) {
    v *= 2.0;
  } else {
    v = 0.0;
  }
  if (sizeof(int) != 4) v = 1e9;
  return v + std::numeric_limits<int>::digits;
})

// ---- Vectors and matrices

FEATURE(vectors, {
  V3 a(x[i], x[i + 1], 2.0);
  V3 b = 2.0 * a - V3(0.5) / x[2];
  a.x += 1.0;
  a[2] *= b.y;
  b *= 0.5;
  V3 c = cross(a, b) + normalize(a) * length(b);
  adc::vec<double, 5> v(x[3]);
  v[4] = c.z;
  v[i % 5] += 1.0;
  V4 d(1.0, 2.0, x[5], x[6]);
  return dot(a, c) + v[0] * v[4] + d.w * d[2] + (a == b ? 1.0 : 0.0) - (-c).x;
})
FEATURE(matrices, {
  M3 m(x[i], 0.5, 0.1, 0.2, 2.0, x[3], 0.3, 0.4, 3.0);
  M2 s(V2(x[0], 0.5), V2(0.25, 2.0));
  V3 v(1.0, x[1], 2.0);
  m[1][2] += 0.5;
  m(2, 0) *= x[4];
  m[0] = m[0] * 2.0;
  M3 inv = inverse(m) * m + M3::identity();
  V2 t = s * V2(1.0, x[2]) + V2(x[0], 1.0) * s;
  return dot(m * v, v * m) + determinant(m) + transpose(m)(0, 2) + inv(1, 1) + t.x * t.y + outer(t, t)[0][1] +
         determinant(s);
})

// ---- The contract

FEATURE(stopped, {
  double v = x[i] * x[i];
  return v * adc::stop_gradient(v) + adc::stop_gradient(x[0]) * x[1];
})
FEATURE(checkpoints, {
  double v = x[i];
  for (int t = 0; t < 24; ++t) {
    adc::checkpoint(4);
    v = std::sin(v) * 1.2 + 0.1;
  }
  return v;
})
FEATURE(assertions, {
  assert(x[i] > 0.0);
  return 3.0 * x[i];
})

FEATURE(returns_between_declarations, {
  if constexpr (sizeof(double) == 8) {
    double t = x[i] * 2.0;
    if (t > 3.0) return t;
  }
  int u = i + 1;
  switch (i) {
    default:
      if (u == 5) break;
      double f = x[u];
      if (f > 1.0) return f * u;
  }
  int w = u * 2;
  float g = static_cast<float>(w);
  return x[i] * w + static_cast<double>(g);
})

ADC_KERNEL void two_parallels(In x, Out y, int n) {
  const double scale = n > 3 ? x[0] : 1.0;
  adc::parallel(y.extent(0), [&](int i) { y[i] = scale * x[i] * x[i]; });
  if (n == 0) return;
  adc::parallel(4, 2, [&](int a, int b) { y(a * 2 + b) += x[a] * b; });
}
ADC_KERNEL void atomics(In x, Out y, int n) {
  adc::parallel(16, [&](int i) {
    adc::atomic_add(y[i % 8], x[i] * x[(i + n) % 16]);
    adc::atomic_sub(y(i % 4), 0.5 * x[i]);
  });
}
ADC_KERNEL void serial(In x, Out y, int n) {
  double sum = 0.0;
  for (int t = 0; t < n; ++t) sum += x[t] * sum + 1.0;
  y[0] = sum;
  y[1] = x[1] * y[0];
}

// Values are the same bits; in the second list library functions round in their own way.
// clang-format off
#define ADC_EXACT_FEATURES(X) \
  X(if_else) X(else_if) X(early_return) X(return_in_loop) X(return_in_nested_loops) X(for_break) \
  X(for_continue) X(while_loop) X(while_with_effects) X(while_declares) X(do_while) X(endless_with_break) \
  X(for_down) X(for_step) X(for_inclusive) X(for_unsigned) X(for_long) X(for_not_equal) \
  X(for_moving_bound) X(for_moving_index) X(for_condition) X(index_after_loop) X(switch_cases) \
  X(switch_falls_through) X(switch_returns) X(break_in_for_in_switch_in_lambda) X(continue_in_switch) \
  X(conditional_operator) X(short_circuit) X(compound_assignment) X(steps) X(order_of_assignment) X(comma) \
  X(integers) X(casts) X(bit_cast) X(bits) X(rounding) X(extremes) X(classes_of_numbers) X(enumerations) \
  X(structs) X(nested_structs) X(inheritance) X(operators) X(local_arrays) X(arrays_in_loops) X(constants) \
  X(references) X(structured_bindings) X(templates) X(overloads) X(lambdas) X(lambda_to_template) \
  X(class_templates) X(constant_conditions) X(stopped) X(assertions) X(returns_between_declarations) \
  X(two_parallels) X(atomics) X(serial)
#define ADC_CLOSE_FEATURES(X) \
  X(loop_bound_from_buffer) X(math) X(vectors) X(matrices) X(checkpoints)
// clang-format on
