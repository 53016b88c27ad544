// A stencil over a tile with its rim, which the workgroup loads in turns.
// DISPATCH: 2 5 1 | 0.0 f32 450 random | 0.1 f32 450 zeros | push i32 25 i32 18
// GRADCHECK: --shape=x=450 --shape=y=450 --arg=size=[25,18] --arg=invocations_x=32 --arg=invocations_y=20
#version 460
layout(local_size_x = 16, local_size_y = 4) in;
layout(std430, binding = 0) readonly buffer X { float x[]; };  // adc: diff
layout(std430, binding = 1) writeonly buffer Y { float y[]; };  // adc: diff
layout(push_constant) uniform U { ivec2 size; };
shared float tile[6][18];
float at(ivec2 q) { q = clamp(q, ivec2(0), size - 1); return x[q.y * size.x + q.x]; }
void main() {
  ivec2 g = ivec2(gl_GlobalInvocationID.xy), l = ivec2(gl_LocalInvocationID.xy);
  ivec2 o = ivec2(gl_WorkGroupID.xy) * ivec2(16, 4) - 1;
  for (int k = int(gl_LocalInvocationIndex); k < 6 * 18; k += 64) tile[k / 18][k % 18] = at(o + ivec2(k % 18, k / 18));
  barrier();
  if (any(greaterThanEqual(g, size))) return;
  float c = tile[l.y + 1][l.x + 1];
  y[g.y * size.x + g.x] = c * c + 0.25 * (tile[l.y][l.x + 1] + tile[l.y + 2][l.x + 1] + tile[l.y + 1][l.x] + tile[l.y + 1][l.x + 2] - 4.0 * c);
}
// PY: x = lambda i, j: before['0.0'][min(max(j, 0), 17) * 25 + min(max(i, 0), 24)]
// PY: rim = lambda i, j: x(i, j - 1) + x(i, j + 1) + x(i - 1, j) + x(i + 1, j)
// PY: after['0.1'] = [x(i, j) ** 2 + 0.25 * (rim(i, j) - 4 * x(i, j)) for j in range(18) for i in range(25)]
