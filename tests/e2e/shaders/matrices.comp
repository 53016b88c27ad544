// Matrices in every order, in blocks, locals and functions.
// PHONES: kernel gradient
// DISPATCH: 1 1 1 | 0.0 f32 512 random | 0.1 f32 1024 zeros | 0.2u f32 40 random
// GRADCHECK: --shape=m=4,16 --shape=out_m=4,24 --arg=invocations_x=4
#version 460
layout(local_size_x = 32) in;
layout(std430, binding = 0) readonly buffer M { mat4 m[]; };  // adc: diff
struct Result { mat3x4 r; vec3 v; float d; };
layout(std430, row_major, binding = 1) buffer Out { Result out_m[]; };  // adc: diff
layout(std140, binding = 2) uniform U { mat3 turn; layout(row_major) mat2x3 rows; vec2 two; };
mat3 upper(mat4 a) { return mat3(a); }
void main() {
  uint i = gl_GlobalInvocationID.x;
  mat4 a = m[i];
  a[1] += vec4(0.5, 0.25, 0.0, 1.0);
  a[i & 3u][2] = 0.75;
  mat3 b = upper(a) * turn + outerProduct(a[0].xyz, a[2].yzw) + mat3(3.0);
  mat3x4 c = mat3x4(a * vec4(1.0, 2.0, 3.0, 4.0), vec4(rows[0], two.x), a[i & 1u]);
  out_m[i].r = c * transpose(b);
  out_m[i].v = vec3(1.0, 2.0, 3.0) * b + inverse(b) * turn[1] + vec3(transpose(rows)[1], 0.5).yxz;
  out_m[i].d = determinant(b) + determinant(a) * rows[1][2];
  out_m[i].v[i % 3u] += 0.125;
}
