// What engines write, in its odd corners: integers and floats, order and effects, control. Each kernel means
// what C++ says, or adc has to refuse it.

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>

#include "feature.h"

namespace engine {

struct Pair2 {
  double first = 1.0, second = 2.0;
};

// ---- Integers

FEATURE(promotions, {
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
FEATURE(compound_narrow, {
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
FEATURE(unsigned_against_signed, {
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
FEATURE(shifts, {
  const unsigned u = 0x80000001u + static_cast<unsigned>(i);
  const int s = static_cast<int>(u);
  const std::uint64_t w = std::uint64_t{1} << (40 + i);
  const int k = 1 << i;
  return x[i] * static_cast<double>((u >> 3) & 0xffu) + (s >> 28) + static_cast<double>(w >> 38) + k +
         static_cast<double>((u << 3) >> 3) + static_cast<double>(static_cast<std::int8_t>(0x80 >> i));
})
FEATURE(wrap_around, {
  std::uint32_t h = 2166136261u;
  for (int k = 0; k <= i; ++k) {
    h ^= static_cast<std::uint32_t>(k * 31);
    h *= 16777619u;
  }
  std::uint64_t z = (h + 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;
  z ^= z >> 27;
  return x[i] * (h % 1000u) + static_cast<double>(z >> 40);
})
FEATURE(division_of_integers, {
  const int a = i - 4;
  double v = 0.0;
  for (int d = -3; d <= 3; ++d) {
    if (d == 0) continue;
    v += a / d * 10 + a % d;
  }
  return x[i] * v + (7u / 2) + (-7 / 2) + (-7 % 3) +
         static_cast<double>(-7ll / static_cast<long long>(i + 2));
})
FEATURE(booleans, {
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
FEATURE(characters, {
  const char c = static_cast<char>('a' + i);
  const bool vowel = c == 'a' || c == 'e' || c == 'i';
  return x[i] * (c - 'a' + 1) + vowel + ('\xff' < 0 ? 1 : 2) + sizeof('a') + u'\u1234';
})
FEATURE(widths, {
  const long a = 1l << 33;
  const std::size_t b = sizeof(double) * static_cast<std::size_t>(i);
  const std::int16_t c = static_cast<std::int16_t>(a >> 18);
  const unsigned long d = static_cast<unsigned long>(-1) / (b + 1);
  const int e = static_cast<int>(a >> 30);
  return x[i] * static_cast<double>(b) + c + static_cast<double>(d >> 50) + e +
         std::numeric_limits<short>::max() + static_cast<double>(std::numeric_limits<int>::min() >> 20);
})
FEATURE(enum_arithmetic, {
  enum Bits : unsigned { kA = 1, kB = 2, kC = 4 };
  auto f = static_cast<Bits>(kA | kC);
  unsigned g = f & ~kA;
  if (i & kB) g |= kB;
  return x[i] * g + (f == (kA | kC)) + kC * 2;
})
FEATURE(index_of_small_type, {
  const std::array<double, 5> a = {x[0], x[1], x[2], x[3], x[4]};
  const unsigned char k = static_cast<unsigned char>(254 + i);
  const std::int8_t t = static_cast<std::int8_t>(i & 3);
  double v = a[static_cast<unsigned char>(k + 1) % 5];
  v += x[t] * a[static_cast<std::size_t>(t)];
  return v * x[static_cast<unsigned>(i)];
})

// ---- Order and effects

FEATURE(steps_in_subscripts, {
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
FEATURE(effects_in_conditions, {
  int a = 0, b = 0;
  double v = x[i];
  if (++a > 1 && ++b) v += 1.0;
  if (++a > 1 || ++b) v += 2.0;
  if ((a++, b++, a > b) && (b += 2) > 1) v *= x[0];
  const bool c = (v > 2.0 && (a += 10)) || (b += 20);
  return v + a + b * 100 + c;
})
FEATURE(same_on_both_sides, {
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
FEATURE(ternary_effects, {
  int a = 1, b = 10;
  double v = x[i] > 1.0 ? (a++, x[i]) : (b--, 2.0 * x[i]);
  int& chosen = true ? a : b;
  chosen += 100;
  const int k = i > 3 ? a++ : i > 1 ? b++ : a-- + b--;
  return v * k + a + b;
})
FEATURE(assignment_chains, {
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
FEATURE(assignment_reads_first, {
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
FEATURE(assignment_of_classes, {
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
FEATURE(arguments_with_effects, {
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
FEATURE(shadows, {
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
FEATURE(condition_declares, {
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
FEATURE(references_follow, {
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
FEATURE(least_by_reference, {
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
FEATURE(chosen_objects, {
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
FEATURE(reference_parameters, {
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
FEATURE(returns_references, {
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
FEATURE(lambda_captures, {
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
FEATURE(lambda_recursion_by_hand, {
  auto loop = [](auto depth, double v, auto self) -> double {
    if constexpr (depth.value == 0)
      return v;
    else
      return v + 0.5 * self(std::integral_constant<int, depth.value - 1>{}, v * v * 0.3, self);
  };
  return loop(std::integral_constant<int, 4>{}, x[i], loop);
})
FEATURE(immediate, {
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

FEATURE(everything_leaves, {
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
FEATURE(switch_in_the_middle, {
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
FEATURE(negative_cases, {
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
FEATURE(loop_never_runs, {
  double v = x[i];
  for (int k = n; k < n; ++k) v = 1e9;
  for (unsigned k = 5; k < 3; ++k) v = 1e9;
  for (int k = 3; k <= 2; ++k) v = 1e9;
  for (int k = -1; k >= 0; --k) v = 1e9;
  int j = 5;
  for (j = 2; j < 0; j++) v = 1e9;
  return v * v + j;
})
FEATURE(index_changes, {
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
FEATURE(bound_changes, {
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
FEATURE(float_loop, {
  double v = x[i];
  for (double t = 0.0; t < 1.0; t += 0.25) v += t * v;
  for (float t = 1.0f; t > 0.1f; t *= 0.5f) v += t;
  for (double e = 1.0; e > 1e-3 && v < 50.0;) e *= 0.1, v += e;
  return v;
})
FEATURE(unsigned_down, {
  double v = x[i];
  for (unsigned k = 4; k <= 4; --k) v = v * 0.5 + x[k];
  for (std::size_t k = 5; k--;) v += x[k] * 0.1;
  for (unsigned char k = 250; k > 249; ++k) v += 0.001 * k;
  return v;
})
FEATURE(early_out_of_everything, {
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
FEATURE(nothing_after_return, {
  double v = x[i];
  if (v > 0.0) return v * v;
  v = 1e9;
  while (true) v += 1.0;
  return v;
})

// ---- Floats

FEATURE(mixed_precision, {
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
FEATURE(float_to_integer, {
  const double v = i * 3.3 - 7.0;
  const int a = static_cast<int>(v);
  const int b = static_cast<int>(std::floor(v));
  const unsigned char c = static_cast<unsigned char>(i * 20.7);
  const bool d = v - v;
  const long e = static_cast<long>(-v * 1e6);
  const short s = static_cast<short>(a * 1000);
  return x[i] * (a + b * 100 + c) + d + static_cast<double>(e % 1000) + s;
})
FEATURE(signed_zero, {
  const double z = x[i] > 1.0 ? 0.0 : -0.0;
  double v = std::copysign(2.0, z) + (std::signbit(-z) ? 10.0 : 0.0);
  v += 1.0 / (z + (std::signbit(z) ? -0.5 : 0.25));
  v += std::signbit(z * -1.0) + std::signbit(0.0 - z) + std::signbit(-z) + std::signbit(z + 0.0);
  return v * x[i];
})
FEATURE(not_a_number, {
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
FEATURE(not_rearranged, {
  const double big = 1e16 * (i + 1.7);
  const double v = (big + 1.0) - big;
  const double w = big + (1.0 - big);
  const float f = 1e8f + static_cast<float>(i);
  const float g = f - 1e8f;
  return v + w * x[0] + static_cast<double>(g) + x[i] * 0.1 * 10.0 + (x[i] / 3.0) * 3.0;
})
FEATURE(powers, {
  return std::pow(x[i], 2) + std::pow(x[i], 0.5f) + std::sqrt(4) + std::exp(0) + std::abs(-3) * x[i] +
         std::abs(-2.5f) + std::fmod(7, 3) + std::floor(-2.5f) + std::max<double>(1, x[i]) +
         std::hypot(3.0f, 4.0);
})
FEATURE(bit_tricks, {
  const auto f = 0.3f + static_cast<float>(i);
  auto bits = std::bit_cast<std::uint32_t>(f);
  bits = 0x5f3759df - (bits >> 1);
  auto guess = std::bit_cast<float>(bits);
  const std::uint32_t k = static_cast<std::uint32_t>(i) * 2654435761u;
  const auto rotated = std::rotl(k, 7) ^ std::rotr(k, 3);
  return x[i] * 2.0 + static_cast<double>(guess) + std::popcount(rotated) + std::countl_one(~k) +
         std::bit_width(k | 1u) + std::has_single_bit(k & 0xff);
})

// clang-format off
#define ADC_EXACT_ENGINE(X) \
  X(promotions) X(compound_narrow) X(unsigned_against_signed) X(shifts) X(wrap_around) \
  X(division_of_integers) X(booleans) X(characters) X(widths) X(enum_arithmetic) X(index_of_small_type) \
  X(steps_in_subscripts) X(effects_in_conditions) X(same_on_both_sides) X(ternary_effects) \
  X(assignment_chains) X(assignment_reads_first) X(assignment_of_classes) X(arguments_with_effects) \
  X(shadows) X(condition_declares) X(references_follow) X(least_by_reference) X(chosen_objects) \
  X(reference_parameters) X(returns_references) X(lambda_captures) X(lambda_recursion_by_hand) \
  X(immediate) X(everything_leaves) X(switch_in_the_middle) X(negative_cases) X(loop_never_runs) \
  X(index_changes) X(bound_changes) X(float_loop) X(unsigned_down) X(early_out_of_everything) \
  X(nothing_after_return) X(mixed_precision) X(float_to_integer) X(signed_zero) X(not_a_number) \
  X(not_rearranged) X(bit_tricks)
#define ADC_CLOSE_ENGINE(X) X(powers)
// clang-format on

}  // namespace engine
