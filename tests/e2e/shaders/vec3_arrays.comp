// Arrays of vec3 and of matrices, with the padding of std430, and a tight one of the scalar layout.
// PHONES: kernel gradient
// DISPATCH: 1 1 1 | 2.0 f32 128 random | 2.1 f32 384 random | 2.2 f32 96 zeros | 2.3 f32 192 zeros
// GRADCHECK: --shape=p=16,4 --shape=m=16,12 --shape=q=16 --shape=pairs=16,6 --arg=invocations_x=16
#version 460
#extension GL_EXT_scalar_block_layout : require
layout(local_size_x = 32) in;
layout(std430, set = 2, binding = 0) readonly buffer P { vec3 p[]; };     // adc: diff
layout(std430, set = 2, binding = 1) readonly buffer M { mat3 m[]; };     // adc: diff
layout(scalar, set = 2, binding = 2) buffer Q { vec3 q[]; };              // adc: diff
layout(scalar, set = 2, binding = 3) buffer Pairs { mat2x3 pairs[]; };    // adc: diff
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i >= q.length()) return;
  vec3 turned = m[i] * p[i];
  q[i] = turned;
  pairs[i][0] = turned.zxy * p[i].x;
  pairs[i][1] = transpose(m[i])[1] + vec3(0.5, 0.25, 0.125);
}
// PY: p, m = before['2.0'], before['2.1']
// PY: after['2.2'], after['2.3'] = [], []
// PY: for i in range(32):
// PY:   v, a = p[4 * i:4 * i + 3], [m[12 * i + 4 * c:12 * i + 4 * c + 3] for c in range(3)]
// PY:   t = [sum(a[c][r] * v[c] for c in range(3)) for r in range(3)]
// PY:   after['2.2'] += t
// PY:   after['2.3'] += [t[2] * v[0], t[0] * v[0], t[1] * v[0], a[0][1] + 0.5, a[1][1] + 0.25, a[2][1] + 0.125]
