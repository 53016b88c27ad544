// HLSL: structures with inout functions, a switch, loops with break, structures that are read and written whole.
// DISPATCH: 2 1 1 | 0.0 f32 512 random | 0.1 i32 64 columns | 0.2 f32 64 zeros | 0.3 f32 512 zeros
// GRADCHECK: --shape=particles=8,8 --shape=next=8,8 --arg=kind=[0,1,2,3,4,5,6,7] --shape=energy=8 --arg=invocations_x=8
struct Particle { float3 pos; float mass; float3 vel; float age; };
[[vk::binding(0)]] [[adc::diff]] StructuredBuffer<Particle> particles;
[[vk::binding(1)]] StructuredBuffer<int> kind;
[[vk::binding(3)]] [[adc::diff]] RWStructuredBuffer<Particle> next;
[[vk::binding(2)]] [[adc::diff]] RWStructuredBuffer<float> energy;
void advance(inout Particle p, float dt, out float moved) {
  p.pos += p.vel * dt;
  p.age += dt;
  moved = dt * dot(p.vel, p.vel);
}
float rate(int k, float age) {
  switch (k % 4) {
    case 0: return 0.1;
    case 1:
    case 2: age *= 0.5; break;
    default: age += 0.25; break;
  }
  return 0.05 + 0.1 * age;
}
[numthreads(32, 1, 1)]
void main(uint3 id : SV_DispatchThreadID) {
  Particle p = particles[id.x];
  float path = 0;
  for (int t = 0; t < 8; ++t) {
    float moved;
    advance(p, rate(kind[id.x], p.age), moved);
    path += moved;
    if (p.age > 1.2) break;
    p.vel *= 0.9;
  }
  energy[id.x] = 0.5 * p.mass * dot(p.vel, p.vel) + path;
  next[id.x] = p;
}
// PY: import math
// PY: p, kind = before['0.0'], before['0.1']
// PY: def rate(k, age): return 0.1 if k % 4 == 0 else 0.05 + 0.1 * (0.5 * age if k % 4 < 3 else age + 0.25)
// PY: after['0.3'], after['0.2'] = [], []
// PY: for i in range(64):
// PY:   x, m, v, age, path = p[8 * i:8 * i + 3], p[8 * i + 3], p[8 * i + 4:8 * i + 7], p[8 * i + 7], 0
// PY:   for t in range(8):
// PY:     dt = rate(kind[i], age); x = [a + dt * b for a, b in zip(x, v)]; age += dt; path += dt * sum(b * b for b in v)
// PY:     if age > 1.2: break
// PY:     v = [0.9 * b for b in v]
// PY:   after['0.3'] += x + [m] + v + [age]; after['0.2'].append(0.5 * m * sum(b * b for b in v) + path)
