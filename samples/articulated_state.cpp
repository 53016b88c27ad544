// A scene is described link by link (what its parent is, which joints it has) and then written out as the
// flat arrays that the kernel takes. Only + - * / and square roots are used, which every machine rounds
// alike.

#include "articulated_state.h"

#include <cmath>

namespace adc::samples {
namespace {

using Scene = ArticulatedConfig::Scene;

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
  double In(double low, double high) { return low + (high - low) * Next(); }
  int32_t Below(int32_t count) { return static_cast<int32_t>(Next() * count); }

 private:
  uint64_t state_;
};

struct Link {
  int32_t parent = -1;
  bool fixed = false;
  std::vector<Joint> joints;
  double mass = 1;
};
struct Entity {
  std::vector<Link> links;
  int32_t geoms = 1;  ///< per link
};

std::vector<Entity> Describe(const ArticulatedConfig& config, Random& random) {
  std::vector<Entity> entities;
  switch (config.scene) {
    case Scene::Body:
      entities.push_back({{{-1, false, {Joint::Free}, 4}}, 1});
      break;
    case Scene::Arm: {
      Entity arm;
      arm.links.push_back({-1, true, {Joint::Fixed}, 3});
      for (int32_t k = 0; k < 7; ++k) arm.links.push_back({k, false, {Joint::Revolute}, 3.5 - 0.4 * k});
      arm.links.push_back({7, false, {Joint::Fixed}, 0.7});
      for (int32_t k = 0; k < 2; ++k) arm.links.push_back({8, false, {Joint::Prismatic}, 0.015});
      entities.push_back(arm);
      break;
    }
    case Scene::Tree: {
      auto total = static_cast<int32_t>(config.links);
      int32_t made = 0;
      while (made < total) {
        Entity entity;
        int32_t count = std::min(total - made, 3 + random.Below(7));
        // About half of the entities continue the tree of the one before.
        bool continues = made > 0 && entities.size() % 2 == 1;
        int32_t first = made - (continues ? static_cast<int32_t>(entities.back().links.size()) : 0);
        for (int32_t k = 0; k < count; ++k, ++made) {
          Link link;
          bool root = k == 0 && !continues;
          if (!root) link.parent = first + random.Below(made - first);
          link.mass = random.In(0.2, 3);
          if (root && entities.size() % 3 == 0) {
            link.joints = {Joint::Free};
          } else if (root) {
            link.fixed = entities.size() % 4 == 2;
            link.joints = {Joint::Fixed};
          } else {
            int32_t joints = random.Below(4);
            for (int32_t j = 0; j < joints; ++j) link.joints.push_back(static_cast<Joint>(random.Below(4)));
          }
          entity.links.push_back(link);
        }
        entity.geoms = random.Below(3);
        entities.push_back(entity);
      }
      break;
    }
  }
  return entities;
}

/// The arrays of a state, by name and in order.
class Writer {
 public:
  Writer(Random& random, uint32_t environments) : random_(random), environments_(environments) {}

  void Integers(const char* name, const std::vector<int32_t>& values) {
    state_.push_back(
        {name, false, false, {static_cast<int64_t>(values.size())}, {values.begin(), values.end()}});
  }
  /// `make` gives the numbers of one thing.
  template <class Make>
  void Floats(const char* name, size_t things, std::vector<int64_t> shape, Make make) {
    StateArray array{name, true, false, {static_cast<int64_t>(things)}, {}};
    array.extents.insert(array.extents.end(), shape.begin(), shape.end());
    for (size_t n = 0; n < things; ++n) {
      std::vector<double> numbers = make(n);
      array.values.insert(array.values.end(), numbers.begin(), numbers.end());
    }
    state_.push_back(std::move(array));
  }
  /// The same for every thing and environment.
  template <class Make>
  void PerEnvironment(const char* name, size_t things, std::vector<int64_t> shape, Make make) {
    StateArray array{name, true, false, {static_cast<int64_t>(things), environments_}, {}};
    array.extents.insert(array.extents.end(), shape.begin(), shape.end());
    for (size_t n = 0; n < things; ++n) {
      for (uint32_t b = 0; b < environments_; ++b) {
        std::vector<double> numbers = make(n);
        array.values.insert(array.values.end(), numbers.begin(), numbers.end());
      }
    }
    state_.push_back(std::move(array));
  }
  void Zeros(const char* name, size_t things, std::vector<int64_t> shape) {
    size_t count = 1;
    for (int64_t extent : shape) count *= static_cast<size_t>(extent);
    PerEnvironment(name, things, std::move(shape), [&](size_t) { return std::vector<double>(count, 0.0); });
  }

  std::vector<double> Vector(double size) {
    std::vector<double> v;
    for (int k = 0; k < 3; ++k) v.push_back(random_.In(-size, size));
    return v;
  }
  /// Of length 1.
  std::vector<double> Direction(size_t components) {
    std::vector<double> v;
    double square = 0;
    while (square < 0.01) {
      v.clear();
      square = 0;
      for (size_t k = 0; k < components; ++k) {
        v.push_back(random_.In(-1, 1));
        square += v.back() * v.back();
      }
    }
    for (double& x : v) x /= std::sqrt(square);
    return v;
  }

  void Add(StateArray array) { state_.push_back(std::move(array)); }
  std::vector<StateArray> Take() { return std::move(state_); }

 private:
  Random& random_;
  uint32_t environments_;
  std::vector<StateArray> state_;
};

int32_t CoordinatesOf(Joint joint) {
  switch (joint) {
    case Joint::Fixed:
      return 0;
    case Joint::Revolute:
    case Joint::Prismatic:
      return 1;
    case Joint::Spherical:
      return 4;
    case Joint::Free:
      return 7;
  }
  return 0;
}
int32_t FreedomsOf(Joint joint) {
  int32_t coordinates = CoordinatesOf(joint);
  return coordinates > 1 ? coordinates - 1 : coordinates;
}

}  // namespace

std::vector<StateArray> MakeArticulatedState(const ArticulatedConfig& config) {
  Random random(config.seed);
  std::vector<Entity> entities = Describe(config, random);
  std::vector<int32_t> link_start{0}, geom_start{0}, joint_start{0}, dof_start{0}, q_start, geom_link;
  std::vector<int32_t> parent, root, fixed, type;
  std::vector<double> mass;
  std::vector<Joint> joints;
  int32_t coordinates = 0;
  for (const Entity& entity : entities) {
    for (const Link& link : entity.links) {
      auto l = static_cast<int32_t>(parent.size());
      parent.push_back(link.parent);
      root.push_back(link.parent < 0 ? l : root[static_cast<size_t>(link.parent)]);
      fixed.push_back(link.fixed);
      mass.push_back(link.mass);
      for (Joint joint : link.joints) {
        joints.push_back(joint);
        type.push_back(static_cast<int32_t>(joint));
        q_start.push_back(coordinates);
        coordinates += CoordinatesOf(joint);
        dof_start.push_back(dof_start.back() + FreedomsOf(joint));
      }
      joint_start.push_back(static_cast<int32_t>(joints.size()));
      for (int32_t g = 0; g < entity.geoms; ++g) geom_link.push_back(l);
    }
    link_start.push_back(static_cast<int32_t>(parent.size()));
    geom_start.push_back(static_cast<int32_t>(geom_link.size()));
  }

  size_t links = parent.size(), geoms = geom_link.size(), all_joints = joints.size();
  auto dofs = static_cast<size_t>(dof_start.back()), qs = static_cast<size_t>(coordinates);
  Writer w(random, config.environments);
  w.Integers("link_start", link_start);
  w.Integers("geom_start", geom_start);
  w.Integers("parent", parent);
  w.Integers("root", root);
  w.Integers("fixed", fixed);
  w.Integers("joint_start", joint_start);
  w.Floats("link_offset", links, {3}, [&](size_t) { return w.Vector(0.3); });
  w.Floats("link_turn", links, {4}, [&](size_t) { return w.Direction(4); });
  w.Floats("inertial_pos", links, {3}, [&](size_t) { return w.Vector(0.1); });
  w.Floats("inertial_quat", links, {4}, [&](size_t) { return w.Direction(4); });
  w.Floats("inertia", links, {3, 3}, [&](size_t l) {
    std::vector<double> m(9);
    std::vector<double> off = w.Vector(0.1 * mass[l] * 0.05);
    for (size_t k = 0; k < 3; ++k) m[4 * k] = mass[l] * random.In(0.02, 0.05);
    m[1] = m[3] = off[0], m[2] = m[6] = off[1], m[5] = m[7] = off[2];
    return m;
  });
  w.Floats("mass", links, {}, [&](size_t l) { return std::vector<double>{mass[l]}; });
  w.Integers("joint_type", type);
  w.Floats("joint_pos", all_joints, {3}, [&](size_t) { return w.Vector(0.1); });
  w.Floats("joint_axis", all_joints, {3}, [&](size_t j) {
    return joints[j] == Joint::Spherical ? std::vector<double>{0, 0, 1} : w.Direction(3);
  });
  w.Integers("q_start", q_start);
  w.Integers("dof_start", dof_start);
  w.Floats("qpos0", qs, {}, [&](size_t) { return std::vector<double>{random.In(-0.2, 0.2)}; });
  w.Integers("geom_link", geom_link);
  w.Floats("geom_offset", geoms, {3}, [&](size_t) { return w.Vector(0.1); });
  w.Floats("geom_turn", geoms, {4}, [&](size_t) { return w.Direction(4); });

  // Coordinates by joint: quaternions of any length for free and spherical joints, angles, lengths.
  StateArray qpos{"qpos", true, false, {coordinates, config.environments}, {}};
  qpos.values.resize(qs * config.environments);
  for (size_t j = 0; j < all_joints; ++j) {
    for (uint32_t b = 0; b < config.environments; ++b) {
      std::vector<double> q;
      if (joints[j] == Joint::Free) q = w.Vector(1);
      if (joints[j] == Joint::Free || joints[j] == Joint::Spherical) {
        double length = random.In(0.8, 1.25);
        for (double part : w.Direction(4)) q.push_back(part * length);
      }
      if (joints[j] == Joint::Revolute) q = {random.In(-2.5, 2.5)};
      if (joints[j] == Joint::Prismatic) q = {random.In(-0.1, 0.1)};
      for (size_t k = 0; k < q.size(); ++k)
        qpos.values[(static_cast<size_t>(q_start[j]) + k) * config.environments + b] = q[k];
    }
  }
  w.Add(std::move(qpos));
  w.PerEnvironment("dof_vel", dofs, {}, [&](size_t) { return std::vector<double>{random.In(-1, 1)}; });
  w.PerEnvironment("mass_shift", links, {},
                   [&](size_t l) { return std::vector<double>{mass[l] * random.In(-0.1, 0.1)}; });
  w.PerEnvironment("com_shift", links, {3}, [&](size_t) { return w.Vector(0.01); });
  // A fixed root keeps the pose that it is given.
  w.PerEnvironment("pos", links, {3}, [&](size_t l) {
    return fixed[l] != 0 && parent[l] < 0 ? w.Vector(0.5) : std::vector<double>(3, 0.0);
  });
  w.PerEnvironment("quat", links, {4}, [&](size_t l) {
    return fixed[l] != 0 && parent[l] < 0 ? w.Direction(4) : std::vector<double>(4, 0.0);
  });
  w.Zeros("anchor", all_joints, {3});
  w.Zeros("axis", all_joints, {3});
  w.Zeros("dof_pos", dofs, {});
  w.Zeros("com", links, {3});
  w.Zeros("mass_sum", links, {});
  w.Zeros("i_pos", links, {3});
  w.Zeros("i_quat", links, {4});
  w.Zeros("cinr_inertia", links, {3, 3});
  w.Zeros("cinr_pos", links, {3});
  w.Zeros("cinr_mass", links, {});
  w.Zeros("frame_pos", links, {3});
  w.Zeros("frame_quat", links, {4});
  for (const char* name : {"cdof_ang", "cdof_vel", "cdofvel_ang", "cdofvel_vel"}) w.Zeros(name, dofs, {3});
  w.Zeros("geom_pos", geoms, {3});
  w.Zeros("geom_quat", geoms, {4});
  return w.Take();
}

}  // namespace adc::samples
