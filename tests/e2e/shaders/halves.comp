// Halves: packed into words, unpacked, and the bits of floats.
// DISPATCH: 1 1 1 | 0.0 f32 64 random | 0.1 u32 32 zeros | 0.2 f32 32 zeros | 0.3 f32 32 zeros
// GRADCHECK: --shape=x=32 --shape=bits=32 --shape=rounded=32 --shape=y=32 --arg=invocations_x=32
#version 460
layout(local_size_x = 32) in;
layout(std430, binding = 0) readonly buffer X { vec2 x[]; };  // adc: diff
layout(std430, binding = 1) buffer Bits { uint bits[]; };
layout(std430, binding = 3) buffer Rounded { float rounded[]; };
layout(std430, binding = 2) buffer Y { float y[]; };          // adc: diff
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i >= y.length()) return;
  bits[i] = packHalf2x16(x[i]);
  rounded[i] = unpackHalf2x16(bits[i]).y + uintBitsToFloat(floatBitsToUint(-x[i].x) & 0x7FFFFFFFu);
  y[i] = x[i].x * x[i].y * uintBitsToFloat(0x40200000u);
}
// PY: x = before['0.0']
// PY: import struct
// PY: after['0.1'] = [struct.unpack('<I', struct.pack('<ee', *x[2 * n:2 * n + 2]))[0] for n in range(32)]
// PY: after['0.2'] = [2.5 * x[2 * n] * x[2 * n + 1] for n in range(32)]
// PY: after['0.3'] = [struct.unpack('<e', struct.pack('<e', x[2 * n + 1]))[0] + x[2 * n] for n in range(32)]
