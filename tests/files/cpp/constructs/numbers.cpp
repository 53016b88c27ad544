// Conversions, operators of integers and functions of the library.
// clang-format off
// RUN: adc %s -w --emit=ir --stop-after=parse -o - | grep -v "^ *//" | FileCheck --match-full-lines %s
#include <adc/kernel.hpp>
using In = adc::buffer<const float, 1>;
using Out = adc::buffer<float, 1>;
#include <algorithm>
ADC_KERNEL void numbers(In x, Out y, int n) {
  adc::parallel(n, [&](int i) {
    unsigned u = static_cast<unsigned>(i) >> 3;
    long wide = long(i) * n % 7;
    double d = x(i);
    int bits = (~i & 15) | (1 << (u & 3));
    float f = std::clamp(x(i), 0.0f, 1.0f) + std::fma(x(i), 2.0f, float(d));
    y(i) = f * float(bits + int(wide)) - std::pow(f, 3.0f);
  });
}
// CHECK-LABEL: kernel @numbers(%x: buffer<f32, 1> readonly, %y: buffer<f32, 1>, %n: i32) {
// CHECK-NEXT:    %n.1 = alloca array<i32, 1>
// CHECK-NEXT:    store %n.1[0], %n
// CHECK-NEXT:    parallel %i in 0..%n {
// CHECK-NEXT:      %0 = alloca array<i32, 1>
// CHECK-NEXT:      store %0[0], %i
// CHECK-NEXT:      %1 = cast %i to u32
// CHECK-NEXT:      %2 = shr %1, 3
// CHECK-NEXT:      %u = alloca array<u32, 1>
// CHECK-NEXT:      store %u[0], %2
// CHECK-NEXT:      %3 = cast %i to i64
// CHECK-NEXT:      %4 = cast %n to i64
// CHECK-NEXT:      %5 = mul %3, %4
// CHECK-NEXT:      %6 = rem %5, 7
// CHECK-NEXT:      %wide = alloca array<i64, 1>
// CHECK-NEXT:      store %wide[0], %6
// CHECK-NEXT:      %7 = load %x[%i]
// CHECK-NEXT:      %8 = cast %7 to f64
// CHECK-NEXT:      %d = alloca array<f64, 1>
// CHECK-NEXT:      store %d[0], %8
// CHECK-NEXT:      %9 = not %i
// CHECK-NEXT:      %10 = and %9, 15
// CHECK-NEXT:      %11 = and %2, 3
// CHECK-NEXT:      %12 = cast %11 to i32
// CHECK-NEXT:      %13 = shl 1, %12
// CHECK-NEXT:      %14 = or %10, %13
// CHECK-NEXT:      %bits = alloca array<i32, 1>
// CHECK-NEXT:      store %bits[0], %14
// CHECK-NEXT:      %15 = load %x[%i]
// CHECK-NEXT:      %16 = alloca array<f32, 1>
// CHECK-NEXT:      store %16[0], 0.0
// CHECK-NEXT:      %17 = alloca array<f32, 1>
// CHECK-NEXT:      store %17[0], 1.0
// CHECK-NEXT:      %18 = max 0.0, %15
// CHECK-NEXT:      %19 = min 1.0, %18
// CHECK-NEXT:      %20 = load %x[%i]
// CHECK-NEXT:      %21 = cast %8 to f32
// CHECK-NEXT:      %22 = fma %20, 2.0, %21
// CHECK-NEXT:      %23 = add %19, %22
// CHECK-NEXT:      %f = alloca array<f32, 1>
// CHECK-NEXT:      store %f[0], %23
// CHECK-NEXT:      %24 = cast %6 to i32
// CHECK-NEXT:      %25 = add %14, %24
// CHECK-NEXT:      %26 = cast %25 to f32
// CHECK-NEXT:      %27 = mul %23, %26
// CHECK-NEXT:      %28 = pow %23, 3.0
// CHECK-NEXT:      %29 = sub %27, %28
// CHECK-NEXT:      store %y[%i], %29
// CHECK-NEXT:    }
// CHECK-NEXT:  }
