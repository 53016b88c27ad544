// samples/cpp/mlp.cpp as a shader: arrays of weights of a length that the type states, a loss by atomics.
// DISPATCH: 2 1 1 | 0.0 f32 64 random | 0.1 f32 32 random | 0.2 f32 18 random | 0.3 f32 42 random | 0.4 f32 7 random | 0.5 f32 1 zeros
// GRADCHECK: --shape=w_in=18 --shape=w_mid=42 --shape=w_out=7 --shape=inputs=3 --shape=wanted=3 --arg=invocations_x=16
#version 460
#extension GL_EXT_shader_atomic_float : require
layout(local_size_x = 16) in;
const int W = 6;
layout(std430, binding = 0) readonly buffer Inputs { vec2 inputs[]; };
layout(std430, binding = 1) readonly buffer Wanted { float wanted[]; };
layout(std430, binding = 2) readonly buffer WIn { float w_in[W * 3]; };          // adc: diff
layout(std430, binding = 3) readonly buffer WMid { float w_mid[W * (W + 1)]; };  // adc: diff
layout(std430, binding = 4) readonly buffer WOut { float w_out[W + 1]; };        // adc: diff
layout(std430, binding = 5) buffer Loss { float loss; };                         // adc: diff
void main() {
  uint s = gl_GlobalInvocationID.x;
  if (s >= inputs.length()) return;
  float h[W], g[W];
  for (int o = 0; o < W; ++o) {
    float sum = w_in[3 * o + 2];
    for (int i = 0; i < 2; ++i) sum += w_in[3 * o + i] * inputs[s][i];
    h[o] = tanh(sum);
  }
  for (int o = 0; o < W; ++o) {
    float sum = w_mid[(W + 1) * o + W];
    for (int i = 0; i < W; ++i) sum += w_mid[(W + 1) * o + i] * h[i];
    g[o] = tanh(sum);
  }
  float y = w_out[W];
  for (int i = 0; i < W; ++i) y += w_out[i] * g[i];
  float miss = y - wanted[s];
  atomicAdd(loss, miss * miss);
}
// PY: import math
// PY: x, wanted, a, b, c = (before[f'0.{n}'] for n in range(5))
// PY: def layer(w, v): n = len(v) + 1; return [sum(p * q for p, q in zip(w[n * o:], v)) + w[n * o + n - 1] for o in range(len(w) // n)]
// PY: def net(v): return layer(c, [math.tanh(z) for z in layer(b, [math.tanh(z) for z in layer(a, v)])])[0]
// PY: after['0.5'] = [sum((net(x[2 * s:2 * s + 2]) - wanted[s]) ** 2 for s in range(32))]
