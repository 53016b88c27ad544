// samples/cpp/forward_kinematics.cpp as a shader: poses down a tree that stands in the data, read where they were
// written.
// PHONES: kernel gradient
// DISPATCH: 1 1 1 | 0.0 i32 4 tree | 0.1 f32 16 random | 0.2 f32 16 random | 0.3 f32 32 random | 0.4 f32 128 zeros | 0.5 f32 128 zeros
// GRADCHECK: --arg=parent=[0,1,2,2] --shape=axis=4 --shape=offset=4 --shape=angle=8 --shape=position=8 --shape=rotation=8 --arg=invocations_x=8
#version 460
layout(local_size_x = 8) in;
layout(std430, binding = 0) readonly buffer Parent { int parent[]; };
layout(std430, binding = 1) readonly buffer Axis { vec4 axis[]; };
layout(std430, binding = 2) readonly buffer Offset { vec4 offset[]; };
layout(std430, binding = 3) readonly buffer Angle { float angle[]; };   // adc: diff
layout(std430, binding = 4) buffer Position { vec4 position[]; };       // adc: diff writeonce
layout(std430, binding = 5) buffer Rotation { vec4 rotation[]; };       // adc: diff writeonce
vec4 multiply(vec4 a, vec4 b) {
  return vec4(a.w * b.xyz + b.w * a.xyz + cross(a.xyz, b.xyz), a.w * b.w - dot(a.xyz, b.xyz));
}
vec3 rotate(vec4 q, vec3 v) {
  vec3 t = 2.0 * cross(q.xyz, v);
  return v + q.w * t + cross(q.xyz, t);
}
void main() {
  int robot = int(gl_GlobalInvocationID.x), links = int(parent.length());
  if (robot >= int(angle.length()) / links) return;
  for (int link = 0; link < links; ++link) {
    int here = robot * links + link;
    vec3 at = offset[link].xyz;
    float half_angle = 0.5 * angle[here];
    vec4 turn = vec4(axis[link].xyz * sin(half_angle), cos(half_angle));
    int above = parent[link] - 1;
    if (above >= 0 && above < link) {
      vec4 q = rotation[robot * links + above];
      at = position[robot * links + above].xyz + rotate(q, at);
      turn = multiply(q, turn);
    }
    position[here] = vec4(at, 1.0);
    rotation[here] = turn;
  }
}
// PY: import math
// PY: parent, axis, offset, angle = (before[f'0.{n}'] for n in range(4))
// PY: cross = lambda a, b: [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
// PY: at, turn = [], []
// PY: for here in range(32):
// PY:   link = here % 4; v = offset[4 * link:4 * link + 3]; s, w = math.sin(angle[here] / 2), math.cos(angle[here] / 2)
// PY:   u = [s * a for a in axis[4 * link:4 * link + 3]]; above = parent[link] - 1
// PY:   if 0 <= above < link:
// PY:     n = here - link + above; q = turn[n][:3]; qw = turn[n][3]
// PY:     t = [2 * a for a in cross(q, v)]
// PY:     v = [p + a + qw * b + c for p, a, b, c in zip(at[n], v, t, cross(q, t))]
// PY:     u, w = [qw * a + w * b + c for a, b, c in zip(u, q, cross(q, u))], qw * w - sum(a * b for a, b in zip(q, u))
// PY:   at.append(v + [1.0]); turn.append(u + [w])
// PY: after['0.4'] = sum(at, []); after['0.5'] = sum(turn, [])
