// A product of matrices by tiles, whose sizes are no multiples of the tile.
// DISPATCH: 2 2 1 | 0.0 f32 130 random | 0.1 f32 143 random | 0.2 f32 110 zeros | push u32 10 u32 11 u32 13
// GRADCHECK: --shape=a=130 --shape=b=143 --shape=c=110 --arg=m=10 --arg=n=11 --arg=k=13 --arg=invocations_x=16 --arg=invocations_y=16
#version 460
#define T 8
layout(local_size_x = T, local_size_y = T) in;
layout(std430, binding = 0) readonly buffer A { float a[]; };  // adc: diff
layout(std430, binding = 1) readonly buffer B { float b[]; };  // adc: diff
layout(std430, binding = 2) writeonly buffer C { float c[]; };  // adc: diff
layout(push_constant) uniform P { uint m, n, k; };
shared float sa[T][T], sb[T][T];
void main() {
  uint row = gl_GlobalInvocationID.y, col = gl_GlobalInvocationID.x;
  uint ly = gl_LocalInvocationID.y, lx = gl_LocalInvocationID.x;
  float acc = 0.0;
  for (uint t = 0u; t < (k + T - 1u) / T; ++t) {
    uint ak = t * T + lx, bk = t * T + ly;
    sa[ly][lx] = row < m && ak < k ? a[row * k + ak] : 0.0;
    sb[ly][lx] = bk < k && col < n ? b[bk * n + col] : 0.0;
    barrier();
    for (uint q = 0u; q < T; ++q) acc += sa[ly][q] * sb[q][lx];
    barrier();
  }
  if (row < m && col < n) c[row * n + col] = acc;
}
// PY: a, b = before['0.0'], before['0.1']
// PY: after['0.2'] = [sum(a[r * 13 + q] * b[q * 11 + c] for q in range(13)) for r in range(10) for c in range(11)]
