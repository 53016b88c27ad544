#version 460
#extension GL_GOOGLE_include_directive : require
#include "abi.glsl"
// y = x, and 0 + 1 + ... + n - 1 more where x is positive, through a stack behind that gate. Words: x, m, y,
// m, n, one group, one stack.
BUFFER(0, float, Floats, x, 0)
BUFFER(1, float, Floats, y, 2)
void main() {
  const uint tail = 5 + 4 + 2;
  const uint64_t none = ~0ul;
  int n = int(words.w[4]);
  uint64_t heap = HEAP(tail), group = words.w[5], stride = words.w[6], rows = words.w[7], row = none;
  FOR_EACH_ITERATION(i, tail) {
    float sum = AT(x, i);
    if (sum > 0.0) {
      if (row == none) {
        row = uint64_t(atomicAdd(Uints(heap + words.w[8]).v[0], 1u));
        if (row >= rows) {
          Uints status = Uints(STATUS(tail));
          if (atomicCompSwap(status.v[0], 0u, 5u) == 0u) {
            status.v[1] = 0u;
            status.v[2] = 0u;
            status.v[6] = uint(i);
            status.v[7] = uint(i >> 32ul);
          }
          row = rows - 1ul;
        }
      }
      for (int t = 0; t < n; ++t) Floats(InRow(heap, group, stride, row, words.w[9] + uint64_t(t) * 4ul, 4ul)).v[0] = float(t);
      for (int t = n - 1; t >= 0; --t) sum += Floats(InRow(heap, group, stride, row, words.w[9] + uint64_t(t) * 4ul, 4ul)).v[0];
    }
    AT(y, i) = sum;
  }
}
