#version 460
#extension GL_GOOGLE_include_directive : require
#include "abi.glsl"
// y += a * x. Words: x, n, y, n, a.
BUFFER(0, float, Floats, x, 0)
BUFFER(1, float, Floats, y, 2)
void main() {
  float a = uintBitsToFloat(uint(words.w[4]));
  FOR_EACH_ITERATION(i, 5) AT(y, i) += a * AT(x, i);
}
