// Forms that stand for others which a kernel has.
// RUN: adc %s --emit=ir --stop-after=isolate-tasks -o - | FileCheck %s
#include <adc/kernel.hpp>

namespace adc {
// Of the user's, by a name that the IR has for another operation.
inline float div(float a) {
  return a * 3;
}
}  // namespace adc

// CHECK-LABEL: kernel @own_name
ADC_KERNEL void own_name(adc::buffer<const float, 1> x, adc::buffer<float, 1> y) {
  // CHECK: mul {{.*}}, 3.0
  adc::parallel(x.extent(0), [&](int i) { y[i] = adc::div(x[i]); });
}

struct View {
  adc::buffer<const float, 1>& values;
  int first;
};

// CHECK-LABEL: kernel @bound_in_parentheses
ADC_KERNEL void bound_in_parentheses(adc::buffer<const float, 1> x, adc::buffer<float, 1> y) {
  // CHECK: load %x[
  adc::parallel(y.extent(0), [&](int i) {
    View view(x, 1);
    y[i] = view.values[view.first + i];
  });
}

struct Frame {
  adc::mat<float, 2, 2> m;
};

// CHECK-LABEL: kernel @atomic_in_matrix
ADC_KERNEL void atomic_in_matrix(adc::buffer<Frame, 1> frames, adc::buffer<const float, 1> x) {
  // CHECK: atomic add %frames[0, 2]
  adc::parallel(x.extent(0), [&](int i) { adc::atomic_add(frames[0].m(1, 0), x[i]); });
}

struct Metres {
  float value;
};
constexpr Metres operator""_m(unsigned long long v) {
  return {static_cast<float>(v)};
}

// CHECK-LABEL: kernel @own_literal
ADC_KERNEL void own_literal(adc::buffer<float, 1> y) {
  Metres length = 3_m;
  // CHECK: store %y[{{.*}}], 3.0
  adc::parallel(y.extent(0), [&](int i) { y[i] = length.value; });
}
