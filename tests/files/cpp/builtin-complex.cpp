// The compiler's function that makes a complex number of two, by which libc++ multiplies and divides.
// RUN: adc gradcheck %s --shape x=9 | FileCheck %s
// RUN: adc run %s --kernel product --arg x=ones[3] --arg loss=0 | FileCheck %s --check-prefix=VALUE
// CHECK: 2 parameters, 0 differ
// VALUE: loss: {{.*}} = 3.0

#include <adc/kernel.hpp>

ADC_KERNEL void product(adc::diff<adc::buffer<double, 1>> x, adc::diff<adc::buffer<double, 0>> loss) {
  adc::parallel(x.extent(0), [&](int i) {
    _Complex double a = __builtin_complex(x[i], 2.0), b = __builtin_complex(0.5, x[i] * x[i]);
    adc::atomic_add(loss(), __real__(a * b) + __imag__(a * b) + 0.5);
  });
}
