// HLSL: a constant buffer with the packing of its rows, both orders of matrices, static tables, a push constant.
// DISPATCH: 1 1 1 | 0.0 f32 128 random | 0.1 f32 128 zeros | 0.2u f32 64 random | push f32 0.25 u32 30
// GRADCHECK: --shape=x=8 --shape=y=8 --arg=first=[1,2,3] --arg=second=0.5 --arg=third=[0.2,0.3] --arg=turn=[1,2,3,4,5,6,7,8,9] --arg=rows=[1,2,3,4,5,6,7,8,9,1,2,3] --arg=weights=random --shape=weights=56 --arg=step=0.25 --arg=count=7 --arg=invocations_x=32
[[vk::binding(0)]] [[adc::diff]] StructuredBuffer<float4> x;
[[vk::binding(1)]] [[adc::diff]] RWStructuredBuffer<float4> y;
[[vk::binding(2)]] cbuffer Constants {
  float3 first;
  float second;
  float2 third;
  row_major float3x3 turn;
  float4x3 rows;
  float weights[4];
};
struct Push { float step; uint count; };
[[vk::push_constant]] ConstantBuffer<Push> p;
static const float table[3] = {0.5, 1.5, 2.5};
[numthreads(32, 1, 1)]
void main(uint3 id : SV_DispatchThreadID) {
  if (id.x >= p.count) return;
  float4 v = x[id.x];
  float3 a = mul(turn, v.xyz), b = mul(v, rows);
  float sum = second + third.y;
  for (uint k = 0; k < 4; ++k) {
    if (k == 2) continue;
    sum += weights[k] * v[k] * table[k % 3];
  }
  y[id.x] = float4(a * first + b, sum * p.step);
}
