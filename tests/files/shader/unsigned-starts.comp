// A counter without a sign whose start is not known: above its bound, or beyond 2^31, it makes no trip.

// RUN: adc run %s --arg invocations_x=4 --arg a=[4294967295,3000000000,0,2147483647] --arg b=[3,5,3,2147483650] --shape c=4 | FileCheck %s
// CHECK: c: buffer<u32, 1> [4] = 0 0 3 3

#version 460
layout(local_size_x = 1) in;
layout(std430, set = 0, binding = 0) buffer A { uint a[]; };
layout(std430, set = 0, binding = 1) buffer B { uint b[]; };
layout(std430, set = 0, binding = 2) buffer C { uint c[]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  uint n = 0u;
  for (uint j = a[i]; j < b[i]; ++j) n += 1u;
  c[i] = n;
}
