#version 460
#extension GL_GOOGLE_include_directive : require
#include "abi.glsl"
// The parallel half of mean: y = sum[0] / n. Words: x, n, y, m, sum, 1.
BUFFER(0, float, Floats, y, 2)
void main() {
  FOR_EACH_ITERATION(i, 6) AT(y, i) = Floats(words.w[4]).v[0] / float(words.w[1]);
}
