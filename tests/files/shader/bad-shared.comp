// RUN: not adc %s 2>&1 | FileCheck %s
#version 460
layout(local_size_x = 32) in;
layout(std430, binding = 0) buffer X { float x[]; };
// CHECK: bad-shared.comp:{{[0-9]+}}:{{[0-9]+}}: error: 'partial' is memory that a workgroup shares [E0855]
// CHECK: help: kernels share storage buffers alone
shared float partial[32];
void main() {
  partial[gl_LocalInvocationIndex] = x[gl_GlobalInvocationID.x];
  barrier();
  x[gl_GlobalInvocationID.x] = partial[31 - gl_LocalInvocationIndex];
}
