// Switches that fall through, alone and in loops and in each other.
// PHONES: kernel
// DISPATCH: 1 1 1 | 0.0 f32 64 random | 0.1 f32 64 zeros
// GRADCHECK: --shape=x=32 --shape=y=32 --arg=invocations_x=32
#version 460
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer X { float x[]; };  // adc: diff
layout(std430, binding = 1) buffer Y { float y[]; };           // adc: diff
float inner(float v, uint k) {
  switch (k & 3u) {
    default:
      v += 0.25;
    case 1u:
      v *= 1.5;
      if (v > 2.0) return v - 1.0;
    case 2u:
      v += 0.5;
  }
  return v;
}
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i >= x.length()) return;
  float v = x[i], sum = 0.0;
  for (uint t = 0u; t < 6u; ++t) {
    switch ((i + t) % 5u) {
      case 0u:
        v = inner(v, t);
      case 1u:
        if (v > 1.5) continue;
        v += 0.125;
        break;
      case 2u:
        switch (t) {
          case 3u:
            v *= 0.5;
          case 4u:
            v += 1.0;
            break;
          default:
            sum += v;
        }
      case 3u:
        sum += 2.0 * v;
    }
    sum += v;
  }
  y[i] = sum;
}
