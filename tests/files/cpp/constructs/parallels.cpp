// Indices of a parallel are variables of its body; variables from outside that nothing assigns there are
// values. Atomics and shared arrays.
// clang-format off
// RUN: adc %s -w --emit=ir --stop-after=parse -o - | grep -v "^ *//" | FileCheck --match-full-lines %s
#include <adc/kernel.hpp>
using In = adc::buffer<const float, 1>;
using Out = adc::buffer<float, 1>;
ADC_KERNEL void planes(adc::buffer<float, 2> a, adc::buffer<float, 0> sum) {
  float scale = 2.0f;
  scale *= 3.0f;
  adc::parallel(a.extent(0), a.extent(1), [&](int i, int j) {
    adc::atomic_add(sum(), scale * a(i, j));
  });
}
ADC_KERNEL void groups(In x, Out y, int n) {
  adc::blocks<64>(n, [&](auto block) {
    adc::shared<float, 64> cells(block);
    cells[block.thread()] = x(block.index());
    block.barrier();
    y(block.index()) = cells[63 - block.thread()];
  });
}
// CHECK-LABEL: kernel @planes(%a: buffer<f32, 2>, %sum: buffer<f32, 0>) {
// CHECK-NEXT:    %scale = alloca array<f32, 1>
// CHECK-NEXT:    store %scale[0], 2.0
// CHECK-NEXT:    store %scale[0], 6.0
// CHECK-NEXT:    %0 = shape %a, 0
// CHECK-NEXT:    %1 = shape %a, 1
// CHECK-NEXT:    parallel %i, %j in 0..%0, 0..%1 {
// CHECK-NEXT:      %2 = alloca array<i32, 1>
// CHECK-NEXT:      store %2[0], %i
// CHECK-NEXT:      %3 = alloca array<i32, 1>
// CHECK-NEXT:      store %3[0], %j
// CHECK-NEXT:      %4 = load %a[%i, %j]
// CHECK-NEXT:      %5 = mul 6.0, %4
// CHECK-NEXT:      atomic add %sum[], %5
// CHECK-NEXT:    }
// CHECK-NEXT:  }
// CHECK-LABEL: kernel @groups(%x: buffer<f32, 1> readonly, %y: buffer<f32, 1>, %n: i32) {
// CHECK-NEXT:    %n.1 = alloca array<i32, 1>
// CHECK-NEXT:    store %n.1[0], %n
// CHECK-NEXT:    parallel %block, %thread in 0..%n, 0..64 workgroup {
// CHECK-NEXT:      %cells = alloca array<f32, 64> shared
// CHECK-NEXT:      %0 = mul %block, 64
// CHECK-NEXT:      %1 = add %0, %thread
// CHECK-NEXT:      %2 = load %x[%1]
// CHECK-NEXT:      %i = alloca array<i32, 1>
// CHECK-NEXT:      store %i[0], %thread
// CHECK-NEXT:      %3 = alloca array<i32, 1>
// CHECK-NEXT:      store %3[0], 0
// CHECK-NEXT:      store %cells[%thread], %2
// CHECK-NEXT:      barrier
// CHECK-NEXT:      %4 = sub 63, %thread
// CHECK-NEXT:      %i.1 = alloca array<i32, 1>
// CHECK-NEXT:      store %i.1[0], %4
// CHECK-NEXT:      %5 = alloca array<i32, 1>
// CHECK-NEXT:      store %5[0], 0
// CHECK-NEXT:      %6 = load %cells[%4]
// CHECK-NEXT:      %7 = mul %block, 64
// CHECK-NEXT:      %8 = add %7, %thread
// CHECK-NEXT:      store %y[%8], %6
// CHECK-NEXT:    }
// CHECK-NEXT:  }
