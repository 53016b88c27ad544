// std::complex: the library's class, whose arithmetic is the compiler's.

#include <array>
#include <cmath>
#include <complex>

#include "feature.h"

namespace complexes {

using C = std::complex<double>;
constexpr C kUnit(0.6, -0.8);

inline void Butterfly(C* a, int n, C root) {
  for (int k = 0; k < n / 2; ++k) {
    C t = a[k + n / 2] * std::pow(root, k);
    a[k + n / 2] = a[k] - t;
    a[k] += t;
  }
}

FEATURE(complex_parts, {
  C a(x[i], x[1]), b(x[2]);
  b.imag(x[i + 1]);
  b.real(b.real() * 2.0);
  a = std::conj(a) + b - C(0.0, 1.0);
  return a.real() * a.imag() + std::real(b) * std::imag(b) + (a == b ? 1.0 : 2.0) * x[i];
})
FEATURE(complex_arithmetic, {
  C a(x[i], -x[1]), b(x[2], x[i + 1]);
  C c = a * b + 2.0 * a - b * 3.0 + 1.0 / b + a / 4.0;
  c *= a;
  c /= b + kUnit;
  c += x[3];
  c -= 0.5;
  c *= x[i];
  c /= 1.0 + x[4];
  C d = -c / (a - b) + (1.0 - c) * +a;
  return c.real() + c.imag() * d.real() + d.imag() * std::norm(a);
})
FEATURE(complex_functions, {
  C a(x[i] - 1.0, x[1]), b(-x[2], x[i + 1] - 1.0);
  C c = std::exp(a) + std::log(b) + std::sqrt(a) + std::sqrt(b) * std::polar(x[3], x[i]);
  return std::abs(c) + std::arg(c * a) + std::abs(std::pow(a, 2.5)) + std::pow(a, b).imag() + std::arg(b);
})
FEATURE(complex_division_by_large, {
  C a(1e200 * x[i], -1e200), b(1e200, 1e200 * x[1]);
  C c = a / b;
  return c.real() + c.imag() * x[i];
})
FEATURE(complex_arrays, {
  C a[4];
  for (int k = 0; k < 4; ++k) a[k] = C(x[i + k], x[k]);
  Butterfly(a, 4, std::polar(1.0, 0.7));
  std::array<C, 2> z{a[1], a[i % 4]};
  double sum = 0;
  for (const C& c : z) sum += std::norm(c);
  const double* numbers = reinterpret_cast<const double*>(a);
  return sum + numbers[5] * numbers[n];
})

// clang-format off
#define ADC_COMPLEXES(X) \
  X(complex_parts) X(complex_arithmetic) X(complex_functions) X(complex_division_by_large) X(complex_arrays)
// clang-format on

}  // namespace complexes
