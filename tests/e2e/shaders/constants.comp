// Specialisation constants: of a loop, of the size of a workgroup and of an array; a boolean.
// DISPATCH: 2 1 1 | 0.0 f32 64 random | 1:5 | 2:1
#version 460
layout(local_size_x_id = 0) in;
layout(local_size_x = 32) in;
layout(constant_id = 1) const int steps = 3;
layout(constant_id = 2) const bool twice = false;
layout(constant_id = 3) const int length_of = 4;
layout(constant_id = 4) const float scale = 1.5;
layout(std430, binding = 0) buffer X { float x[]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  float local[length_of];
  for (int n = 0; n < length_of; ++n) local[n] = float(n) + x[i];
  float v = 0.0;
  for (int t = 0; t < steps + 1; ++t) v += local[t & 3] * scale;
  if (twice) v *= 2.0;
  x[i] = v;
}
