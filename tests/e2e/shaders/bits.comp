// Bits that are read as other numbers: of words as bytes, of two words as a double, and back.
// DISPATCH: 1 1 1 | 0.0 u32 64 bits | 0.1 u32 192 zeros | 0.2 f32 64 random | 0.3 f32 32 zeros
// GRADCHECK: --shape=w=32 --shape=words=192 --shape=x=32 --shape=y=32 --arg=invocations_x=32
#version 460
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(local_size_x = 32) in;
layout(std430, binding = 0) readonly buffer W { uvec2 w[]; };
layout(std430, binding = 1) buffer Out { uint words[]; };
layout(std430, binding = 2) readonly buffer X { vec2 x[]; };  // adc: diff
layout(std430, binding = 3) buffer Y { float y[]; };          // adc: diff
void main() {
  uint i = gl_GlobalInvocationID.x;
  u8vec4 b = unpack8(w[i].x);
  words[6 * i] = pack32(b.wzyx);
  i16vec2 s = unpack16(int(w[i].y));
  words[6 * i + 1] = uint(s.x * 3 - s.y);
  uint64_t wide = packUint2x32(w[i]);
  words[6 * i + 2] = uint(wide >> 20);
  uvec2 halves = unpackUint2x32(wide + 0x1FFFFFFFFul);
  words[6 * i + 3] = halves.x ^ halves.y;
  dvec2 d = dvec2(x[i]) * 3.0LF;
  words[6 * i + 4] = unpackDouble2x32(d.x).y;
  double again = packDouble2x32(unpackDouble2x32(d.x * d.y));
  words[6 * i + 5] = floatBitsToUint(float(again));
  y[i] = x[i].x * x[i].y * float(1 + int(b.y)) + float(int8_t(b.z));
}
// PY: import struct
// PY: w, x, words, ys = before['0.0'], before['0.2'], [], []
// PY: for n in range(32):
// PY:   low, high = w[2 * n:2 * n + 2]
// PY:   b = struct.pack('<I', low)
// PY:   s = struct.unpack('<2h', struct.pack('<I', high))
// PY:   wide = high << 32 | low
// PY:   more = wide + 0x1FFFFFFFF
// PY:   p, q = 3 * x[2 * n], 3 * x[2 * n + 1]
// PY:   words += [struct.unpack('>I', b)[0], (s[0] * 3 - s[1]) % 2 ** 32, wide >> 20 & 0xFFFFFFFF]
// PY:   words += [(more ^ more >> 32) & 0xFFFFFFFF, struct.unpack('<2I', struct.pack('<d', p))[1]]
// PY:   words.append(struct.unpack('<I', struct.pack('<f', p * q))[0])
// PY:   ys.append(x[2 * n] * x[2 * n + 1] * (1 + b[1]) + struct.unpack('<4b', b)[2])
// PY: after['0.1'], after['0.3'] = words, ys
