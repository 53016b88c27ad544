// A kernel that uses much of the C++ library: the one in the wheel gives the same as the machine's
// (test_wheel.py).

#include <adc/kernel.hpp>
#include <algorithm>
#include <array>
#include <bit>
#include <complex>
#include <limits>
#include <numbers>
#include <utility>

ADC_KERNEL void k(adc::diff<adc::buffer<double, 1>> x, adc::diff<adc::buffer<double, 1>> y) {
  adc::parallel(y.extent(0), [&](int i) {
    std::complex<double> a(x[i], -x[1]), b(x[2], x[i + 1]);
    std::complex<double> c = a * b + 2.0 * a - b * 3.0 + 1.0 / b + std::sqrt(a) * std::polar(x[3], x[i]);
    c /= b - std::exp(a);
    std::array<double, 3> parts{c.real(), c.imag(), std::hypot(x[i], x[0])};
    std::swap(parts[0], parts[1]);
    auto [low, high] = std::pair(std::min(parts[0], parts[1]), std::max(parts[1], parts[2]));
    y[i] = std::lerp(low, high, 0.25) * std::numbers::pi + std::clamp(x[i], 0.0, 1.0) +
           std::abs(std::pow(a, 2.5));
    if (y[i] > std::numeric_limits<double>::max()) y[i] = std::bit_cast<double>(0x3ff0000000000000ll);
  });
}
