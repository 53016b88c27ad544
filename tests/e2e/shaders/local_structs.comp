#version 460
// Arrays in structures in an array of locals by indices, inout and out parameters, row-major blocks.
// DISPATCH: 1 1 1 | 0.0 f32 32 random | 0.1 f32 24 random | 0.2 f32 4 zeros | push u32 4 i32 5
// GRADCHECK: --arg=x=random[4,8] --arg=m=random[24] --arg=k=random[24] --shape=loss=4 --arg=count=4 --arg=n=5 --arg=invocations_x=8
layout(local_size_x = 8) in;
struct S { float a[3]; vec3 n; };
layout(std430, set = 0, binding = 0) buffer X { S x[]; };  // adc: diff
layout(std430, set = 0, binding = 1, row_major) buffer M { mat4x3 m; mat2x3 k[2]; };  // adc: diff
layout(std430, set = 0, binding = 2) buffer Loss { float loss[]; };  // adc: diff
layout(push_constant) uniform P { uint count; int n; };
void perm(inout float a[3], in int k, out float last) { float t = a[k]; a[k] = a[(k + 1) % 3] * 2.0; a[(k + 1) % 3] = t; last = a[2]; }
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i >= count) return;
  S s[2]; s[0] = x[i]; s[1] = x[(i + 1u) % count];
  float last = 0.0;
  for (int j = 0; j < n; ++j) { perm(s[j & 1].a, j % 3, last); s[(j + 1) & 1].n[j % 3] += last * s[j & 1].a[(j * 2) % 3] * 0.1; }
  vec4 w = vec4(s[0].n, s[1].a[1]);
  vec3 r = m * w; vec2 q = r * k[i & 1u];
  loss[i] = r.x * r.y + q.x * q.y + s[1].n.z + outerProduct(r, q)[1][2];
}
