// Constants that are indexed, of numbers and of vectors, in a workgroup with a barrier; one that is changed afterwards.
// DISPATCH: 2 1 1 | 0.0 f32 64 random | 0.1 f32 64 zeros | 0.2 u32 64 zeros
// GRADCHECK: --shape=x=64 --shape=y=64 --shape=bits=64 --arg=invocations_x=64
#version 460
layout(local_size_x = 32) in;
layout(std430, binding = 0) readonly buffer X { float x[]; };  // adc: diff
layout(std430, binding = 1) buffer Y { float y[]; };           // adc: diff
layout(std430, binding = 2) buffer Bits { uint bits[]; };
const float weights[5] = float[](0.1, 0.25, 0.5, -0.75, 2.0);
const vec2 offsets[2][3] = vec2[][](vec2[](vec2(1, 2), vec2(3, 5), vec2(-1, 0.5)), vec2[](vec2(4, -2), vec2(0, 1), vec2(7, 8)));
const uint masks[4] = uint[](0xFFu, 0xFFFFFFFFu, 3u, 0x80000000u);
shared float tile[32];
float changed(uint i) {
  float own[3] = float[](1.0, 2.0, 3.0);
  own[i % 3u] = 5.0;
  return own[(i * 7u) % 3u];
}
void main() {
  uint i = gl_GlobalInvocationID.x, l = gl_LocalInvocationIndex;
  tile[l] = x[i] * weights[i % 5u];
  barrier();
  vec2 o = offsets[i % 2u][i % 3u];
  y[i] = tile[31u - l] * o.x + x[i] * x[i] * offsets[1][(i + 1u) % 3u].y + changed(i);
  bits[i] = (i * 2654435761u) & masks[i % 4u];
}
// PY: x, y, bits = before['0.0'], [], []
// PY: weights, masks = [0.1, 0.25, 0.5, -0.75, 2.0], [0xFF, 0xFFFFFFFF, 3, 0x80000000]
// PY: offsets = [[(1, 2), (3, 5), (-1, 0.5)], [(4, -2), (0, 1), (7, 8)]]
// PY: for i in range(64):
// PY:   other = i // 32 * 32 + 31 - i % 32
// PY:   own = [1, 2, 3]
// PY:   own[i % 3] = 5
// PY:   y.append(x[other] * weights[other % 5] * offsets[i % 2][i % 3][0])
// PY:   y[i] += x[i] ** 2 * offsets[1][(i + 1) % 3][1] + own[i * 7 % 3]
// PY:   bits.append(i * 2654435761 & masks[i % 4])
// PY: after['0.1'], after['0.2'] = y, bits
