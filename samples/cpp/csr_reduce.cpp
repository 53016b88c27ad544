// csr_reduce.cpp: a ragged reduction over a sparse matrix in CSR form, not linear along a row
// (csr_reduce.ir).

#include <adc/kernel.hpp>

using Integers = adc::readonly<adc::buffer<int, 1>>;
using Inputs = adc::readonly<adc::diff<adc::buffer<float, 1>>>;

/// Row r owns the entries start[r] .. start[r + 1] of `value` and `column`.
ADC_KERNEL void csr_reduce(Integers start, Integers column, Inputs value, Inputs x,
                           adc::diff<adc::buffer<float, 1>> y) {
  adc::parallel(y.extent(0), [&](int r) {
    float s = 0;
    for (int k = start[r]; k < start[r + 1]; ++k) s = std::tanh(s + value[k] * x[column[k]]);
    y[r] = s;
  });
}
