// What engines write, in its odd corners: each kernel means what C++ says, or adc has to refuse it.
// cpp_features.cpp runs each function on the host and the kernel that adc makes of it, and compares values
// and gradients. All read x (16 numbers between 0.2 and 2) and n (5) and store y (8 numbers).

#include <adc/kernel.hpp>
#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

namespace engine {

using In = adc::readonly<adc::diff<adc::buffer<double, 1>>>;
using Out = adc::diff<adc::buffer<double, 1>>;
using V3 = adc::vec<double, 3>;
using M3 = adc::mat<double, 3, 3>;

#define ENGINE(name, ...)                                                                              \
  ADC_KERNEL void name(In x, Out y, [[maybe_unused]] int n) {                                          \
    adc::parallel(y.extent(0), [&]([[maybe_unused]] int i) { y[i] = [&]() -> double __VA_ARGS__(); }); \
  }

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
ENGINE(own_vector, {
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
ENGINE(dual_numbers, {
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
ENGINE(fixed_point, {
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
ENGINE(self_assignment, {
  Versor q{x[0], V3(x[1], x[i], 0.3)};
  q *= q;
  q = q.Conjugate() * q;
  q = q;
  return q.w + q.u.x * q.u.y + q.u.z;
})
struct Swapped {
  double a, b;
};
ENGINE(aggregate_from_itself, {
  Swapped s{x[i], x[i + 1]};
  s = {s.b, s.a};
  s = Swapped{s.b * 2.0, s.a};
  return s.a * 3.0 + s.b * s.b;
})
ENGINE(member_of_itself, {
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
ENGINE(streams, {
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
ENGINE(handles, {
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
ENGINE(iterator_by_hand, {
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
ENGINE(two_bases, {
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
ENGINE(static_members, {
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
ENGINE(default_members, {
  Deferred d(x[i]), e(x[i], 3);
  Deferred f = x[1];
  return d.a * d.b + e.a * e.c + f.c;
})

// ---- Integers

ENGINE(promotions, {
  const unsigned char a = static_cast<unsigned char>(200 + i);
  const unsigned char b = 100;
  const signed char c = static_cast<signed char>(-100 - i);
  const int sum = a + b;
  const unsigned char wrapped = static_cast<unsigned char>(a + b);
  signed char d = c;
  d = static_cast<signed char>(d - 50);
  const short s = static_cast<short>(~a);
  const auto shifted = a << 4;
  return x[i] * (sum + wrapped * 3 + d * 5 + s + shifted + (a >> 2) + (c >> 1) + -a + +c + !a);
})
ENGINE(compound_narrow, {
  unsigned char a = 250;
  a += static_cast<unsigned char>(i * 3);
  unsigned short b = 65530;
  b += i;
  b *= 3;
  signed char c = 100;
  c += 20;
  c += i * 5;
  unsigned char d = 3;
  d -= 5;
  d <<= 1;
  d ^= 0x55;
  short e = -7;
  e /= 2;
  e %= 2;
  e >>= 1;
  int f = 7;
  f *= 0.75;
  f += 0.9;
  unsigned g = 10;
  g -= 11;
  float h = 0.1f;
  h += 0.2;
  h *= x[0] > 5.0 ? 2 : 3;
  return x[i] * (a + b + c + d + e + f) + (g >> 16) + h;
})
ENGINE(unsigned_against_signed, {
  const unsigned u = static_cast<unsigned>(i);
  const int s = i - 4;
  double v = x[i];
  if (static_cast<unsigned>(s) < u) v += 1.0;
  if (u - 1 > 5) v += 10.0;
  if (static_cast<long>(u) > s) v += 100.0;
  if (s + u > 100u) v += 1000.0;
  const long long wide = u - 8u;
  const long long narrow = static_cast<int>(u - 8u);
  return v + static_cast<double>(wide % 1000) + static_cast<double>(narrow) + (u * 4000000000u) % 97;
})
ENGINE(shifts, {
  const unsigned u = 0x80000001u + static_cast<unsigned>(i);
  const int s = static_cast<int>(u);
  const std::uint64_t w = std::uint64_t{1} << (40 + i);
  const int k = 1 << i;
  return x[i] * static_cast<double>((u >> 3) & 0xffu) + (s >> 28) + static_cast<double>(w >> 38) + k +
         static_cast<double>((u << 3) >> 3) + static_cast<double>(static_cast<std::int8_t>(0x80 >> i));
})
ENGINE(wrap_around, {
  std::uint32_t h = 2166136261u;
  for (int k = 0; k <= i; ++k) {
    h ^= static_cast<std::uint32_t>(k * 31);
    h *= 16777619u;
  }
  std::uint64_t z = (h + 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;
  z ^= z >> 27;
  return x[i] * (h % 1000u) + static_cast<double>(z >> 40);
})
ENGINE(division_of_integers, {
  const int a = i - 4;
  double v = 0.0;
  for (int d = -3; d <= 3; ++d) {
    if (d == 0) continue;
    v += a / d * 10 + a % d;
  }
  return x[i] * v + (7u / 2) + (-7 / 2) + (-7 % 3) +
         static_cast<double>(-7ll / static_cast<long long>(i + 2));
})
ENGINE(booleans, {
  const bool a = i;
  const bool b = x[i] > 1.0;
  bool c = a & b;
  c |= i == 2;
  c ^= true;
  int k = a + b + c;
  k += a == b;
  k += (a < b) + (a > c) * 2 + (b <= c) * 4;
  bool d = 2;
  d = d && k;
  d &= 1;
  const bool e = 0.5;
  return x[i] * k + d + e + -a + ~b;
})
ENGINE(characters, {
  const char c = static_cast<char>('a' + i);
  const bool vowel = c == 'a' || c == 'e' || c == 'i';
  return x[i] * (c - 'a' + 1) + vowel + ('\xff' < 0 ? 1 : 2) + sizeof('a') + u'\u1234';
})
ENGINE(widths, {
  const long a = 1l << 33;
  const std::size_t b = sizeof(double) * static_cast<std::size_t>(i);
  const std::int16_t c = static_cast<std::int16_t>(a >> 18);
  const unsigned long d = static_cast<unsigned long>(-1) / (b + 1);
  const int e = static_cast<int>(a >> 30);
  return x[i] * static_cast<double>(b) + c + static_cast<double>(d >> 50) + e +
         std::numeric_limits<short>::max() + static_cast<double>(std::numeric_limits<int>::min() >> 20);
})
ENGINE(enum_arithmetic, {
  enum Bits : unsigned { kA = 1, kB = 2, kC = 4 };
  auto f = static_cast<Bits>(kA | kC);
  unsigned g = f & ~kA;
  if (i & kB) g |= kB;
  return x[i] * g + (f == (kA | kC)) + kC * 2;
})
ENGINE(index_of_small_type, {
  const std::array<double, 5> a = {x[0], x[1], x[2], x[3], x[4]};
  const unsigned char k = static_cast<unsigned char>(254 + i);
  const std::int8_t t = static_cast<std::int8_t>(i & 3);
  double v = a[static_cast<unsigned char>(k + 1) % 5];
  v += x[t] * a[static_cast<std::size_t>(t)];
  return v * x[static_cast<unsigned>(i)];
})

// ---- Order and effects

ENGINE(steps_in_subscripts, {
  double a[6] = {x[0], x[1], x[2], x[3], x[4], x[5]};
  int k = 0;
  a[k++] += 1.0;
  a[++k] *= 2.0;
  a[k--] = a[k] + 0.5;
  double v = a[k++];
  v *= a[k];
  v += a[++k];
  int j = 5;
  while (j-- > 2) v += a[j] * j;
  a[i % 6] = v;
  return a[0] + a[1] * a[2] + a[5] + k + j + a[3] * a[4];
})
ENGINE(effects_in_conditions, {
  int a = 0, b = 0;
  double v = x[i];
  if (++a > 1 && ++b) v += 1.0;
  if (++a > 1 || ++b) v += 2.0;
  if ((a++, b++, a > b) && (b += 2) > 1) v *= x[0];
  const bool c = (v > 2.0 && (a += 10)) || (b += 20);
  return v + a + b * 100 + c;
})
ENGINE(same_on_both_sides, {
  int k = 0, m = 5;
  double v = x[i];
  if (v > 1.0) {
    k = 3;
    v = v * v + 1.0 / v;
  } else {
    v = v * 2.0;
    k = 3;
  }
  v > 0.9 ? (m = 2, k += 1) : (m = 2, k += 2);
  for (int t = 0; t < n; ++t) {
    if (t > 2) {
      m = 7;
      continue;
    }
    m = 7;
    v += x[t] * m;
  }
  return v * k + m;
})
ENGINE(ternary_effects, {
  int a = 1, b = 10;
  double v = x[i] > 1.0 ? (a++, x[i]) : (b--, 2.0 * x[i]);
  int& chosen = true ? a : b;
  chosen += 100;
  const int k = i > 3 ? a++ : i > 1 ? b++ : a-- + b--;
  return v * k + a + b;
})
ENGINE(assignment_chains, {
  double a, b, c;
  a = b = c = x[i];
  a += b *= c -= 0.5;
  (a *= 2.0) += 1.0;
  int k = 1, j;
  j = k += 3;
  (k = 5) = 7;
  ++(++k);
  return a * b + c + j * 10 + k;
})
ENGINE(assignment_reads_first, {
  double a[3] = {x[0], x[i], x[2]};
  int k = 0;
  a[k] = a[k = 2] + 3.0;
  a[k] += k = 1;
  int j = 4;
  j = j++ * 3;
  return a[0] + a[1] * 2.0 + a[2] * 3.0 + k + j;
})
struct Added {
  double v = 0.0;
  Added& operator+=(const Added& o) {
    v += o.v;
    return *this;
  }
  friend Added& operator-=(Added& a, Added b) {
    a.v -= 2.0 * b.v;
    return a;
  }
};
ENGINE(assignment_of_classes, {
  Added a[4] = {{x[0]}, {x[i]}, {x[2]}, {x[3]}};
  int k = 0;
  a[k++] += a[k];
  a[k++] -= a[k];
  a[k] = a[k = 1];
  V3 v[2] = {V3(x[4], 1.0, 2.0), V3(3.0, x[5], 5.0)};
  int j = 0;
  v[j++] = v[j] * 2.0;
  v[j--] += v[j];
  a[0].operator+=(a[++j]);
  return a[0].v + a[1].v * 2.0 + a[2].v * 3.0 + a[3].v + dot(v[0], v[1]) + k * 100 + j;
})
ENGINE(arguments_with_effects, {
  int k = 0;
  auto f = [](double a, int b) { return a * b; };
  double v = f(x[k++], 3);
  v += f(x[k], k);
  struct Pair {
    double a;
    int b;
  };
  Pair p{x[k++], k};
  Pair q{x[k], ++k};
  return v * x[i] + p.a * p.b + q.a * q.b;
})
ENGINE(shadows, {
  double v = x[i];
  int k = 3;
  {
    int k = 7;
    v += k;
    for (int k = 0; k < 2; ++k) v *= 1.1 + k;
    k += 1;
    v += k;
  }
  auto f = [&, k = k * 2](double v) { return v * k; };
  if (int k = i % 3; k > 0) {
    v += k;
  } else {
    v -= 10 - k;
  }
  return f(v) + k;
})
ENGINE(condition_declares, {
  double v = x[i];
  if (const int k = i - 3) v *= k;
  switch (int k = i & 3; k) {
    case 0: {
      double t = v;
      v = t * t;
      break;
    }
    case 3:
      v += k;
    default:
      v += 0.5;
  }
  for (int left = 3; double more = left * 0.1; --left) v += more;
  return v;
})
ENGINE(references_follow, {
  double a = x[i], b = x[0];
  double& r = a;
  const double& seen = a;
  r += 1.0;
  double before = seen;
  a *= 2.0;
  double arr[3] = {a, b, 1.0};
  int k = 1;
  double& e = arr[k];
  k = 2;
  e = 5.0 * seen;
  auto& all = arr;
  all[0] += e;
  Pair2 p{a, b};
  double& m = p.second;
  p = Pair2{b, a};
  m *= 3.0;
  return before + arr[0] + arr[1] * arr[2] + p.first * p.second;
})
ENGINE(least_by_reference, {
  double a = x[i], b = x[0];
  const double& least = std::min(a, b);
  const double& most = std::max(a, b);
  a += 10.0;
  b += 20.0;
  return least * 2.0 + most;
})
struct Track {
  double at, gains[2];
};
ENGINE(chosen_objects, {
  Pair2 a{x[i], 1.0}, b{x[0], x[1]};
  const bool first = i > 3;
  Pair2& c = first ? a : b;
  c.first += 1.0;
  c.second *= c.first;
  Pair2 d = x[2] > 1.0 ? a : b;
  d.first *= 5.0;
  Track t{x[3], {x[4], 2.0}}, u{1.0, {x[5], x[i]}}, w;
  w = i % 2 == 0 ? t : u;
  Track z = first ? w : t;
  z.gains[1] += (first ? a : d).first;
  (first ? t.at : u.at) = 7.0 * x[i];
  double& least = std::min(a.first, b.first) == a.first ? a.first : b.first;
  least *= 2.0;
  return a.first * a.second + b.first * b.second + d.first + w.gains[0] * w.at + z.gains[1] + t.at * u.at;
})
ENGINE(reference_parameters, {
  auto add = [](double& to, const double& what) {
    to += what;
    to += what;
  };
  double a = x[i];
  add(a, a);
  double b = x[0];
  add(b, std::max(a, b));
  double c[2] = {x[1], x[2]};
  add(c[0], c[1]);
  add(c[1], c[1] * 2.0);
  return a + b + c[0] * c[1];
})
ENGINE(returns_references, {
  struct Store {
    double v[4];
    double& At(int k) { return v[k & 3]; }
    double Get(int k) const { return v[k & 3]; }
    double& First() { return At(0); }
  };
  Store s{{x[i], x[0], x[1], x[2]}};
  s.At(i) += 1.0;
  s.First() *= 2.0;
  double& r = s.At(5);
  r = s.Get(2) * s.First();
  ++s.At(3);
  return s.v[0] + s.v[1] * s.v[2] + s.v[3];
})
ENGINE(lambda_captures, {
  double a = x[i];
  int k = 1;
  auto by_value = [a, k](double v) { return v * a + k; };
  auto by_reference = [&] { return a * k; };
  auto own = [sum = 0.0, k](double v) mutable {
    sum += v * k++;
    return sum;
  };
  a += 1.0;
  k = 4;
  auto copy = own;
  double v = by_value(2.0) + by_reference();
  v += own(x[0]) + own(x[1]);
  v += copy(x[2]) + own(x[3]);
  auto outer = [&](auto f) { return [=, &a](double t) { return f(t) + a + k; }; };
  k = 9;
  return v + outer([](double t) { return t * t; })(x[4]);
})
ENGINE(lambda_recursion_by_hand, {
  auto loop = [](auto depth, double v, auto self) -> double {
    if constexpr (depth.value == 0)
      return v;
    else
      return v + 0.5 * self(std::integral_constant<int, depth.value - 1>{}, v * v * 0.3, self);
  };
  return loop(std::integral_constant<int, 4>{}, x[i], loop);
})
ENGINE(immediate, {
  const double v = [&] {
    if (x[i] > 1.2) return x[i] * 2.0;
    for (int k = 0; k < n; ++k)
      if (x[k] > 1.0) return x[k] * x[i];
    return -x[i];
  }();
  const auto [least, most] = [&] {
    double lo = 1e9, hi = -1e9;
    for (int k = 0; k < 8; ++k) lo = std::min(lo, x[k]), hi = std::max(hi, x[k]);
    return std::pair(lo, hi);
  }();
  return v + least * most;
})

// ---- Control

ENGINE(everything_leaves, {
  double v = x[i];
  for (int a = 0; a < 4; ++a) {
    int b = a;
    do {
      switch ((a + b + i) % 5) {
        case 0:
          continue;
        case 1:
          v += 0.25;
          break;
        case 2:
          while (true) {
            v *= 1.1;
            if (v > 1.5) break;
            if (b == 3) return v * 7.0;
          }
          [[fallthrough]];
        case 3:
          if (v > 6.0) return v;
          v += x[b];
          break;
        default:
          if (b > 1) continue;
          v -= 0.125;
      }
      v += 0.01 * b;
    } while (++b < 5 && v < 9.0);
    if (v > 8.0) break;
  }
  return v + 100.0;
})
ENGINE(switch_in_the_middle, {
  double v = x[i];
  switch (i) {
    default:
      v += 1.0;
    case 3:
      v *= 2.0;
      break;
    case 5:
    case 6: {
      if (x[0] > 0.1) break;
      v = 1e6;
    }
    case 7:
      return v * v;
  }
  return v;
})
ENGINE(negative_cases, {
  enum class Side : signed char { Left = -1, None, Right };
  const auto side = static_cast<Side>(i % 3 - 1);
  switch (side) {
    case Side::Left:
      return -x[i];
    case Side::None:
      return 0.5 * x[i];
    case Side::Right:
      return x[i] * x[i];
  }
  return 1e9;
})
ENGINE(loop_never_runs, {
  double v = x[i];
  for (int k = n; k < n; ++k) v = 1e9;
  for (unsigned k = 5; k < 3; ++k) v = 1e9;
  for (int k = 3; k <= 2; ++k) v = 1e9;
  for (int k = -1; k >= 0; --k) v = 1e9;
  int j = 5;
  for (j = 2; j < 0; j++) v = 1e9;
  return v * v + j;
})
ENGINE(index_changes, {
  double v = x[i];
  int k = 0;
  for (k = 0; k < 9; k += 2)
    if (k == i) k += 3;
  for (int t = 10; t > 0; t /= 2) v += 0.1 * t;
  for (int t = 1; t < 100; t *= 3) v += 0.01 * t;
  for (int a = 0, b = 9; a < b; ++a, b -= 2) v += x[a] * b;
  for (auto [a, b] = std::pair(0, 6); a != b; ++a, --b) v *= 1.01;
  return v + k;
})
ENGINE(bound_changes, {
  double v = x[i];
  int m = 3;
  for (int k = 0; k < m; ++k) {
    v += x[k];
    if (k == 1) ++m;
  }
  int size = n;
  for (int k = 0; k < size - k; ++k) v *= 1.1;
  for (int k = 0, left = 4; k < left; ++k) v += 0.1 * left--;
  return v + m;
})
ENGINE(float_loop, {
  double v = x[i];
  for (double t = 0.0; t < 1.0; t += 0.25) v += t * v;
  for (float t = 1.0f; t > 0.1f; t *= 0.5f) v += t;
  for (double e = 1.0; e > 1e-3 && v < 50.0;) e *= 0.1, v += e;
  return v;
})
ENGINE(unsigned_down, {
  double v = x[i];
  for (unsigned k = 4; k <= 4; --k) v = v * 0.5 + x[k];
  for (std::size_t k = 5; k--;) v += x[k] * 0.1;
  for (unsigned char k = 250; k > 249; ++k) v += 0.001 * k;
  return v;
})
ENGINE(early_out_of_everything, {
  auto find = [&](double least) -> std::pair<bool, int> {
    for (int a = 0; a < 4; ++a)
      for (int b = 0; b < 4; ++b)
        if (x[a * 4 + b] * x[b] > least) return {true, a * 4 + b};
    return {false, -1};
  };
  if (auto [found, at] = find(1.1); found) return x[at] * x[i];
  if (auto [found, at] = find(0.1 * i); !found || at > 3) return x[i] - at;
  return x[i] * 3.0;
})
ENGINE(nothing_after_return, {
  double v = x[i];
  if (v > 0.0) return v * v;
  v = 1e9;
  while (true) v += 1.0;
  return v;
})

// ---- Floats

ENGINE(mixed_precision, {
  const float f = static_cast<float>(i) / 3;
  const double d = f * 0.1;
  const float g = f * 0.1f;
  float h = 16777216.0f;
  h = h + 1.0f;
  const double e = h + 1.0;
  const float third = 1.0 / 3;
  const float narrow = static_cast<float>(0.1) + 0.2f;
  const auto m = 1 / 3 + 1 / 3.0f;
  return x[i] * (d + static_cast<double>(g) + e + third + narrow + m) + (0.1f == static_cast<float>(0.1)) +
         (0.5f == 0.5) + (third == 1.0 / 3) + (f < 1);
})
ENGINE(float_to_integer, {
  const double v = i * 3.3 - 7.0;
  const int a = static_cast<int>(v);
  const int b = static_cast<int>(std::floor(v));
  const unsigned char c = static_cast<unsigned char>(i * 20.7);
  const bool d = v - v;
  const long e = static_cast<long>(-v * 1e6);
  const short s = static_cast<short>(a * 1000);
  return x[i] * (a + b * 100 + c) + d + static_cast<double>(e % 1000) + s;
})
ENGINE(signed_zero, {
  const double z = x[i] > 1.0 ? 0.0 : -0.0;
  double v = std::copysign(2.0, z) + (std::signbit(-z) ? 10.0 : 0.0);
  v += 1.0 / (z + (std::signbit(z) ? -0.5 : 0.25));
  v += std::signbit(z * -1.0) + std::signbit(0.0 - z) + std::signbit(-z) + std::signbit(z + 0.0);
  return v * x[i];
})
ENGINE(not_a_number, {
  const double bad = i >= 0 ? std::numeric_limits<double>::quiet_NaN() : x[i];
  double v = x[i];
  if (!(bad > 1.0)) v += 1.0;
  if (!(bad <= 1.0)) v += 2.0;
  if (bad != bad) v += 4.0;
  if (bad < 1.0 || bad >= 1.0) v += 8.0;
  v += std::min(1.0, bad) + std::max(2.0, bad) + std::fmin(bad, 3.0) + std::fmax(4.0, bad);
  v += bad ? 16.0 : 32.0;
  const double big = 1e308 * (i + 9.0);
  v += big > 1e300 ? 64.0 : 0.0;
  v += std::clamp(big, 0.0, 5.0);
  return v;
})
ENGINE(not_rearranged, {
  const double big = 1e16 * (i + 1.7);
  const double v = (big + 1.0) - big;
  const double w = big + (1.0 - big);
  const float f = 1e8f + static_cast<float>(i);
  const float g = f - 1e8f;
  return v + w * x[0] + static_cast<double>(g) + x[i] * 0.1 * 10.0 + (x[i] / 3.0) * 3.0;
})
ENGINE(powers, {
  return std::pow(x[i], 2) + std::pow(x[i], 0.5f) + std::sqrt(4) + std::exp(0) + std::abs(-3) * x[i] +
         std::abs(-2.5f) + std::fmod(7, 3) + std::floor(-2.5f) + std::max<double>(1, x[i]) +
         std::hypot(3.0f, 4.0);
})
ENGINE(bit_tricks, {
  const auto f = 0.3f + static_cast<float>(i);
  auto bits = std::bit_cast<std::uint32_t>(f);
  bits = 0x5f3759df - (bits >> 1);
  auto guess = std::bit_cast<float>(bits);
  const std::uint32_t k = static_cast<std::uint32_t>(i) * 2654435761u;
  const auto rotated = std::rotl(k, 7) ^ std::rotr(k, 3);
  return x[i] * 2.0 + static_cast<double>(guess) + std::popcount(rotated) + std::countl_one(~k) +
         std::bit_width(k | 1u) + std::has_single_bit(k & 0xff);
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
ENGINE(packs, {
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
ENGINE(constant_tables, {
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
ENGINE(polynomials, {
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
ENGINE(concepts, { return SizeOf(Normed{x[i]}) + SizeOf(-x[i]) + SizeOf(7) + SizeOf('c'); })
ENGINE(standard_types, {
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
ENGINE(vectors_of_engines, {
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
ENGINE(matrices_by_element, {
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
#define ADC_EXACT_ENGINE(X) \
  X(own_vector) X(fixed_point) X(self_assignment) X(aggregate_from_itself) X(member_of_itself) X(streams) \
  X(handles) X(iterator_by_hand) X(two_bases) X(static_members) X(default_members) X(promotions) \
  X(compound_narrow) X(unsigned_against_signed) X(shifts) X(wrap_around) X(division_of_integers) X(booleans) \
  X(characters) X(widths) X(enum_arithmetic) X(index_of_small_type) X(steps_in_subscripts) \
  X(effects_in_conditions) X(same_on_both_sides) X(ternary_effects) X(assignment_chains) X(assignment_reads_first) X(assignment_of_classes) \
  X(arguments_with_effects) X(shadows) X(condition_declares) X(references_follow) X(least_by_reference) X(chosen_objects) \
  X(reference_parameters) X(returns_references) X(lambda_captures) X(lambda_recursion_by_hand) X(immediate) \
  X(everything_leaves) X(switch_in_the_middle) X(negative_cases) X(loop_never_runs) X(index_changes) \
  X(bound_changes) X(float_loop) X(unsigned_down) X(early_out_of_everything) X(nothing_after_return) \
  X(mixed_precision) X(float_to_integer) X(signed_zero) X(not_a_number) X(not_rearranged) X(bit_tricks) \
  X(packs) X(constant_tables) X(polynomials) X(concepts) X(standard_types)
#define ADC_CLOSE_ENGINE(X) X(dual_numbers) X(powers) X(vectors_of_engines) X(matrices_by_element)
// clang-format on

}  // namespace engine
