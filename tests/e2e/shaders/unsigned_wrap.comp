// Unsigned arithmetic wraps, comparisons of it are unsigned, signed overflow wraps as well, shifts and rotations.
// PHONES: kernel
// DISPATCH: 1 1 1 | 0.0 u32 64 bits | 0.1 u32 320 zeros
#version 460
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer X { uint x[]; };
layout(std430, binding = 1) buffer Y { uint y[][5]; };
uint hash(uint v) {
  v ^= v >> 16;
  v *= 0x7feb352du;
  v ^= v >> 15;
  v *= 0x846ca68bu;
  return v ^ (v >> 16);
}
void main() {
  uint i = gl_GlobalInvocationID.x;
  uint u = x[i], steps = 0u;
  y[i][0] = hash(u) - hash(i);
  for (uint k = u | 1u; k > 5u && steps < 70u; k = k > 0x80000000u ? k >> 3 : k * 3u) ++steps;
  y[i][1] = steps;
  y[i][2] = uint(int(u) * 3 - 0x7fffffff);
  y[i][3] = (u << (i & 31u)) | (u >> ((32u - i) & 31u));
  y[i][4] = u - 1u < u ? u - i > u ? 1u : 2u : 3u;
}
// PY: M = 2 ** 32 - 1
// PY: def hash_of(v): v ^= v >> 16; v = v * 0x7feb352d & M; v ^= v >> 15; v = v * 0x846ca68b & M; return v ^ (v >> 16)
// PY: after['0.1'] = []
// PY: for i, u in enumerate(before['0.0']):
// PY:   k, steps = u | 1, 0
// PY:   while k > 5 and steps < 70: k = k >> 3 if k > 0x80000000 else k * 3 & M; steps += 1
// PY:   turned = (u << (i & 31) & M) | (u >> ((32 - i) & 31))
// PY:   after['0.1'] += [(hash_of(u) - hash_of(i)) & M, steps, (u * 3 - 0x7fffffff) & M, turned, (1 if (u - i) & M > u else 2) if (u - 1) & M < u else 3]
