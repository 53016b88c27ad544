// Loops at the ends of their counters' types: unsigned ones beyond 2^31, ones that a wrap or a break ends, ends that are
// the largest and the smallest integer; a switch whose cases fall into its default.
// DISPATCH: 1 1 1 | 0.0 u32 32 columns | 0.1 u32 256 zeros
#version 460
layout(local_size_x = 32) in;
layout(std430, binding = 0) readonly buffer U { uint u[]; };
layout(std430, binding = 1) buffer C { uint c[][8]; };
uint chosen(int k) {
  uint v = 0u;
  switch (k) {
    case -1:
      v += 1u;
    case 2147483647:
      v += 2u;
      break;
    case 3:
      v += 4u;
    default:
      v += 8u;
  }
  return v;
}
void main() {
  uint i = gl_GlobalInvocationID.x, n = u[i], far = 0u, wide = 0u, wrapped = 0u, last = 0u, up = 0u, down = 0u;
  for (uint k = 2147483640u; k < 2147483660u; ++k) far += k & 7u;
  for (uint k = ~n; k < 4294967295u; ++k) ++far;
  for (uint k = 0u; k < n; ++k) far += k;
  for (uint k = 0u; k < 3000000000u; k += 1000000000u) ++wide;
  for (uint k = 0u; k < 4294967295u; ++k) {
    if (k == n) break;
    ++last;
  }
  uint open = ~(n & 64u);
  for (uint k = 0u; k < open; ++k) {
    if (k == n) break;
    ++last;
  }
  for (uint k = 10u + n; k < 100u; --k) ++wrapped;
  for (int k = 2147483640; k <= 2147483647; ++k) {
    ++up;
    if (up > 20u + n) break;
  }
  for (int k = 2147483647; k > 2147483647 - 5; --k) ++down;
  for (int k = 0; k < 2147483647; k += 1073741824) {
    ++down;
    if (down > 30u) break;
  }
  c[i] = uint[](far, wide, last, wrapped, up, down, chosen(int(i) - 1), chosen(2147483647 - int(i & 1u)));
}
// PY: after['0.1'] = []
// PY: for i, n in enumerate(before['0.0']):
// PY:   choose = lambda k: 3 if k == -1 else 2 if k == 2147483647 else 12 if k == 3 else 8
// PY:   after['0.1'] += [sum(k & 7 for k in range(2147483640, 2147483660)) + n + n * (n - 1) // 2, 3, 2 * n, 11 + n, 21 + n, 31, choose(i - 1), choose(2147483647 - (i & 1))]
