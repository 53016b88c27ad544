// Returns, breaks and continues, of loops in functions, in switches in loops.
// DISPATCH: 1 1 1 | 0.0 f32 64 random | 0.1 f32 64 zeros | push i32 9
// GRADCHECK: --shape=x=32 --shape=y=32 --arg=n=6 --arg=invocations_x=32
#version 460
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer X { float x[]; };  // adc: diff
layout(std430, binding = 1) buffer Y { float y[]; };           // adc: diff
layout(push_constant) uniform P { int n; };
float early(float v, int k) {
  for (int t = 0; t < n; ++t) {
    if (t == k) continue;
    for (int u = 0; u < 3; ++u) {
      v += 0.1 * v;
      if (v > 3.0 + float(k)) return v * 2.0;
    }
    if (t > 6) break;
    v *= 0.9;
  }
  if (k == 2) return -v;
  return v + 1.0;
}
float chosen(float v, int k) {
  switch (k) {
    case 0:
      return v;
    case 1:
      v += 1.0;
    case 2:
      v *= 2.0;
      if (v > 2.5) break;
      v += 0.5;
      break;
    case 4:
    case 5:
      v = v * v;
      break;
    default:
      v -= 3.0;
  }
  return v * 1.5;
}
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i >= x.length()) return;
  float v = x[i];
  int k = int(i) % 7;
  v = early(v, k);
  int w = 0;
  while (w < 10) {
    ++w;
    if (w == k) continue;
    v = chosen(v, (k + w) % 7);
    if (abs(v) > 50.0) {
      v = v / 40.0;
      if (w > 5) break;
    }
  }
  do {
    v *= 0.5;
    ++w;
  } while (v > 1.0 && w < 30);
  if (w == 11) {
    y[i] = v;
    return;
  }
  for (int a = 3; a >= 0; --a) {
    v += float(a) * 0.25;
    if (i == 5u && a == 1) return;
  }
  y[i] = v + float(w);
}
