// DISPATCH: 4 1 1 | 0.0 i32 8 zeros | 0.1 u32 8 zeros | 0.2 i32 256 random | 0.3 i32 256 zeros
#version 460
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer S { int s[8]; };
layout(std430, binding = 1) buffer U { uint u[8]; };
layout(std430, binding = 2) readonly buffer X { int x[]; };
layout(std430, binding = 3) buffer Old { int seen[]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  int v = x[i];
  atomicAdd(s[0], v);
  atomicMin(s[1], v - 50);
  atomicMax(s[2], v);
  atomicOr(s[3], v);
  atomicXor(s[4], v);
  atomicAnd(s[5], ~v);
  atomicAdd(s[6], -v);
  atomicMax(u[0], uint(v) + 3000000000u);
  atomicMin(u[1], uint(v));
  int slot = int(atomicAdd(u[2], 1u));
  atomicExchange(seen[slot], 1);
  atomicCompSwap(s[7], 0, 77);
}
