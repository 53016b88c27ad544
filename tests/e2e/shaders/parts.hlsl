// Out parameters, matrices of both orders, swizzles and a cbuffer with an array.
// DISPATCH: 1 1 1 | 0.0 f32 80 random | 0.1 f32 4 zeros | 0.2u f32 32 random
// GRADCHECK: --points=0 --arg=parts=random[4,20] --arg=parts.u32=zeros[4,20] --shape=loss=4 --arg=count=4 --arg=view=[1,2,0,1,0,1,3,1,0.5,0.2,1,0,1,1,2,1] --arg=scales=random[32] --arg=invocations_x=8
struct P { float3 pos; float r; row_major float3x3 rot; uint2 ids; };
[[adc::diff]] RWStructuredBuffer<P> parts : register(u0);
[[adc::diff]] RWStructuredBuffer<float> loss : register(u1);
cbuffer C : register(b2) { uint count; float4x4 view; float scales[3]; };
float sdf(float3 p, out float3 n) { float l = length(p); n = p / max(l, 1e-4); [branch] if (l < 0.3) { n *= 2; return -l; } return l - 0.3; }
[numthreads(8, 1, 1)]
void main(uint3 id : SV_DispatchThreadID) {
  if (id.x >= count) return;
  P p = parts[id.x];
  float3 n; float d = sdf(mul(p.rot, p.pos), n);
  float4 h = mul(view, float4(p.pos, 1)), g = mul(float4(n, p.r), view);
  float3 a = p.pos.zyx; a.xz *= n.yx;
  [unroll] for (int k = 0; k < 3; ++k) { d += scales[k] * a[k] * rcp(1 + saturate(a[k])); if (k == 1 && d > 3) break; }
  loss[id.x] = d + dot(h, g) + lerp(p.r, d, frac(p.pos.x)) + (asuint(p.r) & 1u) * 0 + fmod(d, 0.7) + sign(d) * sqrt(abs(p.r)+1) + p.rot._m12 * p.rot[2].y + atan2(p.pos.y, 1.5);
}
