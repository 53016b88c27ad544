// DISPATCH: 2 1 1 | 0.0 f32 512 random | 0.1 f32 256 zeros | 0.2 u32 4 zeros
// GRADCHECK: --shape=from=512 --shape=to=256 --shape=counts=4 --arg=invocations_x=64
// Words of byte-address buffers that hold floats, in one, two, three and four, and a sum of words.
// PY: x, to = before["0.0"], [0.0] * 256
// PY: for i in range(64):
// PY:     row, k = x[4 * i:4 * i + 4], x[256 + i]
// PY:     to[4 * i:4 * i + 4] = [row[0] * k, row[1] * row[2], row[2] + k, row[3]]
// PY: after["0.1"], after["0.2"] = to, [64, 3 * sum(range(64)), 0, 0]
[[adc::diff]] ByteAddressBuffer from : register(t0);
[[adc::diff]] [[adc::disjoint]] RWByteAddressBuffer to : register(u1);
RWByteAddressBuffer counts : register(u2);
[numthreads(32, 1, 1)]
void main(uint3 id : SV_DispatchThreadID) {
  uint i = id.x;
  uint4 row = from.Load4(16 * i);
  float k = asfloat(from.Load(1024 + 4 * i));
  float2 low = asfloat(row.xy);
  float3 high = asfloat(from.Load3(16 * i + 4));
  to.Store2(16 * i, asuint(float2(low.x * k, low.y * high.y)));
  to.Store(16 * i + 8, asuint(high.y + k));
  to.Store(16 * i + 12, row.w);
  uint old;
  counts.InterlockedAdd(0, 1u, old);
  counts.InterlockedAdd(4, i * 3, old);
}
