// field.comp: a small network that gives the distance to a shape at each point of the plane, an invocation a point.
#version 460
#extension GL_EXT_shader_atomic_float : require
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer Points { vec2 points[]; };
layout(std430, set = 0, binding = 1) readonly buffer Wanted { float wanted[]; };
layout(std430, set = 0, binding = 2) readonly buffer Weights { float weights[]; };  // adc: diff
layout(std430, set = 0, binding = 3) writeonly buffer Field { float field[]; };
layout(std430, set = 0, binding = 4) buffer Loss { float loss; };  // adc: diff
layout(push_constant) uniform P { uint count; };

const int WIDTH = 32;

void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i >= count) return;
  float first[WIDTH];
  for (int o = 0; o < WIDTH; ++o) {
    first[o] = sin(weights[3 * o] * points[i].x + weights[3 * o + 1] * points[i].y + weights[3 * o + 2]);
  }
  const int second = 3 * WIDTH, last = second + WIDTH * (WIDTH + 1);
  float sum = weights[last + WIDTH];
  for (int o = 0; o < WIDTH; ++o) {
    int row = second + o * (WIDTH + 1);
    float a = weights[row + WIDTH];
    for (int k = 0; k < WIDTH; ++k) a += weights[row + k] * first[k];
    sum += weights[last + o] * sin(a);
  }
  field[i] = sum;
  float miss = sum - wanted[i];
  atomicAdd(loss, miss * miss / count);
}
