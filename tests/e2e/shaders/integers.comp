// Signedness lies in the operation.
// DISPATCH: 1 1 1 | 0.0 u32 64 bits | 0.1 u32 640 zeros | 0.2 i32 640 zeros
#version 460
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer X { uint x[]; };
layout(std430, binding = 1) buffer Y { uint y[][10]; };
layout(std430, binding = 2) buffer Z { int z[][10]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  uint u = x[i], d = (x[63u - i] | 1u);
  int s = int(u), e = int(d);
  y[i][0] = u / d;
  y[i][1] = u % d;
  y[i][2] = u >> (i & 31u);
  y[i][3] = min(u, d) + max(u, 7u) * 3u;
  y[i][4] = uint(u > d) + 2u * uint(u <= d);
  y[i][5] = bitfieldExtract(u, 5, 9) ^ bitfieldReverse(d);
  y[i][6] = uint(bitCount(u) + findLSB(d) + findMSB(u));
  y[i][7] = clamp(u, 1000u, 3000000000u);
  uint high, low;
  umulExtended(u, d, high, low);
  y[i][8] = high ^ low;
  y[i][9] = floatBitsToUint(float(u & 0xFFFFFFu));
  z[i][0] = s / e;
  z[i][1] = e == -1 ? 0 : (abs(s / 2) % abs(e / 2 + 1));
  z[i][2] = s >> int(i & 31u);
  z[i][3] = min(s, e) + max(s, -7) * 3;
  z[i][4] = int(s > e) + 2 * int(s <= e);
  z[i][5] = bitfieldExtract(s, 5, 9) ^ bitfieldInsert(s, e, 3, 11);
  z[i][6] = findMSB(s) + sign(s);
  z[i][7] = clamp(s, -1000, 3000);
  int shigh, slow;
  imulExtended(s, e, shigh, slow);
  z[i][8] = shigh ^ slow;
  z[i][9] = int(float(s) * 0.5);
}
