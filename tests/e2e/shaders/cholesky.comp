// samples/cholesky.ir as a shader: a triangular sweep, a matrix per invocation.
// DISPATCH: 1 1 1 | 0.0 f32 512 definite | 0.1 f32 512 zeros | push i32 4
// GRADCHECK: --arg=a=[4,1,0.5,1,5,1,0.5,1,6] --shape=l=9 --arg=n=3 --arg=invocations_x=1
#version 460
layout(local_size_x = 32) in;
layout(std430, binding = 0) readonly buffer A { float a[]; };  // adc: diff
layout(std430, binding = 1) buffer L { float l[]; };           // adc: diff writeonce
layout(push_constant) uniform P { int n; };
void main() {
  int m = int(gl_GlobalInvocationID.x) * n * n;
  for (int j = 0; j < n; ++j) {
    float square = 0.0;
    for (int k = 0; k < j; ++k) square = fma(l[m + j * n + k], l[m + j * n + k], square);
    float diagonal = sqrt(a[m + j * n + j] - square);
    l[m + j * n + j] = diagonal;
    for (int i = j + 1; i < n; ++i) {
      float partial = 0.0;
      for (int k = 0; k < j; ++k) partial = fma(l[m + i * n + k], l[m + j * n + k], partial);
      l[m + i * n + j] = (a[m + i * n + j] - partial) / diagonal;
    }
  }
}
