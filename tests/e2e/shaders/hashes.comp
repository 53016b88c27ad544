#version 460
// Hashes, fields of bits, carries and wide products.
// DISPATCH: 1 1 1 | 0.0 f32 8 random | 0.1 f32 8 zeros | 0.2 u32 8 zeros | push u32 8
// GRADCHECK: --arg=x=random[7] --shape=loss=7 --shape=h=7 --arg=count=7 --arg=invocations_x=8
layout(local_size_x = 8) in;
layout(std430, set = 0, binding = 0) buffer X { float x[]; };  // adc: diff
layout(std430, set = 0, binding = 1) buffer Loss { float loss[]; };  // adc: diff
layout(std430, set = 0, binding = 2) buffer H { uint h[]; };
layout(push_constant) uniform P { uint count; };
uint pcg(uint v) { uint s = v * 747796405u + 2891336453u; uint w = ((s >> ((s >> 28u) + 4u)) ^ s) * 277803737u; return (w >> 22u) ^ w; }
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i >= count) return;
  uint r = pcg(i);
  h[i] = bitfieldExtract(r, 5, 7) ^ bitfieldReverse(r) ^ bitfieldInsert(r, i, 3, 9) ^ uint(bitCount(r)) ^ uint(findMSB(r)) ^ uint(findLSB(r))
    ^ uint(bitfieldExtract(int(r), 5, 7)) ^ (r << 31u >> 3u) ^ uint(int(r) >> 5) ^ uint(-7 % 3) ^ uint(findMSB(int(r)));
  uint c, hi, lo; uint s = uaddCarry(r, r * 3u, c); umulExtended(r, 0x9E3779B9u, hi, lo); int ih, il; imulExtended(int(r), -12345, ih, il);
  uint bw; uint d = usubBorrow(r, r * 5u, bw);
  h[i] += s + c + hi * 3u + lo + uint(ih) * 7u + uint(il) + d + bw;
  float u = float(r >> 8) / 16777216.0;
  float k = uintBitsToFloat((floatBitsToUint(x[i]) & 0x7FFFFFFFu));
  loss[i] = u * x[i] * x[i] + mix(x[i], 3.0, u > 0.5) + float(r & 3u) * exp2(x[i]) + k * 0.0;
}
