// adc::serial runs in order: an iteration reads what the one before wrote.
// clang-format off
// RUN: adc %s --emit=ir --derive=none -o - | FileCheck %s
// RUN: adc gradcheck %s --kernel scan --arg x=random[6] --arg y=random[6]
// RUN: adc gradcheck %s --kernel table --arg x=random[3,4] --arg y=random[3,4]
#include <adc/kernel.hpp>
using Buffer1 = adc::diff<adc::buffer<double, 1>>;
using Buffer2 = adc::diff<adc::buffer<double, 2>>;

// CHECK: kernel @scan(
// CHECK-NOT: parallel
ADC_KERNEL void scan(Buffer1 x, Buffer1 y) {
  adc::serial(x.extent(0) - 1, [&](int i) { y[i + 1] = y[i] + x[i]; });
}
ADC_KERNEL void table(Buffer2 x, Buffer2 y) {
  adc::serial(x.extent(0), x.extent(1) - 1, [&](int i, int j) { y(i, j + 1) = y(i, j) + x(i, j); });
}
