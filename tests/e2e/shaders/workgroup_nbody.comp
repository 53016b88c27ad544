// Forces of bodies on each other, by tiles that a workgroup loads together.
// DISPATCH: 3 1 1 | 0.0 f32 280 random | 0.1 f32 280 zeros | push u32 70
// GRADCHECK: --shape=p=40 --shape=f=40 --arg=n=40 --arg=invocations_x=64
#version 460
layout(local_size_x = 32) in;
layout(std430, binding = 0) readonly buffer P { vec4 p[]; };  // adc: diff
layout(std430, binding = 1) writeonly buffer F { vec4 f[]; };  // adc: diff
layout(push_constant) uniform U { uint n; };
shared vec4 tile[32];
void main() {
  uint i = gl_GlobalInvocationID.x, l = gl_LocalInvocationIndex;
  vec4 me = i < n ? p[i] : vec4(0);
  vec3 a = vec3(0);
  for (uint t = 0u; t < n; t += 32u) {
    tile[l] = t + l < n ? p[t + l] : vec4(0);
    barrier();
    for (int q = 0; q < 32; ++q) {
      vec3 d = tile[q].xyz - me.xyz;
      float r2 = dot(d, d) + 0.01;
      a += d * (tile[q].w / (r2 * sqrt(r2)));
    }
    barrier();
  }
  if (i < n) f[i] = vec4(a, 0.0);
}
// PY: p = [before['0.0'][4 * i:4 * i + 4] for i in range(70)]
// PY: def force(i, k):
// PY:   near = lambda q: sum((q[c] - p[i][c]) ** 2 for c in range(3)) + 0.01
// PY:   return sum((q[k] - p[i][k]) * q[3] / near(q) ** 1.5 for q in p)
// PY: after['0.1'] = [force(i, k) if k < 3 else 0 for i in range(70) for k in range(4)]
