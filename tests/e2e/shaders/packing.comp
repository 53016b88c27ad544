// Numbers packed into words and taken out again, bits as other numbers, floats taken apart.
// DISPATCH: 1 1 1 | 0.0 f32 128 random | 0.1 u32 32 bits | 0.2 u32 192 zeros | 0.3 f32 416 zeros | 0.4 f32 32 zeros
// GRADCHECK: --shape=x=32 --shape=w=32 --shape=words=192 --shape=parts=416 --shape=y=32 --arg=invocations_x=32
#version 460
layout(local_size_x = 32) in;
layout(std430, binding = 0) readonly buffer X { vec4 x[]; };  // adc: diff
layout(std430, binding = 1) readonly buffer W { uint w[]; };
layout(std430, binding = 2) buffer Words { uint words[]; };
layout(std430, binding = 3) buffer Parts { float parts[]; };
layout(std430, binding = 4) buffer Y { float y[]; };          // adc: diff
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i >= y.length()) return;
  vec4 v = 3.0 * x[i] - 1.5;
  words[6 * i] = packUnorm4x8(v);
  words[6 * i + 1] = packSnorm4x8(v);
  words[6 * i + 2] = packUnorm2x16(v.xy);
  words[6 * i + 3] = packSnorm2x16(v.zw);
  vec4 a = unpackUnorm4x8(w[i]), b = unpackSnorm4x8(w[i]);
  vec2 c = unpackUnorm2x16(w[i]), d = unpackSnorm2x16(w[i]);
  for (int n = 0; n < 4; ++n) {
    parts[13 * i + n] = a[n];
    parts[13 * i + 4 + n] = b[n];
  }
  for (int n = 0; n < 2; ++n) {
    parts[13 * i + 8 + n] = c[n];
    parts[13 * i + 10 + n] = d[n];
  }
  int exponent;
  float scale = float(1u << (w[i] % 31u));
  parts[13 * i + 12] = frexp(v.x * scale, exponent);
  words[6 * i + 4] = uint(exponent);
  words[6 * i + 5] = floatBitsToUint(ldexp(v.y, int(i) * 7 - 110));
  int ignored;
  y[i] = frexp(x[i].x * 40.0, ignored) * ldexp(x[i].y, int(i % 7u) - 3) + x[i].z * a.x;
}
// PY: import math, struct
// PY: x, w = before['0.0'], before['0.1']
// PY: f32 = lambda value: struct.unpack('<f', struct.pack('<f', value))[0]
// PY: bits = lambda value: struct.unpack('<I', struct.pack('<f', value))[0]
// PY: word = lambda form, least, most, vs: struct.unpack('<I', struct.pack(form, *[round(most * max(least, min(1, v))) for v in vs]))[0]
// PY: norm = lambda form, most, w: [max(-1, n / most) for n in struct.unpack(form, struct.pack('<I', w))]
// PY: words, parts, ys = [], [], []
// PY: for n in range(32):
// PY:   v = [f32(f32(3 * q) - 1.5) for q in x[4 * n:4 * n + 4]]
// PY:   words += [word('<4B', 0, 255, v), word('<4b', -1, 127, v), word('<2H', 0, 65535, v[:2]), word('<2h', -1, 32767, v[2:])]
// PY:   factor, exponent = math.frexp(v[0] * 2 ** (w[n] % 31))
// PY:   words += [exponent % 2 ** 32, bits(math.ldexp(v[1], 7 * n - 110))]
// PY:   first = norm('<4B', 255, w[n])
// PY:   parts += first + norm('<4b', 127, w[n]) + norm('<2H', 65535, w[n]) + norm('<2h', 32767, w[n]) + [factor]
// PY:   ys.append(math.frexp(f32(x[4 * n] * 40))[0] * math.ldexp(x[4 * n + 1], n % 7 - 3) + x[4 * n + 2] * first[0])
// PY: after['0.2'], after['0.3'], after['0.4'] = words, parts, ys
