// What is stored is read again as its format has it, rounded and clamped, by the invocation that stored it.
// DISPATCH: 2 2 1
// IMAGE: bytes 0.0 @ rgba8 7x5x1 written
// IMAGE: byte 0.1 @ r8 7x5x1 written
// IMAGE: pair 0.2 @ rg8_snorm 7x5x1 written
// IMAGE: halves 0.3 @ rgba16f 7x5x1 written
// IMAGE: whole 0.4 @ r32i 7x5x1 written
// IMAGE: counts 0.5 @ rgba8ui 7x5x1 written
// IMAGE: back 0.6 @ rgba32f 7x5x1 written 2e-3
#version 460
layout(local_size_x = 4, local_size_y = 4) in;
layout(binding = 0, rgba8) uniform image2D bytes;
layout(binding = 1, r8) uniform image2D byte;
layout(binding = 2, rg8_snorm) uniform image2D pair;
layout(binding = 3, rgba16f) uniform image2D halves;
layout(binding = 4, r32i) uniform iimage2D whole;
layout(binding = 5, rgba8ui) uniform uimage2D counts;
layout(binding = 6, rgba32f) uniform image2D back;
void main() {
  ivec2 at = ivec2(gl_GlobalInvocationID.xy);
  if (any(greaterThanEqual(at, imageSize(back)))) return;
  vec4 old = imageLoad(back, at);
  imageStore(bytes, at, imageLoad(bytes, at).wzyx * 1.5 - 0.25);
  imageStore(byte, at, 1.0 - imageLoad(byte, at));
  imageStore(pair, at, imageLoad(pair, at).yxzw * -1.25);
  imageStore(halves, at, imageLoad(halves, at) + old * 3.0);
  imageStore(whole, at, -2 * imageLoad(whole, at) - 7);
  imageStore(counts, at, imageLoad(counts, at).yzwx / 3u);
  imageStore(back, at, imageLoad(bytes, at) + imageLoad(byte, at).xxxw + imageLoad(pair, at) + imageLoad(halves, at));
}
