// cloth.comp: a time step of a cloth of springs in wind, an invocation a mass. A state has its place and its velocity.
#version 460
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer Before { vec4 before[]; };         // adc: diff
layout(std430, set = 0, binding = 1) writeonly buffer After { vec4 after[]; };          // adc: diff
layout(std430, set = 0, binding = 2) readonly buffer Stiffness { float stiffness[]; };  // adc: diff
layout(push_constant) uniform P { int side; float dt; vec3 wind; };

const float GRAVITY = 1.0, DRAG = 0.1, DAMPING = 0.2;

vec3 place(int column, int row) { return before[2 * (row * side + column)].xyz; }

void main() {
  int i = int(gl_GlobalInvocationID.x);
  if (i >= side * side) return;
  int column = i % side, row = i / side;
  vec3 x = before[2 * i].xyz, v = before[2 * i + 1].xyz;
  vec3 force = vec3(0, -GRAVITY, 0) - DAMPING * v;
  // Springs to the neighbours, and weaker ones to the masses behind them. `stiffness` is a logarithm.
  for (int dr = -2; dr <= 2; ++dr) {
    for (int dc = -2; dc <= 2; ++dc) {
      int r = row + dr, c = column + dc, far = dr * dr + dc * dc;
      if (far == 0 || far > 4 || r < 0 || r >= side || c < 0 || c >= side) continue;
      vec3 apart = place(c, r) - x;
      float now = length(apart), rest = sqrt(float(far));
      float strength = exp(0.5 * (stiffness[i] + stiffness[r * side + c])) / float(far);
      force += strength * (now - rest) / now * apart;
    }
  }
  // The wind, by the area that it meets.
  vec3 across = place(min(column + 1, side - 1), row) - place(max(column - 1, 0), row);
  vec3 down = place(column, min(row + 1, side - 1)) - place(column, max(row - 1, 0));
  vec3 normal = cross(across, down);
  force += DRAG * dot(wind - v, normal) / length(normal) * normal;
  // Every fifth mass of the first row is held.
  if (row > 0 || column % 5 > 0) {
    v += dt * force;
    x += dt * v;
  }
  after[2 * i] = vec4(x, 0);
  after[2 * i + 1] = vec4(v, 0);
}
