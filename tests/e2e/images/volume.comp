// Three axes of different extents, and a texture of three axes.
// DISPATCH: 2 1 3
// IMAGE: field 0.0 @ r32f 6x4x3 written
// IMAGE: tex 0.1 % rgba32f 6x4x3
#version 460
layout(local_size_x = 4, local_size_y = 4) in;
layout(binding = 0, r32f) uniform image3D field;
layout(binding = 1) uniform sampler3D tex;
void main() {
  ivec3 at = ivec3(gl_GlobalInvocationID), size = imageSize(field);
  if (any(greaterThanEqual(at, size))) return;
  vec4 t = texelFetch(tex, size - 1 - at, 0);
  imageStore(field, at, vec4(imageLoad(field, at).x * float(size.x + 10 * size.y + 100 * size.z) + t.y - t.w));
}
