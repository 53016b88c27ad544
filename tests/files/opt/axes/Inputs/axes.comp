#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer X { float x[]; };
void main() {
  uvec3 at = gl_GlobalInvocationID;
  if (at.z < 0) return;
  x[at.x] = 1.0;
}
