// What public libraries of mathematics are written with: bits of numbers, tables without const, results that
// may be null, bases that know what derives from them, objects that are made in place.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <new>

#include "feature.h"

#if defined(__ADC__) && (defined(__SSE__) || defined(__AVX__) || defined(__ARM_NEON))
#error "a kernel's code is for no processor"
#endif

namespace foreign {

union Number {
  std::uint64_t bits;
  double value;
};
union Words {
  struct {
    float a, b;
  };
  std::int32_t word[2];
};
using Seen = std::uint64_t __attribute__((may_alias));

inline double PowerBelow(double v) {
  Number n;
  n.value = v;
  n.bits &= 0x7ff0000000000000u;
  return n.value;
}
inline int Exponent(double v) {
  std::uint64_t bits;
  std::memcpy(&bits, &v, sizeof v);
  return static_cast<int>(bits >> 52 & 0x7ff) - 1023;
}
inline double SignOf(double v) {
  return (*reinterpret_cast<Seen*>(&v) >> 63) != 0 ? -1.0 : 1.0;
}

static double weights[3][2] = {{0.5, 1.5}, {2.5, -1.0}, {0.25, 3.0}};
static unsigned char order[8] = {3, 1, 0, 2, 7, 5, 4, 6};
static double written = 1.0;
inline void Write() {
  written = 2.0;
}
inline double Weighted(int k, double a, double b) {
  static double more[2][2] = {{1.0, 2.0}, {3.0, 4.0}};
  double* row = more[k & 1];
  return weights[k % 3][0] * a + weights[k % 3][1] * b + row[0] * a * b + row[1];
}

template <class T>
struct Tables {
  static const T gradients[];
};
template <class T>
const T Tables<T>::gradients[] = {T(0.1), T(-0.7), T(0.7), T(1.1)};

struct Turn {
  double c, s;
  Turn(double angle) : c(std::cos(angle)), s(std::sin(angle)) {}
  ~Turn() {}
  double Of(double a, double b) const { return c * a - s * b; }
  static const Turn& Quarter() {
    static const Turn quarter(0.785398163397448309);
    return quarter;
  }
};
static const Turn kEighth(0.392699081698724154);

inline double* Halve(double* v, double least) {
  if (*v < least) return nullptr;
  *v *= 0.5;
  return v;
}
inline const double* Find(const double* v, int n, double above) {
  for (int k = 0; k < n; ++k) {
    if (v[k] > above) return v + k;
  }
  return NULL;
}

template <class Derived>
struct Shape {
  double scale;
  double Twice() const { return 2.0 * scale * static_cast<const Derived*>(this)->Area(); }
  Derived& Self() { return static_cast<Derived&>(*this); }
};
struct Box : Shape<Box> {
  double a, b;
  double Area() const { return a * b; }
  void Grow(double k) { a += k; }
};

FEATURE(bits_of_unions, {
  Words w;
  w.a = static_cast<float>(x[i]);
  w.b = -w.a;
  return PowerBelow(x[i]) * x[i] + (w.word[0] < 0 ? 1.0 : 2.0) * x[i + 1] +
         (w.word[1] < 0 ? 3.0 : 4.0) * x[2];
})
FEATURE(bits_by_memcpy,
        { return Exponent(x[i] * 4.0) * x[i + 1] + Exponent(x[1]) + SignOf(x[i] - 1.0) * x[i]; })
FEATURE(derivative_beside_bits, {
  Number n;
  n.value = x[i] * x[i];
  double before = n.value;
  if (n.bits == 0) n.value = 1.0;
  return n.value * before;
})
FEATURE(tables_without_const, {
  double sum = 0;
  for (int k = 0; k < n; ++k) sum += Weighted(order[(i + k) & 7], x[i], x[k]);
  return sum + Tables<double>::gradients[i & 3] * x[i];
})
FEATURE(constants_that_run, {
  Turn own(x[i]);
  return Turn::Quarter().Of(x[i], x[1]) * kEighth.Of(x[2], x[i + 1]) + own.Of(x[3], x[4]);
})
FEATURE(remainders, {
  double sum =
      std::remainder(x[i] * 7.0, 1.3) * x[1] + std::remainder(-x[i], x[2]) + std::remainder(x[i], INFINITY);
  for (int k = -6; k <= 6; ++k)
    sum += k * std::remainder(k * 1.0, 4.0) + std::remainder(k * 0.5, -1.0) * x[i];
  return sum + static_cast<double>(std::remainder(-2.5F, 1.0F)) +
         std::signbit(std::remainder(-4.0, 2.0)) * x[0];
})
FEATURE(null_or_not, {
  double v = x[i];
  double a[4] = {x[i], x[1], x[2], x[i + 3]};
  double* halved = Halve(&v, 1.0);
  if (halved) *halved *= x[1];
  const double* found = Find(a, 4, 1.2);
  const double* other = i % 2 == 0 ? nullptr : &a[i % 4];
  double sum = halved == nullptr ? x[3] : *halved * x[4];
  if (found != nullptr) sum += *found * (found - a + 1);
  if (!other) return sum * x[5];
  return sum + *other * v;
})
FEATURE(seen_as_derived, {
  Box box;
  box.scale = x[i];
  box.a = x[1];
  box.b = x[i + 1];
  box.Self().Grow(x[2]);
  Shape<Box>& shape = box;
  return shape.Twice() + box.Twice() * shape.Self().b;
})
inline void Fill(void* to, const void* from, int n) {
  std::memcpy(to, from, sizeof(double) * static_cast<std::size_t>(n));
}
FEATURE(made_in_place, {
  Turn turn(x[i]);
  double before = turn.Of(x[1], x[2]);
  new (static_cast<void*>(&turn)) Turn(x[i + 1]);
  double a[2] = {x[i] * x[3], x[4]};
  double b[2];
  Fill(b, a, 2);
  const auto* seen = static_cast<const double*>(static_cast<const void*>(b));
  return before * turn.Of(x[1], x[2]) + seen[1] * b[0];
})
FEATURE(rounded_by_a_large_number, {
  double whole = (x[i] * 3.0 + 6755399441055744.0) - 6755399441055744.0;
  float single = (static_cast<float>(x[i]) * 5.0F + 12582912.0F) - 12582912.0F;
  return (x[i] * 3.0 - whole) * x[1] + static_cast<double>(single) * x[2];
})

}  // namespace foreign

#define ADC_FOREIGN(F)      \
  F(bits_of_unions)         \
  F(bits_by_memcpy)         \
  F(derivative_beside_bits) \
  F(tables_without_const)   \
  F(constants_that_run)     \
  F(remainders) F(null_or_not) F(seen_as_derived) F(made_in_place) F(rounded_by_a_large_number)
