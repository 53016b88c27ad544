// samples/cpp/pd_rollout.cpp as a shader: pendulums that a controller swings, gains in a push constant.
// TOLERANCE: 2e-5
// DISPATCH: 1 1 1 | 0.0 f32 32 random | 0.1 f32 32 random | 0.2 f32 1 zeros | push f32 6.0 f32 1.5 f32 20.0 f32 0.02 i32 40
// GRADCHECK: --shape=start=4 --shape=target=4 --arg=proportional=6 --arg=derivative=1.5 --arg=limit=20 --arg=dt=0.02 --arg=steps=25 --arg=invocations_x=32 --points=4
#version 460
#extension GL_EXT_shader_atomic_float : require
layout(local_size_x = 32) in;
layout(std430, binding = 0) readonly buffer Start { float start[]; };  // adc: diff
layout(std430, binding = 1) readonly buffer Target { float target[]; };
layout(std430, binding = 2) buffer Loss { float loss; };  // adc: diff
layout(push_constant) uniform Gains {
  float proportional;  // adc: diff
  float derivative;    // adc: diff
  float limit;
  float dt;
  int steps;
} gains;
struct Pendulum { float angle, rate; };
float torque(Pendulum p, float wanted) {
  return clamp(gains.proportional * (wanted - p.angle) - gains.derivative * p.rate, -gains.limit, gains.limit);
}
void advance(inout Pendulum p, float by) {
  p.rate += gains.dt * (by - 9.81 * sin(p.angle));
  p.angle += gains.dt * p.rate;
}
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i >= start.length()) return;
  Pendulum p = Pendulum(start[i], 0.0);
  for (int t = 0; t < gains.steps; ++t) advance(p, torque(p, target[i]));
  float miss = p.angle - target[i];
  atomicAdd(loss, miss * miss + 0.1 * p.rate * p.rate);
}
// PY: import math
// PY: kp, kd, limit, dt, steps = push
// PY: def run(a, wanted):
// PY:   r = 0
// PY:   for _ in range(steps): r += dt * (min(max(kp * (wanted - a) - kd * r, -limit), limit) - 9.81 * math.sin(a)); a += dt * r
// PY:   return (a - wanted) ** 2 + 0.1 * r * r
// PY: after['0.2'] = [sum(run(a, w) for a, w in zip(before['0.0'], before['0.1']))]
