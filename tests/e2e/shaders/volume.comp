// A step of diffusion in a volume: three axes of invocations, local sizes that do not divide the extents.
// PHONES: kernel
// DISPATCH: 2 2 3 | 0.0 f32 210 random | 0.1 f32 210 zeros | push i32 7 i32 6 i32 5 f32 0.1
// GRADCHECK: --shape=u=24 --shape=v=24 --arg=size=[4,3,2] --arg=rate=0.1 --arg=invocations_x=4 --arg=invocations_y=4 --arg=invocations_z=2
#version 460
layout(local_size_x = 4, local_size_y = 4, local_size_z = 2) in;
layout(std430, binding = 0) readonly buffer U { float u[]; };  // adc: diff
layout(std430, binding = 1) buffer V { float v[]; };           // adc: diff writeonce
layout(push_constant) uniform P {
  ivec3 size;
  float rate;  // adc: diff
};
int at(ivec3 c) { return (c.z * size.y + c.y) * size.x + c.x; }
void main() {
  ivec3 c = ivec3(gl_GlobalInvocationID);
  if (any(greaterThanEqual(c, size))) return;
  float here = u[at(c)], sum = 0.0;
  for (int axis = 0; axis < 3; ++axis) {
    for (int side = -1; side <= 1; side += 2) {
      ivec3 other = c;
      other[axis] += side;
      if (other[axis] < 0 || other[axis] >= size[axis]) continue;
      sum += u[at(other)] - here;
    }
  }
  v[at(c)] = here + rate * sum;
}
// PY: (nx, ny, nz, rate), u = push, before['0.0']
// PY: after['0.1'] = list(u)
// PY: for z in range(nz):
// PY:   for y in range(ny):
// PY:     for x in range(nx):
// PY:       n = (z * ny + y) * nx + x
// PY:       for c, k, step in ((x, nx, 1), (y, ny, nx), (z, nz, nx * ny)):
// PY:         for s in (-1, 1):
// PY:           if 0 <= c + s < k: after['0.1'][n] += rate * (u[n + s * step] - u[n])
