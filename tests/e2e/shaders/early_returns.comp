#version 460
// return, break and continue across loops and switches in a function that is called once.
// DISPATCH: 1 1 1 | 0.0 f32 7 random | 0.1 f32 7 zeros | push u32 7 i32 1
// GRADCHECK: --arg=x=random[7] --shape=loss=7 --arg=count=7 --arg=n=1 --arg=invocations_x=8
layout(local_size_x = 8) in;
layout(std430, set = 0, binding = 0) buffer X { float x[]; };  // adc: diff
layout(std430, set = 0, binding = 1) buffer Loss { float loss[]; };  // adc: diff
layout(push_constant) uniform P { uint count; int n; };
const float table[5] = float[5](1.5, -0.25, 3.0, 0.125, 2.0);
float f(float v, int k) {
  for (int i = 0; i < 9; ++i) {
    for (int j = i; ; ++j) {
      v = v * 0.9 + table[(i * 3 + j) % 5] * 0.1;
      if (j > i + k) break;
      if (v > 2.5) return v * float(j);
      if ((j & 1) == 1) continue;
      v += sin(v) * 0.01;
    }
    switch (i % 4) {
      case 0: v *= 1.1;
      case 1: { switch (k) { case 2: v += 0.3; break; case 3: if (v > 1.0) { v -= 0.2; break; } v += 0.7; default: v *= 0.95; } break; }
      case 2: if (v < 0.2) continue; v = v * v; break;
      default: v = -v;
    }
    if (v < -3.0) return -v;
  }
  return v + 1.0;
}
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i >= count) return;
  loss[i] = f(x[i], n + int(i) % 3);
}
