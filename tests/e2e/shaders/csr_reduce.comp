// samples/csr_reduce.ir as a shader: rows of a sparse matrix, a state carried from entry to entry.
// PHONES: kernel
// DISPATCH: 1 1 1 | 0.0 i32 33 rows | 0.1 i32 128 columns | 0.2 f32 128 random | 0.3 f32 16 random | 0.4 f32 32 zeros
// SAME-AS: csr_reduce.ir --arg=start=[0,3,3,7,12] --arg=column=[0,1,2,3,0,1,2,3,0,1,2,3] --arg=value=random --shape=value=12 --arg=x=random --shape=x=4 --shape=y=4
// ADJOINT: --arg=y.adj=[1,2,3,4]
// HERE: --arg=invocations_x=32
#version 460
layout(local_size_x = 32) in;
layout(std430, binding = 0) readonly buffer Start { int start[]; };
layout(std430, binding = 1) readonly buffer Column { int column[]; };
layout(std430, binding = 2) readonly buffer Value { float value[]; };  // adc: diff
layout(std430, binding = 3) readonly buffer X { float x[]; };          // adc: diff
layout(std430, binding = 4) buffer Y { float y[]; };                   // adc: diff
void main() {
  int r = int(gl_GlobalInvocationID.x);
  if (r >= y.length()) return;
  float s = 0.0;
  int end = start[r + 1];
  for (int k = start[r]; k < end; ++k) s = tanh(s + value[k] * x[column[k]]);
  y[r] = s;
}
