// Types and templates that engines write, in their odd corners: each kernel means what C++ says, or adc has
// to refuse it.

#include <algorithm>
#include <array>
#include <tuple>
#include <type_traits>
#include <utility>

#include "feature.h"

namespace types {

// ---- Types of one's own

template <class T, int N>
struct Small {
  T items[N] = {};
  int used = 0;
  constexpr T& operator[](int k) { return items[k]; }
  constexpr const T& operator[](int k) const { return items[k]; }
  constexpr void Push(const T& item) { items[used++] = item; }
  constexpr int Size() const { return used; }
  constexpr T& Back() { return items[used - 1]; }
  template <class F>
  constexpr T Fold(T start, F f) const {
    for (int k = 0; k < used; ++k) start = f(start, items[k]);
    return start;
  }
};
FEATURE(own_vector, {
  Small<double, 8> s;
  for (int k = 0; k < n; ++k)
    if (x[k] > 0.7) s.Push(x[k] * x[i]);
  if (s.Size() == 0) return x[i];
  s.Back() *= 2.0;
  s[0] += 1.0;
  return s.Fold(1.0, [](double a, double b) { return a * 0.5 + b; });
})
struct Dual {
  double v, d;
  constexpr Dual(double value = 0.0, double derivative = 0.0) : v(value), d(derivative) {}
  friend constexpr Dual operator*(const Dual& a, const Dual& b) { return {a.v * b.v, a.v * b.d + a.d * b.v}; }
  friend constexpr Dual operator+(const Dual& a, const Dual& b) { return {a.v + b.v, a.d + b.d}; }
  friend Dual sin(Dual a) { return {std::sin(a.v), a.d * std::cos(a.v)}; }
  constexpr Dual& operator*=(const Dual& o) { return *this = *this * o; }
};
FEATURE(dual_numbers, {
  Dual a(x[i], 1.0);
  a *= a;
  a *= a + 2.0;
  return (sin(a) * 0.5).d + a.d;
})
struct Fixed {
  int raw;
  explicit constexpr Fixed(double v) : raw(static_cast<int>(v * 256.0)) {}
  constexpr explicit operator double() const { return raw / 256.0; }
  constexpr Fixed operator*(Fixed o) const {
    Fixed r(0.0);
    r.raw = (raw * o.raw) >> 8;
    return r;
  }
  constexpr bool operator==(const Fixed&) const = default;
  friend constexpr bool operator<(Fixed a, Fixed b) { return a.raw < b.raw; }
};
FEATURE(fixed_point, {
  Fixed a(-1.37 + i);
  Fixed b(2.71);
  double v = static_cast<double>(a * b);
  if (a < b) v += 10.0;
  if (a == a && a != b && !(b < a)) v += 100.0;
  return v * x[i];
})
struct Versor {
  double w = 1.0;
  V3 u{};
  Versor operator*(const Versor& o) const {
    return {w * o.w - dot(u, o.u), w * o.u + o.w * u + cross(u, o.u)};
  }
  Versor& operator*=(const Versor& o) { return *this = *this * o; }
  Versor Conjugate() const { return {w, -u}; }
};
FEATURE(self_assignment, {
  Versor q{x[0], V3(x[1], x[i], 0.3)};
  q *= q;
  q = q.Conjugate() * q;
  q = q;
  return q.w + q.u.x * q.u.y + q.u.z;
})
struct Swapped {
  double a, b;
};
FEATURE(aggregate_from_itself, {
  Swapped s{x[i], x[i + 1]};
  s = {s.b, s.a};
  s = Swapped{s.b * 2.0, s.a};
  return s.a * 3.0 + s.b * s.b;
})
FEATURE(member_of_itself, {
  V3 v(x[i], 2.0, x[3]);
  v = V3(v.z, v.x, v.y);
  v.x = v.y * v.x;
  M3 m(v, v * 2.0, V3(1.0, x[0], 0.0));
  m[0] = m[1] + m[0];
  m[1] = V3(m[0][2], m[2][1], m[0][0]);
  m = m * m;
  return m[0][0] + m[1][2] * 0.1 + dot(v, m[2]);
})
struct Counter {
  int hits = 0;
  double sum = 0.0;
  Counter& operator<<(double v) {
    sum += v * ++hits;
    return *this;
  }
  double operator()() const { return sum / (hits ? hits : 1); }
  explicit operator bool() const { return hits > 2; }
  bool operator!() const { return hits == 0; }
};
FEATURE(streams, {
  Counter c;
  if (!c) c << x[i];
  c << x[0] << x[1];
  c << c() << (c ? x[2] : 100.0);
  return c();
})
struct Handle {
  int index = -1;
  constexpr bool Valid() const { return index >= 0; }
  constexpr Handle operator++(int) {
    Handle old = *this;
    ++index;
    return old;
  }
  constexpr Handle& operator++() {
    ++index;
    return *this;
  }
  constexpr Handle operator-() const { return {-index}; }
  constexpr int operator*() const { return index; }
};
FEATURE(handles, {
  Handle h;
  double v = h.Valid() ? 100.0 : x[i];
  int a = *h++;
  int b = *++h;
  v += a * 10 + b + *-h;
  return v * x[*h];
})
struct Range {
  int first, last;
  struct At {
    int k;
    int operator*() const { return k; }
    At& operator++() {
      ++k;
      return *this;
    }
    bool operator!=(const At& o) const { return k != o.k; }
  };
};
FEATURE(iterator_by_hand, {
  double v = x[i];
  Range r{1, n};
  for (Range::At at{r.first}; at != Range::At{r.last}; ++at) v = v * 0.9 + x[*at] * *at;
  return v;
})
template <class Derived>
struct Shape {
  double Area() const { return static_cast<const Derived*>(this)->AreaOf() * 2.0; }
};
struct Disc : Shape<Disc> {
  double r;
  double AreaOf() const { return r * r; }
};
struct Pair2 {
  double first = 1.0, second = 2.0;
};
struct Both : Disc, Pair2 {
  double own = 3.0;
};
FEATURE(two_bases, {
  Both b;
  b.r = x[i];
  b.first = x[i] * x[0];
  Pair2& p = b;
  p.second += b.own;
  Both c = b;
  c.first += 1.0;
  return b.first * p.second + c.first + c.r * b.AreaOf();
})
struct Config {
  static constexpr int kSteps = 3;
  static constexpr double kGain[2][2] = {{1.0, 2.0}, {3.0, 4.0}};
  enum { kOne = 1, kTwo };
  enum class Axis : short { X = -1, Y = 7 };
};
FEATURE(static_members, {
  double v = x[i];
  for (int t = 0; t < Config::kSteps; ++t) v = v * 0.5 + Config::kGain[t & 1][i & 1];
  auto axis = i > 3 ? Config::Axis::X : Config::Axis::Y;
  return v * Config::kTwo + static_cast<int>(axis) + static_cast<short>(Config::Axis::Y) + Config::kOne;
})
struct Deferred {
  double a = 2.0;
  double b = a * 3.0;
  double c;
  Deferred(double v) : c(v + b) { b = c; }
  Deferred(double v, int k) : Deferred(v * k) { a += b; }
};
FEATURE(default_members, {
  Deferred d(x[i]), e(x[i], 3);
  Deferred f = x[1];
  return d.a * d.b + e.a * e.c + f.c;
})

// ---- Templates and constants

template <class T, T... k>
constexpr T SumOf(std::integer_sequence<T, k...>) {
  return (k + ... + T(0));
}
template <std::size_t... k>
double Gather(const In& x, std::index_sequence<k...>) {
  double v = 0.0;
  ((v = v * 0.5 + x[static_cast<int>(k)]), ...);
  return v;
}
FEATURE(packs, {
  auto all = [](auto... v) { return (v * ...) + sizeof...(v); };
  auto any = [](auto... v) { return (... || (v > 1.9)); };
  return Gather(x, std::make_index_sequence<6>{}) * x[i] + SumOf(std::make_integer_sequence<int, 5>{}) +
         all(x[0], 2, 3.0f) + any(x[i], x[0], x[1]);
})
constexpr auto kTable = [] {
  std::array<double, 8> t{};
  double v = 1.0;
  for (double& e : t) e = v *= 1.25;
  return t;
}();
constexpr Small<int, 4> kPicks = [] {
  Small<int, 4> s;
  s.Push(3);
  s.Push(1);
  return s;
}();
constexpr Pair2 kPair{0.5, 4.0};
consteval int Cube(int k) {
  return k * k * k;
}
FEATURE(constant_tables, {
  double v = x[i] * kTable[static_cast<std::size_t>(i)];
  for (int k = 0; k < kPicks.Size(); ++k) v += x[kPicks[k]] * kPair.second;
  constexpr int kThree = Cube(3);
  static constexpr double kLocal[3] = {1.0, -1.0, 0.5};
  return v + kThree + kLocal[i % 3] + kPair.first;
})
template <int kOrder>
struct Polynomial {
  double c[kOrder + 1];
  constexpr double operator()(double t) const {
    double v = c[kOrder];
    for (int k = kOrder; k-- > 0;) v = v * t + c[k];
    return v;
  }
  constexpr auto Derivative() const
    requires(kOrder > 0)
  {
    Polynomial<kOrder - 1> d{};
    for (int k = 1; k <= kOrder; ++k) d.c[k - 1] = c[k] * k;
    return d;
  }
};
FEATURE(polynomials, {
  const Polynomial<3> p{{x[0], 2.0, x[1], 0.5}};
  return p(x[i]) * p.Derivative()(x[2]) + p.Derivative().Derivative()(x[i]);
})
template <class T>
concept HasNorm = requires(T t) { t.Norm(); };
struct Normed {
  double v;
  double Norm() const { return v * v; }
};
template <class T>
double SizeOf(const T& t) {
  if constexpr (HasNorm<T>)
    return t.Norm();
  else if constexpr (std::is_floating_point_v<T>)
    return t < 0 ? -t : t;
  else
    return 3.0;
}
FEATURE(concepts, { return SizeOf(Normed{x[i]}) + SizeOf(-x[i]) + SizeOf(7) + SizeOf('c'); })
FEATURE(standard_types, {
  std::array<std::array<double, 2>, 3> a{{{x[0], x[1]}, {x[2], x[i]}, {1.0, 2.0}}};
  std::swap(a[0], a[1]);
  auto t = std::make_tuple(x[i], 2, 3.5f);
  std::get<0>(t) *= std::get<1>(t);
  auto [p, q, r] = t;
  std::pair<double, V3> s{x[1], V3(x[2])};
  s.second[1] += s.first;
  double sum = 0.0;
  for (const auto& row : a)
    for (double v : row) sum = sum * 0.7 + v;
  a.fill({x[3], 0.5});
  return sum + p * q + r + s.second.y + a[2][0] + a.back()[1] + static_cast<double>(a.size());
})
FEATURE(vectors_of_engines, {
  V3 v(x[i], x[i + 1], -x[2]);
  v[i % 3] += 1.0;
  V3 w = v;
  w.y = 0.25;
  v = abs(v) + floor(w * 2.0) + ceil(w);
  v = max(min(v, w * 3.0), V3(0.125));
  const adc::vec<int, 3> cell(floor(w));
  const adc::vec<float, 2> flat(w);
  const adc::mat<double, 2, 2> corner(M3(v, w, v + w));
  auto f = [](V3 a, double s) { return a * s + s * a - a / s; };
  V3& same = v;
  same *= V3(1.0, 2.0, 3.0);
  return dot(f(v, x[3]), w) + cell.x + cell.z * 2 + static_cast<double>(flat.y) + determinant(corner) +
         (v == w);
})
FEATURE(matrices_by_element, {
  M3 m = M3::identity();
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c) m(r, c) += x[(r * 3 + c + i) % 16] * (r == c ? 0.5 : -0.25);
  V3& row = m[1];
  row *= 2.0;
  row[2] += m[0][0];
  const M3 t = transpose(m);
  double trace = 0.0;
  for (int k = 0; k < 3; ++k) trace += t[k][k] * m[k][(k + 1) % 3];
  return trace + determinant(m * 0.5) + (m * t)(1, 2);
})

// clang-format off
#define ADC_EXACT_TYPES(X) \
  X(own_vector) X(fixed_point) X(self_assignment) X(aggregate_from_itself) X(member_of_itself) X(streams) \
  X(handles) X(iterator_by_hand) X(two_bases) X(static_members) X(default_members) X(packs) \
  X(constant_tables) X(polynomials) X(concepts) X(standard_types)
#define ADC_CLOSE_TYPES(X) X(dual_numbers) X(vectors_of_engines) X(matrices_by_element)
// clang-format on

}  // namespace types
