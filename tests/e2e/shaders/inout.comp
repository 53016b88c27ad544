// Functions that change their arguments: an element of a buffer, of an array, a swizzle, in a loop and in each other.
// PHONES: kernel
// DISPATCH: 1 1 1 | 0.0 f32 64 random | 0.1 f32 64 zeros
// GRADCHECK: --shape=x=32 --shape=y=32 --arg=invocations_x=32
#version 460
layout(local_size_x = 32) in;
layout(std430, binding = 0) readonly buffer X { float x[]; };  // adc: diff
layout(std430, binding = 1) buffer Y { float y[]; };           // adc: diff
void order(inout float a, inout float b) {
  if (a <= b) return;
  float t = a;
  a = b;
  b = t;
}
void twice(in float v, out float square, inout float sum) {
  square = v * v;
  sum += square;
}
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i >= y.length()) return;
  float v[4] = float[](x[i], x[(i + 1u) % 32u], x[(i + 5u) % 32u], x[(i + 11u) % 32u]);
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3 - a; ++b) order(v[b], v[b + 1]);
  vec3 w = vec3(v[0], v[1], v[2]);
  float sum = 0.0;
  twice(w.y, w.x, sum);
  twice(v[3], w.z, sum);
  y[i] = sum;
  twice(w.x, w.y, y[i]);
  y[i] += v[0] + 2.0 * v[1] + 3.0 * v[2] + 4.0 * v[3] + w.y + 0.5 * w.z;
}
// PY: x = before['0.0']
// PY: after['0.1'] = list(before['0.1'])
// PY: for i in range(32):
// PY:   v = sorted(x[k % 32] for k in (i, i + 1, i + 5, i + 11))
// PY:   a, b = v[1] ** 2, v[3] ** 2
// PY:   after['0.1'][i] = a + b + a * a + sum((n + 1) * e for n, e in enumerate(v)) + a * a + 0.5 * b
