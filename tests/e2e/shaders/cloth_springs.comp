// samples/cpp/cloth_springs.cpp as a shader: two axes, structures with vectors in std430, a continue.
// PHONES: kernel
// DISPATCH: 1 2 1 | 0.0 f32 512 random | 0.1 f32 256 zeros | 0.2u f32 8 random | push i32 8 i32 8
// GRADCHECK: --shape=points=12,8 --shape=force=12,4 --arg=columns=4 --arg=rows=3 --arg=stiffness=3 --arg=damping=0.3 --arg=rest=0.5 --arg=gravity=[0,-9,0] --arg=invocations_x=8 --arg=invocations_y=4
#version 460
layout(local_size_x = 8, local_size_y = 4) in;
struct Point { vec3 position; vec3 velocity; };
layout(std430, set = 0, binding = 0) readonly buffer Points { Point points[]; };  // adc: diff
layout(std430, set = 0, binding = 1) writeonly buffer Force { vec3 force[]; };    // adc: diff writeonce
layout(std140, set = 0, binding = 2) uniform Spring {
  float stiffness;  // adc: diff
  float damping;
  float rest;
  vec3 gravity;
};
layout(push_constant) uniform Size { int columns; int rows; };
vec3 spring(vec3 apart, vec3 relative, float far) {
  float now = length(apart);
  vec3 along = apart / now;
  return along * (stiffness * (now - far) + damping * dot(relative, along));
}
void main() {
  int c = int(gl_GlobalInvocationID.x), r = int(gl_GlobalInvocationID.y);
  if (c >= columns || r >= rows) return;
  Point own = points[r * columns + c];
  vec3 sum = gravity;
  for (int dr = -1; dr <= 1; ++dr) {
    for (int dc = -1; dc <= 1; ++dc) {
      int r2 = r + dr, c2 = c + dc;
      bool itself = dr == 0 && dc == 0;
      if (itself || r2 < 0 || r2 >= rows || c2 < 0 || c2 >= columns) continue;
      Point other = points[r2 * columns + c2];
      sum += spring(other.position - own.position, other.velocity - own.velocity,
                    dr != 0 && dc != 0 ? 1.41421356 * rest : rest);
    }
  }
  force[r * columns + c] = sum;
}
// PY: import math
// PY: p, (k, d, rest, _, gx, gy, gz, _), (columns, rows) = before['0.0'], before['0.2'], push
// PY: sub = lambda a, b: [x - y for x, y in zip(a, b)]
// PY: out = list(before['0.1'])
// PY: for r in range(rows):
// PY:   for c in range(columns):
// PY:     n = 8 * (r * columns + c); f = [gx, gy, gz]
// PY:     for r2 in range(max(r - 1, 0), min(r + 2, rows)):
// PY:       for c2 in range(max(c - 1, 0), min(c + 2, columns)):
// PY:         if (r2, c2) == (r, c): continue
// PY:         m = 8 * (r2 * columns + c2)
// PY:         x, v = sub(p[m:m + 3], p[n:n + 3]), sub(p[m + 4:m + 7], p[n + 4:n + 7])
// PY:         now = math.sqrt(sum(a * a for a in x)); far = rest * (math.sqrt(2) if r2 != r and c2 != c else 1)
// PY:         size = k * (now - far) + d * sum(a * b for a, b in zip(x, v)) / now
// PY:         f = [a + size * b / now for a, b in zip(f, x)]
// PY:     out[4 * (r * columns + c):4 * (r * columns + c) + 3] = f
// PY: after['0.1'] = out
