// GLSL.std.450.
// TOLERANCE: 4e-4
// DISPATCH: 1 1 1 | 0.0 f32 64 random | 0.1 f32 2048 zeros
// GRADCHECK: --shape=x=32 --shape=y=32,32 --arg=invocations_x=32
#version 460
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer X { float x[]; };  // adc: diff
layout(std430, binding = 1) buffer Y { float y[][32]; };       // adc: diff
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i >= x.length()) return;
  float v = x[i], w = x[x.length() - 1u - i] + 0.5;
  vec3 p = vec3(v, w, v * w), q = vec3(w, 1.0 - v, 0.3);
  y[i][0] = sin(v) + cos(w) + tan(v);
  y[i][1] = asin(v * 0.5) + acos(v * 0.4) + atan(w) + atan(v, w);
  y[i][2] = sinh(v) + cosh(w) + tanh(v);
  y[i][3] = asinh(v) + acosh(w + 1.0) + atanh(v * 0.5);
  y[i][4] = pow(w, v) + exp(v) + log(w) + exp2(v) + log2(w);
  y[i][5] = sqrt(w) + inversesqrt(w);
  y[i][6] = abs(v - 0.5) + sign(v - 0.4) + floor(v * 5.0) + ceil(v * 3.0) + trunc(v * 4.0) + roundEven(v * 7.0);
  y[i][7] = fract(v * 3.3) + mod(v * 5.0, w);
  y[i][8] = min(v, w) + max(v, 0.5) + clamp(v * 2.0, 0.3, 1.2);
  y[i][9] = mix(v, w, 0.3) + step(0.5, v) + smoothstep(0.2, 0.8, v);
  y[i][10] = fma(v, w, 0.5);
  y[i][11] = length(p) + distance(p, q) + dot(p, q);
  y[i][12] = cross(p, q).x + cross(p, q).z;
  y[i][13] = normalize(p).y;
  y[i][14] = faceforward(p, q, vec3(0.0, 1.0, 0.5)).x;
  y[i][15] = reflect(p, normalize(q)).z + refract(normalize(p), normalize(q), 0.7).y;
  y[i][16] = radians(v) + degrees(w);
  float whole;
  y[i][17] = modf(v * 4.7, whole) + whole;
  y[i][18] = float(any(lessThan(p, q))) + 2.0 * float(all(greaterThanEqual(p, vec3(0.0))));
  y[i][19] = length(v) + distance(v, w);
  vec4 s = vec4(p, v);
  y[i][20] = s.wzyx.y + s.xxyy.z;
  s.zx = q.xy;
  s[i & 3u] *= 2.0;
  y[i][21] = s.x + 2.0 * s.y + 3.0 * s.z + s[3u - (i & 3u)];
  y[i][22] = isnan(v) ? 1.0 : isinf(w) ? 2.0 : v > w ? v : w;
  vec3 r = mix(p, q, bvec3(v > 0.5, w > 0.5, true));
  y[i][23] = r.x + r.y * r.z;
}
