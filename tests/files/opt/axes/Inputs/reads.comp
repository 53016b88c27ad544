#version 450
layout(local_size_x = 32, local_size_y = 2) in;
layout(constant_id = 0) const float s = 1.0;
layout(std430, binding = 0) buffer X { float x[]; };
void main() { x[gl_GlobalInvocationID.x * gl_NumWorkGroups.z] = s; }
