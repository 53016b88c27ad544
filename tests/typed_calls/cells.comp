#version 460
// A buffer of structs in std430, which has gaps: before `spin`, in the columns of `frame`, at the end.
layout(local_size_x = 8) in;
struct Spin {
  vec2 axis;
  int kind;
};
struct Cell {
  vec3 position;
  Spin spin;
  mat3 frame;
  float weights[3];
  uint flags;
  Spin spins[2];
};
layout(std430, set = 0, binding = 0) readonly buffer Cells { Cell cells[]; };  // adc: diff
layout(std430, set = 0, binding = 1) buffer Sums { float sums[]; };            // adc: diff
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i >= sums.length()) return;
  float sum = cells[i].position.x * cells[i].position.z + cells[i].frame[2][1] * cells[i].weights[2];
  sum += cells[i].spin.axis.y * float(cells[i].spin.kind) + cells[i].spins[1].axis.x * float(cells[i].spins[1].kind);
  sums[i] = sum + float(cells[i].flags);
}
