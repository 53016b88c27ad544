// The scene, in metres: the material fills (0.2, 0.2, 0.05) to (0.4, 0.4, 0.15). A tool (a rounded bar) leans
// into it from the left and moves right and down a little between this frame and the next; the floor is a
// plane just under the material; a ball touches it from behind and a rounded block from the right. Velocities
// vary smoothly, so that some cells approach each body and some leave it.
//
// Only + - * / and square roots are used, which every machine rounds alike.

#include "mpm_state.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace adc::samples {
namespace {

struct Vec {
  double x = 0, y = 0, z = 0;
};
Vec operator-(Vec a, Vec b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
Vec operator*(double s, Vec a) {
  return {s * a.x, s * a.y, s * a.z};
}
double Length(Vec a) {
  return std::sqrt(a.x * a.x + a.y * a.y + a.z * a.z);
}

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ull + 1) {}
  /// In [0, 1).
  double Next() {
    state_ += 0x9E3779B97F4A7C15ull;
    uint64_t word = state_;
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9ull;
    word = (word ^ (word >> 27)) * 0x94D049BB133111EBull;
    word ^= word >> 31;
    return static_cast<double>(word >> 11) * 0x1p-53;
  }

 private:
  uint64_t state_;
};

constexpr double kDensity = 64;           // cells per metre at scale 1
constexpr double kParticles = 4000;       // per environment at scale 1
constexpr double kParticleMass = 0.5e-3;  // 500 kg/m^3 times a particle's volume of 1e-6 m^3
constexpr double kMassScale = 1e3;        // grid masses are this much larger
constexpr double kTimeStep = 2e-4;
constexpr Vec kLower{0, -1, 0}, kUpper{1, 1, 0.55};
constexpr Vec kBoxLow{0.2, 0.2, 0.05}, kBoxSize{0.2, 0.2, 0.1};

/// Distance to a box of half extents `half`, rounded by `radius`.
double RoundedBox(Vec p, Vec half, double radius) {
  Vec q{std::fabs(p.x) - half.x, std::fabs(p.y) - half.y, std::fabs(p.z) - half.z};
  Vec outside{std::max(q.x, 0.0), std::max(q.y, 0.0), std::max(q.z, 0.0)};
  return Length(outside) + std::min(std::max(q.x, std::max(q.y, q.z)), 0.0) - radius;
}

/// A cube of `size`^3 distances around the origin of a body, and the matrix from the body's frame to voxels.
struct DistanceGrid {
  int64_t size = 0;
  double voxel = 0;  ///< metres
  std::vector<double> distances;
  std::vector<double> to_voxels;
};

/// The body sits a fraction of a voxel off the middle: where a symmetric body lies symmetric in its grid,
/// distances are equal on both sides of its middle plane, and the normal there would be made of rounding
/// errors.
DistanceGrid MakeGrid(int64_t size, double half_width, Vec half, double radius) {
  DistanceGrid grid;
  grid.size = size;
  double middle = static_cast<double>(size - 1) / 2, per_metre = middle / half_width;
  Vec origin{middle + 0.31, middle + 0.17, middle - 0.23};
  grid.voxel = 1 / per_metre;
  for (int64_t x = 0; x < size; ++x) {
    for (int64_t y = 0; y < size; ++y) {
      for (int64_t z = 0; z < size; ++z) {
        Vec p = Vec{static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)} - origin;
        grid.distances.push_back(RoundedBox(grid.voxel * p, half, radius));
      }
    }
  }
  grid.to_voxels = {per_metre, 0, 0,         origin.x, 0, per_metre, 0, origin.y,
                    0,         0, per_metre, origin.z, 0, 0,         0, 1};
  return grid;
}

/// The quaternion (w, x, y, z) along `q`.
std::vector<double> Unit(double w, double x, double y, double z) {
  double length = std::sqrt(w * w + x * x + y * y + z * z);
  return {w / length, x / length, y / length, z / length};
}

/// Material velocity at a point.
Vec Flow(Vec p, uint32_t environment) {
  double e = 0.1 * environment;
  Vec r = p - Vec{0.3, 0.3, 0.1};
  return {-0.6 + 2.0 * r.y - 3.0 * r.z + e, 0.2 - 2.5 * r.x + 4.0 * r.z * r.y - e,
          -0.4 + 1.5 * r.x - 2.0 * r.y * r.y};
}

/// Masses and momenta of the grid, [frame, x, y, z, environment].
class Grid {
 public:
  explicit Grid(const MpmStateConfig& config) : config_(config) {
    double density = kDensity * config.scale;
    dx_ = 1 / density;
    nx_ = Cells(kUpper.x - kLower.x);
    ny_ = Cells(kUpper.y - kLower.y);
    nz_ = Cells(kUpper.z - kLower.z);
    offset_y_ = static_cast<int64_t>(std::floor(kLower.y * density + 0.5));
    auto cells = static_cast<size_t>(nx_ * ny_ * nz_ * config.environments);
    mass_.resize(cells);
    momentum_.resize(cells * 3);
  }

  /// Particles in the box spread over 27 cells each by quadratic B-splines.
  void ScatterParticles() {
    Random random(config_.seed);
    auto count =
        static_cast<int64_t>(std::max(8.0, kParticles * config_.scale * config_.scale * config_.scale));
    double mass = kParticleMass * kMassScale * kParticles / static_cast<double>(count);
    for (uint32_t e = 0; e < config_.environments; ++e) {
      for (int64_t n = 0; n < count; ++n) {
        Vec p = kBoxLow;
        p.x += kBoxSize.x * random.Next();
        p.y += kBoxSize.y * random.Next();
        p.z += kBoxSize.z * random.Next();
        Scatter(p, mass, e);
      }
    }
  }

  /// Mass in cells picked at random, as many as the share asks for.
  void FillShare() {
    Random random(config_.seed);
    for (int64_t x = 0; x < nx_; ++x) {
      for (int64_t y = 0; y < ny_; ++y) {
        for (int64_t z = 0; z < nz_; ++z) {
          for (uint32_t e = 0; e < config_.environments; ++e) {
            if (random.Next() >= config_.pass_fraction) continue;
            Vec p{static_cast<double>(x) * dx_, static_cast<double>(y + offset_y_) * dx_,
                  static_cast<double>(z) * dx_};
            Add(x, y, z, e, 0.2 + 0.3 * random.Next(), Flow(p, e));
          }
        }
      }
    }
  }

  double dx() const { return dx_; }
  std::vector<int64_t> Extents() const { return {1, nx_, ny_, nz_, config_.environments}; }
  int64_t offset_y() const { return offset_y_; }
  std::vector<double>& mass() { return mass_; }
  std::vector<double>& momentum() { return momentum_; }

 private:
  int64_t Cells(double metres) const { return static_cast<int64_t>(std::floor(metres / dx_ + 1e-9)) + 1; }

  void Add(int64_t x, int64_t y, int64_t z, uint32_t e, double mass, Vec velocity) {
    if (x < 0 || y < 0 || z < 0 || x >= nx_ || y >= ny_ || z >= nz_) return;
    auto at = static_cast<size_t>(((x * ny_ + y) * nz_ + z) * config_.environments + e);
    mass_[at] += mass;
    momentum_[at * 3] += mass * velocity.x;
    momentum_[at * 3 + 1] += mass * velocity.y;
    momentum_[at * 3 + 2] += mass * velocity.z;
  }

  void Scatter(Vec p, double mass, uint32_t e) {
    double at[3] = {p.x / dx_, p.y / dx_, p.z / dx_};
    int64_t base[3];
    double weight[3][3];
    for (int axis = 0; axis < 3; ++axis) {
      base[axis] = static_cast<int64_t>(std::floor(at[axis] - 0.5));
      double f = at[axis] - static_cast<double>(base[axis]);
      weight[axis][0] = 0.5 * (1.5 - f) * (1.5 - f);
      weight[axis][1] = 0.75 - (f - 1) * (f - 1);
      weight[axis][2] = 0.5 * (f - 0.5) * (f - 0.5);
    }
    for (int64_t i = 0; i < 3; ++i) {
      for (int64_t j = 0; j < 3; ++j) {
        for (int64_t k = 0; k < 3; ++k) {
          double w = weight[0][i] * weight[1][j] * weight[2][k];
          Add(base[0] + i, base[1] + j - offset_y_, base[2] + k, e, w * mass, Flow(p, e));
        }
      }
    }
  }

  MpmStateConfig config_;
  double dx_ = 0;
  int64_t nx_ = 0, ny_ = 0, nz_ = 0, offset_y_ = 0;
  std::vector<double> mass_, momentum_;
};

/// The rigid bodies: one link per geom.
struct Bodies {
  std::vector<double> kind, link, couples, softness, friction, restitution, pos, quat, shape, start, size,
      voxel, to_voxels, link_pos, link_vel, link_ang, distances;
};

void Append(std::vector<double>& list, const std::vector<double>& more) {
  list.insert(list.end(), more.begin(), more.end());
}

Bodies MakeBodies(const MpmStateConfig& config) {
  Bodies b;
  auto grid_size = static_cast<int64_t>(std::max(12.0, 64 * config.scale));
  DistanceGrid block = MakeGrid(grid_size, 0.12, {0.05, 0.06, 0.05}, 0.02);
  b.distances = block.distances;
  const double kinds[] = {1, 0, 2};
  for (uint32_t g = 0; g < config.geoms; ++g) {
    uint32_t round = g / 3;
    double kind = kinds[g % 3], shift = 0.002 * round;
    b.kind.push_back(kind);
    b.link.push_back(g);
    // Every fourth geom stands in the scene without touching.
    b.couples.push_back(g % 4 == 3 ? 0 : 1);
    b.softness.push_back(0.01 + 0.002 * (g % 3));
    b.friction.push_back(0.15 + 0.1 * (g % 3));
    b.restitution.push_back(0.1 * (g % 3));
    Append(b.shape, kind == 0 ? std::vector<double>{0.06, 0, 0} : std::vector<double>{0, 0, 1});
    b.start.push_back(0);
    double size = static_cast<double>(kind == 2 ? block.size : 0);
    Append(b.size, {size, size, size});
    b.voxel.push_back(block.voxel);
    Append(b.to_voxels, block.to_voxels);
    for (uint32_t e = 0; e < config.environments; ++e) {
      double d = 0.003 * e + shift;
      std::vector<double> pos, quat;
      if (kind == 1) {
        pos = {0.3, 0.3, 0.052 + d};
        quat = Unit(1, 0.02, -0.01 - d, 0);
      } else if (kind == 0) {
        pos = {0.31, 0.45 - d, 0.11};
        quat = Unit(1, 0, 0.2, 0.1);
      } else {
        pos = {0.455 - d, 0.29, 0.1};
        quat = Unit(1, 0.05, 0.1, 0.15 + d);
      }
      Append(b.pos, pos);
      Append(b.quat, quat);
      Append(b.link_pos, {pos[0] + 0.01, pos[1] - 0.02, pos[2] + 0.015});
      Append(b.link_vel, {-0.3 + d, -0.2 + 0.1 * (g % 3), 0.15 - 0.05 * (g % 3)});
      Append(b.link_ang, {0.4, -0.3 + d, 0.5 - 0.2 * (g % 3)});
    }
  }
  return b;
}

}  // namespace

std::vector<StateArray> MakeMpmState(const MpmStateConfig& config) {
  Grid grid(config);
  if (config.pass_fraction > 0)
    grid.FillShare();
  else if (!config.empty)
    grid.ScatterParticles();
  int64_t environments = config.environments, geoms = config.geoms;
  auto count = [](int64_t n) { return static_cast<size_t>(n); };

  DistanceGrid tool =
      MakeGrid(static_cast<int64_t>(std::max(16.0, 128 * config.scale)), 0.15, {0.02, 0.1, 0.03}, 0.015);
  std::vector<double> tool_pos, tool_quat, gravity;
  for (int frame = 0; frame < 2; ++frame) {
    for (uint32_t e = 0; e < config.environments; ++e) {
      // 0.8 m/s to the right and 0.2 m/s down, turning slowly.
      double t = kTimeStep * frame;
      Append(tool_pos, {0.185 + 0.8 * t + 0.004 * e, 0.28, 0.12 - 0.2 * t});
      Append(tool_quat, Unit(1, 0.1 + 0.3 * t, -0.05, 0.08 + 0.5 * t + 0.02 * e));
    }
  }
  for (uint32_t e = 0; e < config.environments; ++e) Append(gravity, {0, 0, -9.81});
  Bodies bodies = MakeBodies(config);

  std::vector<int64_t> vectors = grid.Extents();
  vectors.push_back(3);
  double padding = 3 * grid.dx();
  auto cube = [](int64_t n) { return std::vector<int64_t>{n, n, n}; };
  std::vector<StateArray> state;
  auto buffer = [&](const char* name, std::vector<int64_t> extents, std::vector<double> values) {
    state.push_back({name, true, false, std::move(extents), std::move(values)});
  };
  auto integers = [&](const char* name, std::vector<int64_t> extents, std::vector<double> values) {
    state.push_back({name, false, false, std::move(extents), std::move(values)});
  };
  buffer("mass", grid.Extents(), grid.mass());
  buffer("vel_in", vectors, grid.momentum());
  buffer("vel_out", vectors, std::vector<double>(grid.momentum().size()));
  buffer("gravity", {environments, 3}, gravity);
  buffer("tool_pos", {2, environments, 3}, tool_pos);
  buffer("tool_quat", {2, environments, 4}, tool_quat);
  buffer("tool_sdf", cube(tool.size), tool.distances);
  buffer("tool_to_voxels", {4, 4}, tool.to_voxels);
  integers("geom_kind", {geoms}, bodies.kind);
  integers("geom_link", {geoms}, bodies.link);
  integers("geom_couples", {geoms}, bodies.couples);
  buffer("geom_softness", {geoms}, bodies.softness);
  buffer("geom_friction", {geoms}, bodies.friction);
  buffer("geom_restitution", {geoms}, bodies.restitution);
  buffer("geom_pos", {geoms, environments, 3}, bodies.pos);
  buffer("geom_quat", {geoms, environments, 4}, bodies.quat);
  buffer("geom_shape", {geoms, 3}, bodies.shape);
  buffer("geom_sdf", {static_cast<int64_t>(bodies.distances.size())}, bodies.distances);
  integers("geom_sdf_start", {geoms}, bodies.start);
  integers("geom_sdf_size", {geoms, 3}, bodies.size);
  buffer("geom_voxel", {geoms}, bodies.voxel);
  buffer("geom_to_voxels", {geoms, 4, 4}, bodies.to_voxels);
  buffer("link_pos", {geoms, environments, 3}, bodies.link_pos);
  buffer("link_vel", {geoms, environments, 3}, bodies.link_vel);
  buffer("link_ang", {geoms, environments, 3}, bodies.link_ang);
  buffer("link_force", {geoms, environments, 3}, std::vector<double>(count(geoms * environments * 3)));
  buffer("link_torque", {geoms, environments, 3}, std::vector<double>(count(geoms * environments * 3)));
  integers("frame", {}, {0});
  buffer("dt", {}, {kTimeStep});
  buffer("dx", {}, {grid.dx()});
  integers("offset", {3}, {0, static_cast<double>(grid.offset_y()), 0});
  buffer("low", {3}, {kLower.x + padding, kLower.y + padding, kLower.z + padding});
  buffer("high", {3}, {kUpper.x - padding, kUpper.y - padding, kUpper.z - padding});
  buffer("mass_scale", {}, {kMassScale});
  buffer("tool_friction", {}, {8.0});
  buffer("tool_softness", {}, {0.01});
  for (size_t n = state.size() - 9; n < state.size(); ++n) state[n].is_number = true;
  return state;
}

uint64_t CountPassing(const std::vector<StateArray>& state) {
  const std::vector<double>& mass = FindArray(state, "mass").values;
  return static_cast<uint64_t>(std::count_if(mass.begin(), mass.end(), [](double m) { return m > 1e-15; }));
}

const StateArray& FindArray(const std::vector<StateArray>& state, const std::string& name) {
  return *std::find_if(state.begin(), state.end(),
                       [&](const StateArray& array) { return array.name == name; });
}

std::string ArrayBytes(const StateArray& array, bool f64) {
  std::string bytes;
  auto append = [&](auto value) {
    char raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    bytes.append(raw, sizeof value);
  };
  for (double value : array.values) {
    if (!array.is_float)
      append(static_cast<int32_t>(value));
    else if (f64)
      append(value);
    else
      append(static_cast<float>(value));
  }
  return bytes;
}

}  // namespace adc::samples
