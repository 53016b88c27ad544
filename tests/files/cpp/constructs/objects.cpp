// Members of structs are variables, and arrays of structs an array for each member. A buffer of structs has
// an axis of words.
// clang-format off
// RUN: adc %s -w --emit=ir --stop-after=parse -o - | grep -v "^ *//" | FileCheck --match-full-lines %s
#include <adc/kernel.hpp>
using In = adc::buffer<const float, 1>;
using Out = adc::buffer<float, 1>;
struct Point { float x, y; int kind; };
struct Pair { Point a; float w[2]; };
ADC_KERNEL void objects(adc::buffer<Point, 1> p, Out y, int n) {
  adc::parallel(n, [&](int i) {
    Point one = p(i);
    Pair pair{one, {1.0f, 2.0f}};
    pair.a.x += pair.w[1];
    Point many[4] = {};
    many[i & 3] = pair.a;
    one.kind = 7;
    p(i) = one;
    y(i) = many[1].x + pair.a.y;
  });
}
// CHECK-LABEL: kernel @objects(%p: buffer<f32, 2>, %y: buffer<f32, 1>, %n: i32) {
// CHECK-NEXT:    %n.1 = alloca array<i32, 1>
// CHECK-NEXT:    store %n.1[0], %n
// CHECK-NEXT:    parallel %i in 0..%n {
// CHECK-NEXT:      %0 = alloca array<i32, 1>
// CHECK-NEXT:      store %0[0], %i
// CHECK-NEXT:      %one.x = alloca array<f32, 1>
// CHECK-NEXT:      %one.y = alloca array<f32, 1>
// CHECK-NEXT:      %one.kind = alloca array<i32, 1>
// CHECK-NEXT:      %1 = load %p[%i, 0]
// CHECK-NEXT:      store %one.x[0], %1
// CHECK-NEXT:      %2 = load %p[%i, 1]
// CHECK-NEXT:      store %one.y[0], %2
// CHECK-NEXT:      %3 = load %p[%i, 2]
// CHECK-NEXT:      %4 = stop_gradient %3
// CHECK-NEXT:      %5 = bitcast %4 to u32
// CHECK-NEXT:      %6 = bitcast %5 to i32
// CHECK-NEXT:      store %one.kind[0], %6
// CHECK-NEXT:      %pair.a.x = alloca array<f32, 1>
// CHECK-NEXT:      %pair.a.y = alloca array<f32, 1>
// CHECK-NEXT:      %pair.a.kind = alloca array<i32, 1>
// CHECK-NEXT:      %pair.w = alloca array<f32, 2>
// CHECK-NEXT:      store %pair.a.x[0], %1
// CHECK-NEXT:      store %pair.a.y[0], %2
// CHECK-NEXT:      store %pair.a.kind[0], %6
// CHECK-NEXT:      store %pair.w[0], 1.0
// CHECK-NEXT:      store %pair.w[1], 2.0
// CHECK-NEXT:      %7 = load %pair.w[1]
// CHECK-NEXT:      %8 = add %1, %7
// CHECK-NEXT:      store %pair.a.x[0], %8
// CHECK-NEXT:      %many = alloca array<f32, 4>
// CHECK-NEXT:      %many.1 = alloca array<f32, 4>
// CHECK-NEXT:      %many.2 = alloca array<i32, 4>
// CHECK-NEXT:      store %many[0], 0.0
// CHECK-NEXT:      store %many.1[0], 0.0
// CHECK-NEXT:      store %many.2[0], 0
// CHECK-NEXT:      store %many[1], 0.0
// CHECK-NEXT:      store %many.1[1], 0.0
// CHECK-NEXT:      store %many.2[1], 0
// CHECK-NEXT:      store %many[2], 0.0
// CHECK-NEXT:      store %many.1[2], 0.0
// CHECK-NEXT:      store %many.2[2], 0
// CHECK-NEXT:      store %many[3], 0.0
// CHECK-NEXT:      store %many.1[3], 0.0
// CHECK-NEXT:      store %many.2[3], 0
// CHECK-NEXT:      %9 = and %i, 3
// CHECK-NEXT:      store %many[%9], %8
// CHECK-NEXT:      store %many.1[%9], %2
// CHECK-NEXT:      store %many.2[%9], %6
// CHECK-NEXT:      store %one.kind[0], 7
// CHECK-NEXT:      store %p[%i, 0], %1
// CHECK-NEXT:      store %p[%i, 1], %2
// CHECK-NEXT:      %10 = bitcast 7 to u32
// CHECK-NEXT:      %11 = bitcast %10 to f32
// CHECK-NEXT:      store %p[%i, 2], %11
// CHECK-NEXT:      %12 = load %many[1]
// CHECK-NEXT:      %13 = add %12, %2
// CHECK-NEXT:      store %y[%i], %13
// CHECK-NEXT:    }
// CHECK-NEXT:  }
