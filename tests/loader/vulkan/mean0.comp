#version 460
#extension GL_GOOGLE_include_directive : require
#include "abi.glsl"
// The serial half of mean: sum[0] += x. Words: x, n, y, m, sum, 1.
BUFFER(0, float, Floats, x, 0)
void main() {
  FOR_EACH_ITERATION(i, 6) {
    Floats sum = Floats(words.w[4]);
    for (uint64_t j = 0ul; j < words.w[1]; ++j) sum.v[0] += AT(x, j);
  }
}
