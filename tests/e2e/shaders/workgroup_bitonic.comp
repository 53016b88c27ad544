// A bitonic sort of 64 numbers in each workgroup: forward.
// DISPATCH: 4 1 1 | 0.0 f32 256 random
#version 460
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer X { float x[]; };
shared float s[64];
void main() {
  uint l = gl_LocalInvocationIndex;
  s[l] = x[gl_GlobalInvocationID.x];
  barrier();
  for (uint k = 2u; k <= 64u; k <<= 1) {
    for (uint j = k >> 1; j > 0u; j >>= 1) {
      uint p = l ^ j;
      if (p > l) {
        bool up = (l & k) == 0u;
        float a = s[l], b = s[p];
        if ((a > b) == up) { s[l] = b; s[p] = a; }
      }
      barrier();
    }
  }
  x[gl_GlobalInvocationID.x] = s[l];
}
// PY: after['0.0'] = [v for g in range(4) for v in sorted(before['0.0'][64 * g:64 * g + 64])]
