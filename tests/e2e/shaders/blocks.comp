// Blocks of several members and kinds, lengths, and a barrier with nothing behind it.
// DISPATCH: 1 1 1 | 0.0 f32 160 random | 0.1 f32 4 random | 0.2u f32 32 random | 0.3 f32 32 zeros
#version 460
#extension GL_EXT_scalar_block_layout : require
layout(local_size_x = 32) in;
struct Cell { float mass; uint count; vec2 at; };
layout(std430, binding = 0) buffer Cells { float total; uint cells_used; vec3 low; Cell cells[]; };
layout(scalar, binding = 1) buffer Tight { vec3 corner; float edge; };
layout(std140, binding = 2) uniform U { float dt; vec3 gravity; vec4 table[4]; int last; };
layout(std430, binding = 3) buffer R { float result[]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  float v = 0.0;
  if (i < cells.length()) {
    v = cells[i].mass * dt + cells[i].at.y * low.z + gravity.y * table[i & 3u].w;
    v += float(cells[i].count & 15u);
  }
  barrier();
  v += corner.z * edge + total + float(cells_used & 7u) + float(cells.length());
  result[i] = v;
}
