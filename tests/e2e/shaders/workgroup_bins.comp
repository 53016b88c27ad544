// A histogram in memory that a workgroup shares: atomics there, and one sum into the buffer.
// DISPATCH: 5 1 1 | 0.0 u32 300 bits | 0.1 u32 16 zeros | push u32 300
#version 460
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer X { uint x[]; };
layout(std430, binding = 1) buffer H { uint h[]; };
layout(push_constant) uniform U { uint n; };
shared uint bins[16];
void main() {
  uint l = gl_LocalInvocationIndex;
  if (l < 16u) bins[l] = 0u;
  barrier();
  if (gl_GlobalInvocationID.x < n) atomicAdd(bins[x[gl_GlobalInvocationID.x] & 15u], 1u);
  barrier();
  if (l < 16u) atomicAdd(h[l], bins[l]);
}
// PY: after['0.1'] = [sum(1 for v in before['0.0'] if v % 16 == b) for b in range(16)]
