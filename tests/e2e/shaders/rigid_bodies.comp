#version 460
// Structures with padding, a matrix in std430, inout of a whole structure.
// DISPATCH: 1 1 1 | 0.0 f32 112 random | 0.1 f32 4 zeros | push u32 4 f32 0.3
// GRADCHECK: --arg=body=random[4,28] --arg=body.u32=zeros[4,28] --shape=loss=4 --arg=count=4 --arg=dt=0.3 --arg=invocations_x=8
layout(local_size_x = 8) in;
struct Body { vec3 pos; float mass; mat3 inertia; vec3 vel; uint flags; vec2 uv[3]; };
layout(std430, set = 0, binding = 0) buffer Bodies { Body body[]; };  // adc: diff
layout(std430, set = 0, binding = 1) buffer Loss { float loss[]; };  // adc: diff
layout(push_constant) uniform P { uint count; float dt; };
void integrate(inout Body b, float h) { b.vel += h * (b.inertia * b.pos) / (1.0 + b.mass * b.mass); b.pos += h * b.vel; }
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i >= count) return;
  Body b = body[i];
  integrate(b, dt); integrate(b, dt);
  float s = dot(b.pos, b.pos) + transpose(b.inertia)[1].z * b.uv[2].y * b.uv[0].x;
  loss[i] = s;
}
