// A loop that data ends: Newton's method for the root of x^3 + a x - b, with a break at the tolerance.
// PHONES: kernel
// DISPATCH: 1 1 1 | 0.0 f32 32 random | 0.1 f32 32 random | 0.2 f32 32 zeros
// GRADCHECK: --shape=a=8 --shape=b=8 --shape=root=8 --arg=invocations_x=32
#version 460
layout(local_size_x = 32) in;
layout(std430, binding = 0) readonly buffer A { float a[]; };  // adc: diff
layout(std430, binding = 1) readonly buffer B { float b[]; };  // adc: diff
layout(std430, binding = 2) buffer Root { float root[]; };     // adc: diff
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i >= root.length()) return;
  float x = 1.0;
  for (int t = 0; t < 40; ++t) {
    float rest = x * x * x + a[i] * x - b[i];
    x -= rest / (3.0 * x * x + a[i]);
    if (abs(rest) < 1e-6) break;
  }
  root[i] = x;
}
// PY: def solve(a, b):
// PY:   x = 1.0
// PY:   for _ in range(60): x -= (x ** 3 + a * x - b) / (3 * x * x + a)
// PY:   return x
// PY: after['0.2'] = [solve(a, b) for a, b in zip(before['0.0'], before['0.1'])]
