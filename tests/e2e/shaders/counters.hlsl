// HLSL: the interlocked operations, on signed and unsigned elements, in a buffer of bytes too.
// DISPATCH: 2 1 1 | 0.0 i32 128 random | 0.1 i32 4 zeros | 0.2 u32 4 zeros
[[vk::binding(0)]] StructuredBuffer<int> x;
[[vk::binding(1)]] RWStructuredBuffer<int> sums;
[[vk::binding(2)]] RWStructuredBuffer<uint> bits;
[numthreads(64, 1, 1)]
void main(uint3 id : SV_DispatchThreadID) {
  int v = x[id.x];
  InterlockedAdd(sums[0], v);
  InterlockedMin(sums[1], v - 60);
  InterlockedMax(sums[2], v);
  InterlockedOr(bits[0], uint(v));
  InterlockedXor(bits[1], uint(v) * 2654435761u);
  InterlockedMax(bits[2], uint(v - 200));
}
// PY: x = before['0.0']
// PY: import functools, operator
// PY: after['0.1'] = [sum(x), min(v - 60 for v in x + [60]), max(x), 0]
// PY: after['0.2'] = [functools.reduce(operator.or_, x), functools.reduce(operator.xor, (v * 2654435761 % 2 ** 32 for v in x)), max((v - 200) % 2 ** 32 for v in x), 0]
