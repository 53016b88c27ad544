// A softmax of rows: a maximum and a sum over the workgroup.
// DISPATCH: 4 1 1 | 0.0 f32 180 random | 0.1 f32 180 zeros | push u32 45
// GRADCHECK: --shape=x=90 --shape=y=90 --arg=n=45 --arg=invocations_x=64
#version 460
layout(local_size_x = 32) in;
layout(std430, binding = 0) readonly buffer X { float x[]; };  // adc: diff
layout(std430, binding = 1) writeonly buffer Y { float y[]; };  // adc: diff
layout(push_constant) uniform P { uint n; };
shared float s[32];
void main() {
  uint l = gl_LocalInvocationIndex, row = gl_WorkGroupID.x;
  float m = -1e30;
  for (uint i = l; i < n; i += 32u) m = max(m, x[row * n + i]);
  s[l] = m;
  barrier();
  for (uint k = 16u; k > 0u; k >>= 1) { if (l < k) s[l] = max(s[l], s[l + k]); barrier(); }
  m = s[0];
  barrier();
  float z = 0.0;
  for (uint i = l; i < n; i += 32u) z += exp(x[row * n + i] - m);
  s[l] = z;
  barrier();
  for (uint k = 16u; k > 0u; k >>= 1) { if (l < k) s[l] += s[l + k]; barrier(); }
  z = s[0];
  for (uint i = l; i < n; i += 32u) y[row * n + i] = exp(x[row * n + i] - m) / z;
}
// PY: import math
// PY: rows = [[math.exp(v) for v in before['0.0'][45 * r:45 * r + 45]] for r in range(4)]
// PY: after['0.1'] = [v / sum(row) for row in rows for v in row]
