// Expressions of specialisation constants: lengths of loops, choices and factors.
// DISPATCH: 1 1 1 | 0.0 f32 32 random | 0.1 f32 32 zeros | 4:6
// GRADCHECK: --shape=x=32 --shape=y=32 --arg=invocations_x=32 --arg=order=3 --arg=damped=1 --arg=scale=0.5
#version 460
layout(local_size_x = 32) in;
layout(constant_id = 4) const int order = 2;
layout(constant_id = 9) const bool damped = true;
layout(constant_id = 7) const float scale = 0.5;
const int terms = order * 2 + 1;
layout(std430, binding = 0) readonly buffer X { float x[]; };  // adc: diff
layout(std430, binding = 1) buffer Y { float y[]; };           // adc: diff
void main() {
  uint i = gl_GlobalInvocationID.x;
  float sum = 0.0, power = 1.0;
  for (int n = 0; n < terms; ++n) {
    sum += power;
    power *= x[i] * (damped ? scale : 1.0);
  }
  y[i] = sum;
}
// PY: after['0.1'] = [sum((0.5 * v) ** n for n in range(13)) for v in before['0.0']]
