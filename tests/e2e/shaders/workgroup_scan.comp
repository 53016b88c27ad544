// Sums of all before, by doubling distances.
// DISPATCH: 4 1 1 | 0.0 f32 100 random | 0.1 f32 100 zeros | push u32 100
// GRADCHECK: --shape=x=70 --shape=y=70 --arg=n=70 --arg=invocations_x=96
#version 460
layout(local_size_x = 32) in;
layout(std430, binding = 0) readonly buffer X { float x[]; };  // adc: diff
layout(std430, binding = 1) writeonly buffer Y { float y[]; };  // adc: diff
layout(push_constant) uniform P { uint n; };
shared float s[32];
void main() {
  uint l = gl_LocalInvocationIndex, i = gl_GlobalInvocationID.x;
  s[l] = i < n ? sin(x[i]) : 0.0;
  barrier();
  for (uint d = 1u; d < 32u; d *= 2u) {
    float t = 0.0;
    if (l >= d) t = s[l - d];
    barrier();
    s[l] += t;
    barrier();
  }
  if (i >= n) return;
  y[i] = s[l] * x[i];
}
// PY: import math
// PY: x = before['0.0']
// PY: after['0.1'] = [x[i] * sum(math.sin(v) for v in x[i // 32 * 32:i + 1]) for i in range(100)]
