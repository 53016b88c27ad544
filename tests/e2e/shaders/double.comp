// DISPATCH: 1 1 1 | 0.0 f64 64 random | 0.1 f64 64 zeros
// GRADCHECK: --shape=x=16 --shape=y=16 --arg=invocations_x=16
#version 460
layout(local_size_x = 32) in;
layout(std430, binding = 0) readonly buffer X { double x[]; };  // adc: diff
layout(std430, binding = 1) buffer Y { dvec2 y[]; };            // adc: diff
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i >= x.length()) return;
  double v = x[i];
  for (uint k = 1u; k <= 4u; k += 2u) v = v * v + double(k);
  y[i] = dvec2(sqrt(v), v / 3.0lf);
}
