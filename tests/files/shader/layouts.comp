// Offsets and strides are those of the shader: a vec3 takes 16 bytes in std430 and 12 in scalar layout, matrices lie
// column by column unless they say row_major, and blocks of several members are seen whole.
// RUN: adc %s --emit=ir --stop-after=axes | FileCheck %s
#version 460
#extension GL_EXT_scalar_block_layout : require
layout(local_size_x = 32) in;
struct Cell { vec3 position; float mass; uint flags; };
layout(std430, binding = 0) buffer Cells { Cell cells[]; };
layout(std430, binding = 1) buffer Padded { vec3 padded[]; };
layout(scalar, binding = 2) buffer Tight { vec3 tight[]; };
layout(std430, binding = 3) buffer Matrices { mat3 columns; layout(row_major) mat2x3 rows; };
layout(std430, binding = 4) buffer Mixed { uint count; float scale; vec2 pairs[]; };
layout(std140, binding = 5) uniform Uniform { float dt; vec3 gravity; mat2 turn; float table[4]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  cells[i].position.y = cells[i].mass;
  cells[i].flags = 7u;
  padded[i].z = 1.0;
  tight[i].z = 2.0;
  columns[2][1] = 3.0;
  rows[1][2] = 4.0;
  pairs[i].y = scale * dt * gravity.z * turn[1].x * table[i] + float(pairs.length());
}
// CHECK: kernel @layouts(%cells: buffer<f32, 2>, %cells.u32: buffer<u32, 2>, %padded: buffer<f32, 2>, %tight: buffer<vec<f32, 3>, 1>,
// CHECK-SAME: %columns: buffer<f32, 1>, %rows: buffer<f32, 1>, %count: buffer<u32, 1>, %scale: buffer<f32, 1>, %pairs: buffer<f32, 1>, %dt: f32, %gravity: vec<f32, 3>, %turn: mat<f32, 2, 2>, %table: buffer<f32, 1> readonly, %invocations_x: i32)
// CHECK: load %cells[%gx, 3]
// CHECK: store %cells[%gx, 1]
// CHECK: store %cells.u32[%gx, 4]
// CHECK: store %padded[%gx, 2]
// CHECK: store %tight[%gx].2
// CHECK: store %columns[9]
// CHECK: store %rows[17]
// CHECK: load %scale[1]
