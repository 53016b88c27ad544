// mpm_grid_op.cpp: the grid step of a material point simulation that is pushed by a tool and touches rigid
// bodies: the kernel of mpm_grid_op.ir, whose comments describe it.

#include <algorithm>

#include "quaternion.hpp"

template <class T>
struct Mpm {
  using Vec = adc::vec<T, 3>;
  using Cell = adc::vec<int, 3>;
  using Mat = adc::mat<T, 4, 4>;
  template <class E, int rank = 1>
  using Data = adc::readonly<adc::buffer<E, rank>>;
  template <class E, int rank = 2>
  using Input = adc::diff<Data<E, rank>>;
  static constexpr T kEps = T(1e-15), kLeastInfluence = T(0.1), kDelta = T(1e-2);
  static T Length(Vec v) { return std::sqrt(dot(v, v) + kEps); }
  static Vec Unit(Vec v) { return v * (T(1) / Length(v)); }
  static Vec Voxels(Mat m, Vec p) { return Vec(m * adc::vec<T, 4>(p.x, p.y, p.z, T(1))); }
  /// The distance at a point: from the voxels around it, which `at` reads, or `outside()`.
  static T Distance(Vec p, Cell size, Cell bits, auto at, auto outside) {
    const Cell base(floor(p)), last = size - Cell(1);
    for (int k = 0; k < 3; ++k)
      if (base[k] < 0 || base[k] >= last[k]) return outside();
    T sum = 0;
    for (int n = 0; n < 8; ++n) {
      const Cell c = base + Cell(n >> bits.x & 1, n >> bits.y & 1, n >> bits.z & 1);
      const Vec w = Vec(T(1)) - abs(p - Vec(c));
      sum += w.x * w.y * w.z * at(c);
    }
    return sum;
  }
  static Vec Normal(auto distance, Mat to_voxels, Vec p) {
    Vec slope;
    for (int axis = 0; axis < 3; ++axis) {
      Vec ahead = p, behind = p;
      ahead[axis] += kDelta, behind[axis] -= kDelta;
      slope[axis] = (distance(ahead) - distance(behind)) * (T(1) / (kDelta * T(2)));
    }
    return inverse(adc::mat<T, 3, 3>(to_voxels)) * Unit(slope);
  }
  static Vec Slide(Vec relative, Vec normal, T inward, T friction) {
    const Vec along = relative - normal * inward;
    return along * (std::max(Length(along) + inward * friction, T(0)) / Length(along));
  }
  ADC_KERNEL static void mpm_grid_op(
      Input<T, 5> mass, Input<Vec, 5> vel_in, adc::diff<adc::buffer<Vec, 5>> vel_out, Data<Vec> gravity,
      Input<Vec> tool_pos, Input<Quat<T>> tool_quat, Data<T, 3> tool_sdf, Data<Mat, 0> tool_to_voxels,
      Data<int> geom_kind, Data<int> geom_link, Data<int> geom_couples, Data<T> geom_softness,
      Data<T> geom_friction, Data<T> geom_restitution, Input<Vec> geom_pos, Input<Quat<T>> geom_quat,
      Data<Vec> geom_shape, Data<T> geom_sdf, Data<int> geom_sdf_start, Data<Cell> geom_sdf_size,
      Data<T> geom_voxel, Data<Mat> geom_to_voxels, Input<Vec> link_pos, Input<Vec> link_vel,
      Input<Vec> link_ang, adc::buffer<Vec, 2> link_force, adc::buffer<Vec, 2> link_torque, int frame, T dt,
      T dx, Cell offset, Vec low, Vec high, T mass_scale, T tool_friction, T tool_softness) {
    const int nx = mass.extent(1), ny = mass.extent(2), nz = mass.extent(3), environments = mass.extent(4);
    adc::parallel(nx, ny, nz, environments, [&](int i, int j, int k, int b) {
      const T m = mass(frame, i, j, k, b);
      if (!(m > kEps)) return;
      Vec v = vel_in(frame, i, j, k, b) * (T(1) / m) + gravity[b] * dt;
      const Vec pos = Vec(Cell(i, j, k) + offset) * dx;
      const auto tool_distance = [&](Vec q) {
        const Cell size(tool_sdf.extent(0), tool_sdf.extent(1), tool_sdf.extent(2));
        auto at = [&](Cell c) { return tool_sdf(c.x, c.y, c.z); };
        return Distance(q, size, Cell(0, 1, 2), at, [] { return T(1); });
      };
      const auto tool = [&](int f) { return Pose<T>{tool_pos(f, b), tool_quat(f, b)}; };
      const Vec p_tool = tool(frame).Local(pos), spot = Voxels(tool_to_voxels(), p_tool);
      const T gap = tool_distance(spot), grip = std::min(T(1), std::exp(-(gap * (T(1) / tool_softness))));
      if (gap <= 0 || grip > kLeastInfluence) {
        const Vec v_tool = (tool(frame + 1) * p_tool - pos) * (T(1) / dt), relative = v - v_tool;
        const Vec normal = Unit(tool(frame).turn * Normal(tool_distance, tool_to_voxels(), spot));
        const T inward = dot(relative, normal);
        auto slid = [&] { return Slide(relative, normal, inward, tool_friction); };
        if (inward < 0) v = v_tool + (slid() * grip + relative * (T(1) - grip));
      }
      for (int g = 0; g < geom_kind.extent(0); ++g) {
        if (geom_couples[g] == 0) continue;
        const int kind = geom_kind[g], link = geom_link[g];
        const auto grid_distance = [&](Vec q) {
          const Cell s = geom_sdf_size[g];
          auto at = [&](Cell c) { return geom_sdf[geom_sdf_start[g] + ((c.x * s.y + c.y) * s.z + c.z)]; };
          auto outside = [&] { return Length(q - Vec(s) * T(0.5)) * geom_voxel[g]; };
          return Distance(q, s, Cell(2, 1, 0), at, outside);
        };
        const Pose<T> geom{geom_pos(g, b), geom_quat(g, b)};
        const Vec shape = geom_shape[g], p = geom.Local(pos), voxel = Voxels(geom_to_voxels[g], p);
        const T d = kind == 0 ? Length(p) - shape.x : kind == 1 ? dot(p, shape) : grid_distance(voxel);
        const T near = std::min(T(1), std::exp(-d / std::max(geom_softness[g], T(1e-10))));
        if (!(near > kLeastInfluence)) continue;
        auto grid_normal = [&] { return Unit(Normal(grid_distance, geom_to_voxels[g], voxel)); };
        const Vec normal = geom.turn * (kind == 0 ? Unit(p) : kind == 1 ? shape : grid_normal());
        const Vec arm = pos - link_pos(link, b), v_link = link_vel(link, b) + cross(link_ang(link, b), arm);
        const Vec relative = v - v_link;
        const T inward = dot(relative, normal), bounce = -(inward * geom_restitution[g]);
        if (!(inward < 0)) continue;
        const Vec after = Slide(relative, normal, inward, geom_friction[g]) + normal * bounce;
        const Vec hit = v_link + (after * near + relative * (T(1) - near));
        const Vec force = (v - hit) * (m / mass_scale * (T(1) / dt));
        adc::atomic_add(link_force(link, b), force);
        adc::atomic_add(link_torque(link, b), cross(arm, force));
        v = hit;
      }
      for (int a = 0; a < 3; ++a)
        if ((pos[a] >= high[a] && v[a] >= 0) || (pos[a] <= low[a] && v[a] <= 0)) v[a] *= T(-0.0);
      vel_out(frame, i, j, k, b) = v;
    });
  }
};
template struct Mpm<float>;
