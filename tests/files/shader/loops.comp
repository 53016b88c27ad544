// Every loop is read as a `while`; those that count are `for` before anything is derived, and those that something else may
// end as well have a bound.
// RUN: adc -w --emit=ir --stop-after=parse %s | FileCheck %s --check-prefix=READ --implicit-check-not="for %"
// READ-COUNT-12: while
// RUN: adc -w --emit=ir --stop-after=isolate-tasks %s | grep -E "for %|while" | FileCheck %s
// RUN: adc gradcheck %s --arg x=[0.3,0.9,1.7,-0.6,2.4] --shape y=5 --arg sizes=[2,0,3,1,5] --arg count=4 --arg words=3 --arg invocations_x=5
#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) readonly buffer X { float x[]; };  // adc: diff
layout(std430, binding = 1) buffer Y { float y[]; };           // adc: diff
layout(std430, binding = 2) readonly buffer Sizes { int sizes[]; };
layout(push_constant) uniform Push { int count; uint words; };

float found(float v) {
  for (int i = 0; i < count; ++i) {
    if (v > 4.0) return v * v;
    v = v * 1.2 + 0.05;
  }
  return v;
}

void main() {
  uint g = gl_GlobalInvocationID.x;
  float v = x[g];
  // CHECK: for %i{{[^ ]*}} in 0..%{{[^ ]+}} carry
  for (int i = 0; i < sizes[g]; ++i) v = sin(v) + x[i];
  // CHECK-NEXT: for %i{{[^ ]*}} in 0..%{{[^ ]+}} carry
  for (uint i = 0u; i < words; ++i) v = v * x[i] + 0.1;
  // CHECK-NEXT: for %i{{[^ ]*}} in 0..%{{[^ ]+}} carry
  for (uint i = 0u; i < uint(sizes.length()); ++i) v = v + 0.1 * cos(x[i]);
  // CHECK-NEXT: for %{{[0-9]+}} in %{{[^ ]+}}..0 carry
  for (int i = count - 1; i >= 0; --i) v = v * 0.9 + sin(v * x[i]);
  // CHECK-NEXT: for %i{{[^ ]*}} in 1..%{{[^ ]+}} step 2 carry
  for (int i = 1; i <= count; i += 2) v = sin(v) * 1.1;
  // CHECK-NEXT: for %i{{[^ ]*}} in 0..%count
  // CHECK-NEXT: for %k{{[^ ]*}} in 0..%{{[^ ]+}} carry
  for (int i = 0; i < count; ++i)
    for (int k = 0; k <= i; ++k) v += 0.1 * sin(v * x[k]);
  // CHECK-NEXT: for %j{{[^ ]*}} in 0..%count carry
  int j;
  for (j = 0; j < count; ++j) v = cos(v);
  v += 0.1 * float(j);
  // What it reads of the buffer is read in front of it.
  // CHECK-NEXT: while max %{{[^ ]+}} carry
  for (int i = 0; i < sizes[g]; ++i) {
    if (v > 3.0) break;
    v = v * 1.1 + 0.1;
  }
  // CHECK-NEXT: while max %{{[^ ]+}} carry
  for (int i = 0; i < count && v < 2.0; ++i) v = v * 1.3 + 0.2;
  // For bounds next to the largest number it wraps, and goes on.
  // CHECK-NEXT: while carry
  for (int i = 0; i < count; i += 3) v = sin(v) + 0.2;
  // CHECK-NEXT: while max %{{[^ ]+}} carry
  y[g] = found(v);
}
