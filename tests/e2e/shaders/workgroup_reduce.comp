// A sum by halves in memory that a workgroup shares, and the root of it.
// DISPATCH: 4 1 1 | 0.0 f32 256 random | 0.1 f32 4 zeros
// GRADCHECK: --shape=x=128 --shape=y=2 --arg=invocations_x=128
#version 460
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer X { float x[]; };  // adc: diff
layout(std430, binding = 1) buffer Y { float y[]; };  // adc: diff
shared float s[64];
void main() {
  uint l = gl_LocalInvocationID.x;
  float v = x[gl_GlobalInvocationID.x];
  s[l] = v * v;
  barrier();
  for (uint k = 32u; k > 0u; k >>= 1) {
    if (l < k) s[l] += s[l + k];
    barrier();
  }
  if (l == 0u) y[gl_WorkGroupID.x] = sqrt(s[0]);
}
// PY: after['0.1'] = [sum(v * v for v in before['0.0'][64 * g:64 * g + 64]) ** 0.5 for g in range(4)]
