// What leaves a function, a switch or an iteration from inside of something else leaves a scope. What nothing leaves has none.
// RUN: adc -w --diff=x,y --emit=ir --stop-after=parse %s -o %t.ir && grep -v '^ *//' %t.ir | FileCheck %s
// RUN: adc gradcheck %t.ir --arg x=[0.3,0.9,1.7,-0.6,2.4] --shape y=5 --arg count=4 --arg invocations_x=5 | FileCheck %s --check-prefix=AGREES
// AGREES: x {{.*}}ok
// CHECK-LABEL: kernel @exits
// CHECK:       scope [[SWITCH:%[0-9]+]] {
// CHECK:         store %v[0]
// CHECK-NEXT:    exit [[SWITCH]]
// CHECK:       scope [[FUNCTION:%[0-9]+]] {
// CHECK-NEXT:    store %i[0], 0
// CHECK:         while
// CHECK:           while
// CHECK:             scope [[NEXT:%[0-9]+]] {
// CHECK:               exit [[FUNCTION]]
// CHECK:               exit [[NEXT]]
// CHECK-NOT:   scope
#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer X { float x[]; };
layout(std430, binding = 1) buffer Y { float y[]; };
layout(push_constant) uniform Push { int count; };

float found(float v) {
  for (int i = 0; i < count; ++i) {
    for (int j = 0; j < i + 2; j += 1 + int(v > 9.0)) {
      if (v > 2.0) {
        return v * v;
      }
      if (j == 1) {
        v += 0.1;
        continue;
      }
      v = v * 1.2 + 0.05;
    }
  }
  return v;
}

void main() {
  uint g = gl_GlobalInvocationID.x;
  float v = x[g];
  switch (int(g) % 3) {
    case 0:
      if (v < 0.5) {
        v = sin(v);
        break;
      }
      v *= 0.7;
      break;
    case 1:
      v *= 2.0;
  }
  y[g] = found(v);
}
