// samples/cpp/sph_density.cpp as a shader: a sum over listed neighbours, a loss that all invocations add to.
// DISPATCH: 1 1 1 | 0.0 i32 33 rows | 0.1 i32 128 columns | 0.2 f32 128 random | 0.3 f32 32 zeros | 0.4 f32 1 zeros | push f32 0.5 f32 3.0 f32 1.0
// GRADCHECK: --arg=start=[0,2,3,4] --arg=neighbour=[1,2,0,0] --shape=position=3 --shape=density=3 --arg=mass=0.5 --arg=h=3 --arg=at_rest=1 --arg=invocations_x=32
#version 460
#extension GL_EXT_shader_atomic_float : require
layout(local_size_x = 32) in;
layout(std430, binding = 0) readonly buffer Start { int start[]; };
layout(std430, binding = 1) readonly buffer Neighbour { int neighbour[]; };
layout(std430, binding = 2) readonly buffer Position { vec4 position[]; };  // adc: diff
layout(std430, binding = 3) buffer Density { float density[]; };            // adc: diff
layout(std430, binding = 4) buffer Loss { float loss; };                    // adc: diff
layout(push_constant) uniform P {
  float mass;  // adc: diff
  float h;
  float at_rest;
};
float poly6(float distance_squared) {
  float rest = h * h - distance_squared;
  if (rest <= 0.0) return 0.0;
  float h3 = h * h * h;
  return 315.0 / (64.0 * 3.14159265 * h3 * h3 * h3) * rest * rest * rest;
}
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i >= density.length()) return;
  vec3 here = position[i].xyz;
  float sum = 0.0;
  int end = start[i + 1u];
  for (int k = start[i]; k < end; ++k) {
    vec3 apart = here - position[neighbour[k]].xyz;
    sum += mass * poly6(dot(apart, apart));
  }
  density[i] = sum;
  atomicAdd(loss, (sum - at_rest) * (sum - at_rest));
}
// PY: import math
// PY: start, nb, pos = before['0.0'], before['0.1'], before['0.2']
// PY: mass, h, rest = push
// PY: def poly6(d): r = h * h - d; return 0 if r <= 0 else 315 / (64 * math.pi * h ** 9) * r ** 3
// PY: def at(i): return pos[4 * i:4 * i + 3]
// PY: def sum_of(i): return sum(mass * poly6(sum((a - b) ** 2 for a, b in zip(at(i), at(nb[k])))) for k in range(start[i], start[i + 1]))
// PY: after['0.3'] = [sum_of(i) for i in range(32)]
// PY: after['0.4'] = [sum((d - rest) ** 2 for d in after['0.3'])]
