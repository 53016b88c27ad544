// Structures in structures in std140, std430 and scalar: the same declaration at three places.
// DISPATCH: 1 1 1 | 0.0 f32 512 random | 0.1 f32 512 random | 0.2u f32 32 random | 0.3 f32 32 zeros
// GRADCHECK: --shape=wide=8,16 --shape=tight=8,9 --arg=tail=0.3 --shape=value=8 --arg=one=[0.1,0.2,0.3,0,0.4,0,0,0,0.5,0,0,0,0.6,0,0,0,0.7,0,0,0] --arg=invocations_x=8
#version 460
#extension GL_EXT_scalar_block_layout : require
layout(local_size_x = 8) in;
struct Inner { vec3 a; float b; };
struct Outer { Inner inner; float c[2]; vec3 d; };
layout(std430, binding = 0) readonly buffer Wide { Outer wide[]; };   // adc: diff
layout(scalar, binding = 1) readonly buffer Tight { Outer tight[]; };  // adc: diff
layout(std140, binding = 2) uniform One { Outer one; float tail; };
layout(std430, binding = 3) buffer Value { float value[]; };           // adc: diff
float sum(Outer o) {
  return dot(o.inner.a, vec3(1.0, 2.0, 3.0)) + 4.0 * o.inner.b + 5.0 * o.c[0] + 6.0 * o.c[1] + dot(o.d, vec3(7.0, 8.0, 9.0));
}
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i >= value.length()) return;
  value[i] = sum(wide[i]) * sum(tight[i]) + sum(one) * tail;
}
// PY: dot = lambda v, at: sum((n + 1) * v[k] for n, k in enumerate(at))
// PY: w, t, o = before['0.0'], before['0.1'], before['0.2']
// PY: own = dot(o, [0, 1, 2, 3, 4, 8, 12, 13, 14]) * o[16]
// PY: after['0.3'] = list(before['0.3'])
// PY: for i in range(8): after['0.3'][i] = dot(w[12 * i:], [0, 1, 2, 3, 4, 5, 8, 9, 10]) * dot(t[9 * i:9 * i + 9], range(9)) + own
