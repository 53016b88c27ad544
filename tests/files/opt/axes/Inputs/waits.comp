#version 450
layout(local_size_x = 32) in;
layout(std430, binding = 0) buffer X { float x[]; };
shared float s[32];
void main() {
  s[gl_LocalInvocationIndex] = x[gl_GlobalInvocationID.x + gl_WorkGroupID.y * 1024u];
  barrier();
  x[gl_GlobalInvocationID.x + gl_WorkGroupID.y * 1024u] = s[31u - gl_LocalInvocationIndex];
}
