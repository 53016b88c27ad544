// An image that is read with neighbours, one that is read and written, one that is written, and a texture.
// DISPATCH: 1 1 1
// IMAGE: picture 0.2 @ rgba8 5x3x1
// IMAGE: tex 0.3 % rgba32f 5x3x1
// IMAGE: grey 1.0 @ r32f 5x3x1 written
// IMAGE: wide 1.1 @ rgba32f 5x3x1 written
// PUSH: gain 0.5
#version 460
layout(local_size_x = 8, local_size_y = 4) in;
layout(set = 0, binding = 2, rgba8) readonly uniform image2D picture;
layout(set = 0, binding = 3) uniform sampler2D tex;
layout(set = 1, binding = 0, r32f) uniform image2D grey;  // adc: diff
layout(set = 1, binding = 1, rgba32f) writeonly uniform image2D wide;
layout(push_constant) uniform P { float gain; };
void main() {
  ivec2 at = ivec2(gl_GlobalInvocationID.xy), size = imageSize(picture);
  if (at.x >= size.x || at.y >= size.y) return;
  vec4 sum = vec4(0.0);
  for (int d = -1; d <= 1; ++d) {
    int x = clamp(at.x + d, 0, size.x - 1);
    sum += imageLoad(picture, ivec2(x, at.y)) * (1.0 + float(d) * 0.25);
  }
  float old = imageLoad(grey, at).x;
  imageStore(grey, at, vec4(old * gain + sum.x));
  vec2 scale = 1.0 / vec2(textureSize(tex, 0));
  imageStore(wide, at, sum * gain + texelFetch(tex, at, 0).zwxy + vec4(scale, old, 1.0));
}
