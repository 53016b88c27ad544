#version 460
// A grid of springs: structures in a storage buffer, a uniform block, push constants.
layout(local_size_x = 8, local_size_y = 4) in;
struct Point { vec3 position; vec3 velocity; };
layout(std430, set = 0, binding = 1) readonly buffer Points { Point points[]; };  // adc: diff
layout(std430, set = 0, binding = 4) writeonly buffer Forces { vec3 forces[]; };  // adc: diff writeonce
layout(std140, set = 1, binding = 0) uniform Spring {
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
      float far = dr != 0 && dc != 0 ? 1.41421356 * rest : rest;
      sum += spring(other.position - own.position, other.velocity - own.velocity, far);
    }
  }
  forces[r * columns + c] = sum;
}
