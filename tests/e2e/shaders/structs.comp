// Structures, nested arrays, inout parameters, a private variable, a constant table.
// DISPATCH: 2 1 1 | 1.3 f32 1024 random | 1.0 f32 64 random | 0.7 f32 32 zeros
// GRADCHECK: --shape=bodies=32,16 --shape=weights=64 --shape=totals=32 --arg=invocations_x=32
#version 460
layout(local_size_x = 32) in;
struct Joint { vec3 axis; float angle; };
struct Body { Joint joints[2]; vec2 size[2]; vec3 centre; };
layout(std430, set = 1, binding = 3) buffer Bodies { Body bodies[]; };      // adc: diff
layout(std430, set = 1, binding = 0) readonly buffer W { float weights[64]; };  // adc: diff
layout(std430, set = 0, binding = 7) buffer T { float totals[]; };            // adc: diff
const float table[4] = float[](0.25, 0.5, 1.5, 2.0);
float running = 1.0;
void turn(inout Joint joint, in float by, out float old) {
  old = joint.angle;
  joint.angle += by;
  joint.axis = joint.axis.zxy * by;
  running += old;
}
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i >= totals.length()) return;
  Body body = bodies[i];
  float old, sum = 0.0;
  for (int k = 0; k < 2; ++k) {
    turn(body.joints[k], table[(int(i) + k) & 3], old);
    sum += old * weights[2u * i + uint(k)];
  }
  Joint copy[2] = body.joints;
  copy[i & 1u].axis.y += 0.5;
  sum += copy[0].axis.y * copy[1].axis.y + body.size[1].x * body.centre.z + running;
  float local[4] = table;
  local[i & 3u] += sum;
  totals[i] = local[0] + 2.0 * local[1] + 3.0 * local[2] + 4.0 * local[3];
}
