#version 460
#extension GL_GOOGLE_include_directive : require
#include "abi.glsl"
// y = sum of t * x^t for t below n, the powers and the t on two stacks. Words: x, m, y, m, n, one group, two
// stacks.
BUFFER(0, double, Doubles, x, 0)
BUFFER(1, double, Doubles, y, 2)
void main() {
  const uint tail = 5 + 4 + 2 * 2;
  int n = int(words.w[4]);
  uint64_t heap = HEAP(tail), group = words.w[5], stride = words.w[6], row = uint64_t(gl_GlobalInvocationID.x);
  FOR_EACH_ITERATION(i, tail) {
    double power = 1.0;
    for (int t = 0; t < n; ++t) {
      Doubles(InRow(heap, group, stride, row, words.w[9] + uint64_t(t) * 8ul, 8ul)).v[0] = power;
      Ints(InRow(heap, group, stride, row, words.w[11] + uint64_t(t) * 4ul, 4ul)).v[0] = t;
      power *= AT(x, i);
    }
    double sum = 0.0;
    for (int t = n - 1; t >= 0; --t) {
      sum += Doubles(InRow(heap, group, stride, row, words.w[9] + uint64_t(t) * 8ul, 8ul)).v[0] *
             double(Ints(InRow(heap, group, stride, row, words.w[11] + uint64_t(t) * 4ul, 4ul)).v[0]);
    }
    AT(y, i) = sum;
  }
}
