// PHONES: kernel
// DISPATCH: 2 1 1 | 0.0 f32 100 random | 0.1 f32 100 zeros | push i32 10 u32 100
// GRADCHECK: --shape=x=20 --shape=loss=20 --arg=n=7 --arg=count=20 --arg=invocations_x=64
#version 460
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer X { float x[]; };  // adc: diff
layout(std430, set = 0, binding = 1) buffer Loss { float loss[]; };     // adc: diff
layout(push_constant) uniform P { int n; uint count; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i >= count) return;
  float v = x[i];
  for (int t = 0; t < n; ++t) v = sin(v) + 0.1;
  loss[i] = v;
}
