#pragma once
// What update_cartesian_space.ir computes, once more: with matrices instead of quaternions, link by link from
// its root, and without the kernel's loops. Results by name, as the kernel stores them; rotations as
// matrices.

#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "articulated_state.h"

namespace adc::test {

class ArticulatedReference {
 public:
  using V = std::array<double, 3>;
  using M = std::array<V, 3>;

  ArticulatedReference(const std::vector<samples::StateArray>& state, size_t environment)
      : state_(state), b_(environment), environments_(static_cast<size_t>(Of("qpos").extents[1])) {
    for (size_t l = 0; l < Of("parent").values.size(); ++l) Link(l);
    Centres();
    for (size_t l = 0; l < Of("parent").values.size(); ++l) Inertia(l);
    for (size_t g = 0; g < Of("geom_link").values.size(); ++g) {
      size_t l = Int("geom_link", g);
      vectors["geom_pos"][g] = Plus(pos_[l], Times(turn_[l], Fixed("geom_offset", g)));
      rotations["geom_quat"][g] = Times(turn_[l], Matrix(Numbers("geom_turn", g, 4)));
    }
  }

  /// By output and thing; what the kernel does not store is not there.
  std::map<std::string, std::map<size_t, V>> vectors;
  std::map<std::string, std::map<size_t, M>> rotations;  ///< of quaternions
  std::map<std::string, std::map<size_t, M>> matrices;
  std::map<std::string, std::map<size_t, double>> numbers;

  /// The matrix of a quaternion of any length.
  static M Matrix(const std::vector<double>& q) {
    double n = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    double w = q[0], x = q[1], y = q[2], z = q[3];
    return {{{(w * w + x * x - y * y - z * z) / n, 2 * (x * y - w * z) / n, 2 * (x * z + w * y) / n},
             {2 * (x * y + w * z) / n, (w * w - x * x + y * y - z * z) / n, 2 * (y * z - w * x) / n},
             {2 * (x * z - w * y) / n, 2 * (y * z + w * x) / n, (w * w - x * x - y * y + z * z) / n}}};
  }

 private:
  using Joint = samples::Joint;

  static V Plus(V a, V b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
  static V Scaled(V a, double s) { return {a[0] * s, a[1] * s, a[2] * s}; }
  static V Minus(V a, V b) { return Plus(a, Scaled(b, -1)); }
  static V Cross(V a, V b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
  }
  static V Times(const M& m, V v) {
    V r{};
    for (size_t i = 0; i < 3; ++i) r[i] = m[i][0] * v[0] + m[i][1] * v[1] + m[i][2] * v[2];
    return r;
  }
  static M Times(const M& a, const M& b) {
    M r{};
    for (size_t i = 0; i < 3; ++i)
      for (size_t j = 0; j < 3; ++j) r[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j];
    return r;
  }
  static M Transposed(const M& m) {
    M r{};
    for (size_t i = 0; i < 3; ++i)
      for (size_t j = 0; j < 3; ++j) r[i][j] = m[j][i];
    return r;
  }
  static V Column(const M& m, size_t k) { return {m[0][k], m[1][k], m[2][k]}; }
  /// The turn by `angle` about the unit vector `a`: I + sin K + (1 - cos) K^2.
  static M About(V a, double angle) {
    M k{{{0, -a[2], a[1]}, {a[2], 0, -a[0]}, {-a[1], a[0], 0}}}, square = Times(k, k), r{};
    for (size_t i = 0; i < 3; ++i)
      for (size_t j = 0; j < 3; ++j)
        r[i][j] = (i == j ? 1 : 0) + std::sin(angle) * k[i][j] + (1 - std::cos(angle)) * square[i][j];
    return r;
  }
  static V Angles(const M& m) {
    return {std::atan2(m[2][1], m[2][2]), std::asin(-m[2][0]), std::atan2(m[1][0], m[0][0])};
  }

  const samples::StateArray& Of(const std::string& name) const { return samples::FindArray(state_, name); }
  size_t Int(const std::string& name, size_t n) const { return static_cast<size_t>(Of(name).values[n]); }
  std::vector<double> Numbers(const std::string& name, size_t n, size_t count) const {
    auto begin = Of(name).values.begin() + static_cast<std::ptrdiff_t>(n * count);
    return {begin, begin + static_cast<std::ptrdiff_t>(count)};
  }
  V Fixed(const std::string& name, size_t n) const {
    std::vector<double> v = Numbers(name, n, 3);
    return {v[0], v[1], v[2]};
  }
  /// Of this environment.
  V Here(const std::string& name, size_t n) const { return Fixed(name, n * environments_ + b_); }
  double Number(const std::string& name, size_t n) const { return Of(name).values[n * environments_ + b_]; }

  void Link(size_t l) {
    double parent = Of("parent").values[l];
    M turn = Matrix(Numbers("link_turn", l, 4));
    V at = Fixed("link_offset", l);
    if (parent < 0 && Int("fixed", l) != 0) {
      pos_.push_back(Here("pos", l));
      turn_.push_back(Matrix(Numbers("quat", l * environments_ + b_, 4)));
      frame_pos_ = pos_.back(), frame_turn_ = turn_.back();
    } else {
      if (parent >= 0) {
        auto p = static_cast<size_t>(parent);
        at = Plus(pos_[p], Times(turn_[p], at));
        turn = Times(turn_[p], turn);
      }
      frame_pos_ = at, frame_turn_ = turn;
      for (size_t j = Int("joint_start", l); j < Int("joint_start", l + 1); ++j) Move(j, at, turn);
      pos_.push_back(at);
      turn_.push_back(turn);
    }
    vectors["pos"][l] = pos_.back();
    rotations["quat"][l] = turn_.back();
    vectors["frame_pos"][l] = frame_pos_;
    rotations["frame_quat"][l] = frame_turn_;
    V inner = Plus(Fixed("inertial_pos", l), Here("com_shift", l));
    vectors["i_pos"][l] = Plus(pos_[l], Times(turn_[l], inner));
    rotations["i_quat"][l] = Times(turn_[l], Matrix(Numbers("inertial_quat", l, 4)));
  }

  /// Passes joint j.
  void Move(size_t j, V& at, M& turn) {
    auto type = static_cast<Joint>(Int("joint_type", j));
    frame_pos_ = Plus(frame_pos_, Times(frame_turn_, Fixed("joint_pos", j)));
    if (type == Joint::Fixed) return;
    size_t q = Int("q_start", j), d = Int("dof_start", j);
    V lever = Fixed("joint_pos", j), axis = Fixed("joint_axis", j);
    V pivot = Plus(at, Times(turn, lever));
    vectors["anchor"][j] = pivot;
    vectors["axis"][j] = Times(turn, axis);
    auto four = [&](size_t first) {
      std::vector<double> r;
      for (size_t k = 0; k < 4; ++k) r.push_back(Number("qpos", first + k));
      return Matrix(r);
    };
    auto positions = [&](size_t first, V v) {
      for (size_t k = 0; k < 3; ++k) numbers["dof_pos"][first + k] = v[k];
    };
    double value =
        type == Joint::Spherical || type == Joint::Free ? 0 : Number("qpos", q) - Of("qpos0").values[q];
    switch (type) {
      case Joint::Fixed:
        break;
      case Joint::Revolute:
        numbers["dof_pos"][d] = value;
        turn = Times(turn, About(axis, value));
        at = Minus(pivot, Times(turn, lever));
        break;
      case Joint::Prismatic:
        numbers["dof_pos"][d] = value;
        at = Plus(at, Scaled(Times(turn, axis), value));
        break;
      case Joint::Spherical:
        positions(d, Angles(four(q)));
        turn = Times(turn, four(q));
        at = Minus(pivot, Times(turn, lever));
        break;
      case Joint::Free:
        at = {Number("qpos", q), Number("qpos", q + 1), Number("qpos", q + 2)};
        turn = four(q + 3);
        vectors["anchor"][j] = at;
        vectors["axis"][j] = {0, 0, 1};
        positions(d, at);
        positions(d + 3, Angles(turn));
        frame_pos_ = at, frame_turn_ = turn;
        break;
    }
  }

  void Centres() {
    std::map<size_t, double> mass;
    std::map<size_t, V> moment;
    for (size_t l = 0; l < pos_.size(); ++l) {
      double m = Of("mass").values[l] + Number("mass_shift", l);
      mass[Int("root", l)] += m;
      V& sum = moment[Int("root", l)];
      sum = Plus(sum, Scaled(vectors["i_pos"][l], m));
    }
    numbers["mass_sum"] = mass;
    for (size_t l = 0; l < pos_.size(); ++l)
      vectors["com"][l] = Scaled(moment[Int("root", l)], 1 / mass[Int("root", l)]);
  }

  void Inertia(size_t l) {
    double m = Of("mass").values[l] + Number("mass_shift", l);
    V h = Minus(vectors["i_pos"][l], vectors["com"][l]);
    std::vector<double> local = Numbers("inertia", l, 9);
    M i{{{local[0], local[1], local[2]}, {local[3], local[4], local[5]}, {local[6], local[7], local[8]}}};
    const M& r = rotations["i_quat"][l];
    M world = Times(Times(r, i), Transposed(r));
    M k{{{0, -h[2], h[1]}, {h[2], 0, -h[0]}, {-h[1], h[0], 0}}}, square = Times(k, k);
    for (size_t a = 0; a < 3; ++a)
      for (size_t c = 0; c < 3; ++c) world[a][c] -= m * square[a][c];
    matrices["cinr_inertia"][l] = world;
    vectors["cinr_pos"][l] = Scaled(h, m);
    numbers["cinr_mass"][l] = m;
    for (size_t j = Int("joint_start", l); j < Int("joint_start", l + 1); ++j) {
      auto type = static_cast<Joint>(Int("joint_type", j));
      if (type == Joint::Fixed) continue;
      size_t d = Int("dof_start", j);
      V arm = Minus(vectors["com"][l], vectors["anchor"][j]), axis = vectors["axis"][j];
      std::vector<std::pair<V, V>> motions;
      if (type == Joint::Revolute) motions.push_back({axis, Cross(axis, arm)});
      if (type == Joint::Prismatic) motions.push_back({V{}, axis});
      if (type == Joint::Free) motions = {{V{}, V{1, 0, 0}}, {V{}, V{0, 1, 0}}, {V{}, V{0, 0, 1}}};
      if (type == Joint::Free || type == Joint::Spherical)
        for (size_t c = 0; c < 3; ++c)
          motions.push_back({Column(turn_[l], c), Cross(Column(turn_[l], c), arm)});
      for (auto [ang, vel] : motions) {
        vectors["cdof_ang"][d] = ang;
        vectors["cdof_vel"][d] = vel;
        vectors["cdofvel_ang"][d] = Scaled(ang, Number("dof_vel", d));
        vectors["cdofvel_vel"][d] = Scaled(vel, Number("dof_vel", d));
        ++d;
      }
    }
  }

  const std::vector<samples::StateArray>& state_;
  size_t b_, environments_;
  std::vector<V> pos_;
  std::vector<M> turn_;
  V frame_pos_{};
  M frame_turn_{};
};

}  // namespace adc::test
