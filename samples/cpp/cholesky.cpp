// cholesky.cpp: factors a batch of small symmetric positive definite matrices, A = L L^T (cholesky.ir).

#include <adc/kernel.hpp>

/// `writeonce`: each element of L is written once and read after that, so that the gradient reads it from
/// memory.
ADC_KERNEL void cholesky(adc::readonly<adc::diff<adc::buffer<float, 3>>> a,
                         adc::writeonce<adc::diff<adc::buffer<float, 3>>> l) {
  const int n = a.extent(1);
  adc::parallel(a.extent(0), [&](int m) {
    for (int j = 0; j < n; ++j) {
      float square = 0;
      for (int k = 0; k < j; ++k) square = std::fma(l(m, j, k), l(m, j, k), square);
      float diagonal = std::sqrt(a(m, j, j) - square);
      l(m, j, j) = diagonal;
      for (int i = j + 1; i < n; ++i) {
        float dot = 0;
        for (int k = 0; k < j; ++k) dot = std::fma(l(m, i, k), l(m, j, k), dot);
        l(m, i, j) = (a(m, i, j) - dot) / diagonal;
      }
    }
  });
}
