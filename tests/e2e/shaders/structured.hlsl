// DISPATCH: 2 1 1 | 0.0 f32 512 random | 0.1 f32 64 random | 0.2 f32 192 zeros | 0.3u f32 20 random
// GRADCHECK: --shape=parts=16,8 --shape=x=16 --shape=y=16,4 --arg=invocations_x=16
struct Part { float3 pos; float mass; float4 extra; };
[[vk::binding(0)]] [[adc::diff]] StructuredBuffer<Part> parts;
[[vk::binding(1)]] [[adc::diff]] RWStructuredBuffer<float> x;
[[vk::binding(2)]] [[adc::diff]] RWStructuredBuffer<float3> y;
[[vk::binding(3)]] cbuffer Params { float dt; float3 wind; float4x4 m; };
float3 push(Part p, float by) {
  [loop] for (int t = 0; t < 4; ++t) {
    if (p.mass > 2.5) return p.pos * by;
    p.mass += 0.5;
    p.pos += p.extra.yzw * by;
  }
  return p.pos;
}
[numthreads(32, 1, 1)]
void main(uint3 id : SV_DispatchThreadID) {
  Part p = parts[id.x];
  float3 q = mul(m, float4(p.pos, 1)).xyz + mul(float4(wind, 0), m).zyx;
  y[id.x] = push(p, dt) + q * saturate(x[id.x]) + lerp(q, wind, 0.25);
}
