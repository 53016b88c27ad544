#version 460
// Products of quaternions, swizzles on both sides, columns of a matrix that is assigned by parts.
// DISPATCH: 1 1 1 | 0.0 f32 16 random | 0.1 f32 16 random | 0.2 f32 4 zeros | push u32 4
// GRADCHECK: --arg=q=random[4] --arg=v=random[4,4] --shape=loss=4 --arg=count=4 --arg=invocations_x=8
layout(local_size_x = 8) in;
layout(std430, set = 0, binding = 0) buffer Q { vec4 q[]; };  // adc: diff
layout(std430, set = 0, binding = 1) buffer V { vec3 v[]; };  // adc: diff
layout(std430, set = 0, binding = 2) buffer Loss { float loss[]; };  // adc: diff
layout(push_constant) uniform P { uint count; };
vec4 mulq(vec4 a, vec4 b) { return vec4(a.w * b.xyz + b.w * a.xyz + cross(a.xyz, b.xyz), a.w * b.w - dot(a.xyz, b.xyz)); }
mat3 toMat(vec4 q) { q = normalize(q); float x=q.x,y=q.y,z=q.z,w=q.w;
 return mat3(1-2*(y*y+z*z), 2*(x*y+w*z), 2*(x*z-w*y), 2*(x*y-w*z), 1-2*(x*x+z*z), 2*(y*z+w*x), 2*(x*z+w*y), 2*(y*z-w*x), 1-2*(x*x+y*y)); }
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i >= count) return;
  vec4 r = mulq(q[i], q[(i + 1u) % count]);
  mat3 m = toMat(r);
  vec3 t = m * v[i];
  t.yx = t.xy * 2.0; t.z += m[2][0]; m[1] *= 0.5; m[0].zy = m[1].xy;
  loss[i] = dot(t, vec3(1, -2, 0.5)) + determinant(m) + (m * inverse(m + mat3(3.0)))[1][2];
}
