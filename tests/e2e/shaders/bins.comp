// A weighted histogram: float additions to elements that the data chooses, and what was there before.
// DISPATCH: 2 1 1 | 0.0 f32 128 random | 0.1 i32 128 columns | 0.2 f32 16 random | 0.3 u32 16 zeros
// GRADCHECK: --shape=x=16 --arg=bin=[0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,3] --shape=sums=4 --shape=counts=4 --arg=invocations_x=64
#version 460
#extension GL_EXT_shader_atomic_float : require
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 3) buffer Counts { uint counts[]; };
layout(std430, set = 0, binding = 1) readonly buffer Bin { int bin[]; };
layout(std430, set = 0, binding = 0) readonly buffer X { float x[]; };  // adc: diff
layout(std430, set = 0, binding = 2) buffer Sums { float sums[]; };     // adc: diff
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i >= x.length()) return;
  float v = x[i];
  atomicAdd(sums[bin[i]], v * v * exp(-v));
  atomicAdd(counts[bin[i]], 1u);
}
// PY: import math
// PY: after['0.2'], after['0.3'] = list(before['0.2']), [0] * 16
// PY: for v, b in zip(before['0.0'], before['0.1']):
// PY:   after['0.2'][b] += v * v * math.exp(-v); after['0.3'][b] += 1
