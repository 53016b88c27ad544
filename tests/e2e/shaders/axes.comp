// Three axes, with workgroups and local ids.
// DISPATCH: 3 2 4 | 0.0 u32 1536 zeros | 0.1 u32 1536 zeros
#version 460
layout(local_size_x = 8, local_size_y = 4, local_size_z = 2) in;
layout(std430, binding = 0) buffer A { uint a[]; };
layout(std430, binding = 1) buffer B { uint b[]; };
void main() {
  uvec3 id = gl_GlobalInvocationID, size = gl_NumWorkGroups * gl_WorkGroupSize;
  uint at = (id.z * size.y + id.y) * size.x + id.x;
  a[at] = gl_WorkGroupID.x + 10u * gl_WorkGroupID.y + 100u * gl_WorkGroupID.z + 1000u * gl_LocalInvocationIndex;
  b[at] = gl_LocalInvocationID.x + 10u * gl_LocalInvocationID.y + 100u * gl_LocalInvocationID.z + 1000u * gl_NumWorkGroups.y;
}
