#version 460
#extension GL_GOOGLE_include_directive : require
#include "abi.glsl"
// Asserts that x is not negative; the first thread that sees one reports it. Words: x, n.
BUFFER(0, float, Floats, x, 0)
void main() {
  FOR_EACH_ITERATION(i, 2) {
    if (AT(x, i) >= 0.0) continue;
    Uints status = Uints(STATUS(2));
    if (atomicCompSwap(status.v[0], 0u, 2u) != 0u) continue;
    status.v[1] = 0u;
    status.v[2] = 0u;
    status.v[6] = uint(i);
    status.v[7] = uint(i >> 32ul);
  }
}
