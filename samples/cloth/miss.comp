// miss.comp: how far a cloth is from the wanted one: the mean of squares.
#version 460
#extension GL_EXT_shader_atomic_float : require
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer State { vec4 state[]; };  // adc: diff
layout(std430, set = 0, binding = 1) readonly buffer Wanted { vec4 wanted[]; };
layout(std430, set = 0, binding = 2) buffer Loss { float loss; };  // adc: diff
layout(push_constant) uniform P { int count; };

void main() {
  int i = int(gl_GlobalInvocationID.x);
  if (i >= count) return;
  vec3 away = state[2 * i].xyz - wanted[2 * i].xyz;
  atomicAdd(loss, dot(away, away) / float(count));
}
