// relax.comp: a loop-carried, non-linear recurrence per element, as an engine would have it.
//
//   a(0) = x[i],   a(t+1) = sin(a(t)) + 0.1,   y[i] = a(n)
#version 460
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer X { float x[]; };  // adc: diff
layout(std430, set = 0, binding = 1) buffer Y { float y[]; };           // adc: diff
layout(push_constant) uniform P {
  int n;
  uint count;
};

void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i >= count) return;
  float v = x[i];
  for (int t = 0; t < n; ++t) v = sin(v) + 0.1;
  y[i] = v;
}
