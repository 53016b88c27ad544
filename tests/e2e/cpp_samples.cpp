// The samples in C++ on the host against the kernels that adc made of them; of the grid step the gradient as
// well, against that of mpm_grid_op.ir and against forward mode. The bundle of all samples is the first
// argument, that of mpm_grid_op.ir the second.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numbers>
#include <tuple>

#include "cpp/mpm_grid_op.cpp"
#include "cpp_bundle.h"
#include "mpm_state.h"

// Each in a namespace: their types have the same names.
namespace relaxing {
#include "cpp/relax.cpp"
}
namespace reducing {
#include "cpp/csr_reduce.cpp"
}
namespace factoring {
#include "cpp/cholesky.cpp"
}
namespace fluid {
#include "cpp/sph_density.cpp"
}
namespace cloth {
#include "cpp/cloth_springs.cpp"
}
namespace network {
#include "cpp/mlp.cpp"
}
namespace control {
#include "cpp/pd_rollout.cpp"
}
namespace robot {
#include "cpp/forward_kinematics.cpp"
}

using namespace adc::test;

namespace {

int failures = 0;

double Random() {
  static uint64_t state = 11;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return static_cast<double>(state >> 40) / (1 << 23) - 1;
}

template <class T>
struct Shape {
  using Number = T;
  static constexpr uint32_t kRows = 0, kColumns = 0;
};
template <class T, int N>
struct Shape<adc::vec<T, N>> {
  using Number = T;
  static constexpr uint32_t kRows = N, kColumns = 0;
};
template <class T, int R, int C>
struct Shape<adc::mat<T, R, C>> {
  using Number = T;
  static constexpr uint32_t kRows = R, kColumns = C;
};
template <class T>
struct Shape<Quat<T>> {  // a struct: its numbers on an axis of their own
  using Number = T;
  static constexpr uint32_t kRows = 0, kColumns = 0;
};

template <class Number>
constexpr uint32_t TypeOf() {
  return std::is_same_v<Number, float> ? ADRT_TYPE_F32
         : std::is_same_v<Number, int> ? ADRT_TYPE_I32
                                       : ADRT_TYPE_F64;
}

/// Numbers relative to the largest.
template <class Number>
void Compare(const std::string& kernel, const std::string& what, const std::vector<Number>& got,
             const std::vector<Number>& wanted, double tolerance) {
  double largest = 0, difference = 0;
  for (size_t n = 0; n < got.size(); ++n) {
    largest = std::max(largest, std::fabs(static_cast<double>(wanted[n])));
    difference =
        std::max(difference, std::fabs(static_cast<double>(got[n]) - static_cast<double>(wanted[n])));
  }
  if (difference <= tolerance * largest) return;
  std::printf("%s: %s differs by %g of %g\n", kernel.c_str(), what.c_str(), difference, largest);
  ++failures;
}

/// A buffer twice: for the host's function and for the compiled kernel.
template <class T, int rank>
struct Field {
  using Number = typename Shape<T>::Number;
  static constexpr size_t kNumbers = sizeof(T) / sizeof(Number);

  std::string name;
  std::vector<int64_t> extents;
  std::vector<Number> numbers, on_host, start;

  Field(std::string the_name, std::vector<int64_t> the_extents, double low, double high)
      : name(std::move(the_name)), extents(std::move(the_extents)) {
    size_t count = kNumbers;
    for (int64_t extent : extents) count *= static_cast<size_t>(extent);
    for (size_t n = 0; n < count; ++n)
      numbers.push_back(static_cast<Number>(low + (high - low) * (Random() + 1) / 2));
    start = on_host = numbers;
  }
  Field(std::string the_name, std::vector<int64_t> the_extents, std::vector<Number> the_numbers)
      : name(std::move(the_name)),
        extents(std::move(the_extents)),
        numbers(std::move(the_numbers)),
        on_host(numbers),
        start(numbers) {}
  explicit Field(const adc::samples::StateArray& state)
      : name(state.name), extents(state.extents.begin(), state.extents.begin() + rank) {
    for (double v : state.values) numbers.push_back(static_cast<Number>(v));
    start = on_host = numbers;
  }

  adc::buffer<T, rank> Host() {
    auto at = [&](int axis) { return static_cast<int>(extents[static_cast<size_t>(axis)]); };
    return [&]<int... axes>(std::integer_sequence<int, axes...>) {
      return adc::buffer<T, rank>(reinterpret_cast<T*>(on_host.data()), at(axes)...);
    }(std::make_integer_sequence<int, rank>());
  }
  adrt_arg Argument(const char* as, std::vector<Number>& data) const {
    adrt_arg arg = Memory(as, TypeOf<Number>(), data.data(), {});
    for (int64_t extent : extents) arg.extents[arg.rank++] = extent;
    arg.rows = Shape<T>::kRows;
    arg.columns = Shape<T>::kColumns;
    if (arg.rows == 0 && kNumbers > 1) arg.extents[arg.rank++] = kNumbers;
    return arg;
  }
  void Append(std::vector<adrt_arg>& list) { list.push_back(Argument(name.c_str(), numbers)); }
  void Check(const std::string& kernel, double tolerance) const {
    Compare(kernel, name, numbers, on_host, tolerance);
  }
  bool Moved() const { return start != on_host; }
};

/// A parameter by value.
template <class T>
struct Value {
  using Number = typename Shape<T>::Number;
  std::string name;
  T value;

  T Host() const { return value; }
  void Append(std::vector<adrt_arg>& list) {
    adrt_arg arg = Scalar(name.c_str(), TypeOf<Number>(), &value);
    arg.rows = Shape<T>::kRows;
    list.push_back(arg);
  }
  void Check(const std::string&, double) const {}
  bool Moved() const { return false; }
};
template <class T>
Value(const char*, T) -> Value<T>;
/// A struct by value: its members are parameters.
template <class T, class... Members>
struct Struct {
  T value;
  std::tuple<Members...> members;

  T Host() const { return value; }
  void Append(std::vector<adrt_arg>& list) {
    std::apply([&](auto&... member) { (member.Append(list), ...); }, members);
  }
  void Check(const std::string&, double) const {}
  bool Moved() const { return false; }
};

template <class Call, class... Parameters>
void Sample(Kernels& kernels, const std::string& name, Call call, double tolerance,
            Parameters&&... parameters) {
  std::vector<adrt_arg> list;
  (parameters.Append(list), ...);
  call(parameters.Host()...);
  kernels.Run(name, list);
  (parameters.Check(name, tolerance), ...);
  if ((parameters.Moved() || ...)) return;
  std::printf("%s: nothing was written\n", name.c_str());
  ++failures;
}

using Vec = adc::vec<float, 3>;
using Real = float;

/// The .ir has a vector where the C++ has a struct of four numbers.
void OfTheIr(adrt_arg& arg) {
  if (std::strcmp(arg.name, "tool_quat") != 0 && std::strcmp(arg.name, "geom_quat") != 0) return;
  arg.extents[--arg.rank] = 0;
  arg.rows = 4;
}

/// The grid step: values, then gradients.
void GridStep(Kernels& kernels, Kernels& ir) {
  adc::samples::MpmStateConfig config;
  config.scale = 0.2;
  config.pass_fraction = 0.1;
  const std::vector<adc::samples::StateArray> state = adc::samples::MakeMpmState(config);
  auto named = [&](const char* name) -> const adc::samples::StateArray& {
    return adc::samples::FindArray(state, name);
  };
  auto number = [&](const char* name) {
    return Value<float>{name, static_cast<float>(named(name).values[0])};
  };
  auto vector = [&](const char* name) {
    const std::vector<double>& v = named(name).values;
    return Value<Vec>{name, Vec(adc::vec<double, 3>(v[0], v[1], v[2]))};
  };
  const std::vector<double>& offset = named("offset").values;
  using Mat = adc::mat<float, 4, 4>;
  using Cell = adc::vec<int, 3>;
  auto parameters = std::tuple(
      Field<Real, 5>(named("mass")), Field<Vec, 5>(named("vel_in")), Field<Vec, 5>(named("vel_out")),
      Field<Vec, 1>(named("gravity")), Field<Vec, 2>(named("tool_pos")),
      Field<Quat<Real>, 2>(named("tool_quat")), Field<Real, 3>(named("tool_sdf")),
      Field<Mat, 0>(named("tool_to_voxels")), Field<int, 1>(named("geom_kind")),
      Field<int, 1>(named("geom_link")), Field<int, 1>(named("geom_couples")),
      Field<Real, 1>(named("geom_softness")), Field<Real, 1>(named("geom_friction")),
      Field<Real, 1>(named("geom_restitution")), Field<Vec, 2>(named("geom_pos")),
      Field<Quat<Real>, 2>(named("geom_quat")), Field<Vec, 1>(named("geom_shape")),
      Field<Real, 1>(named("geom_sdf")), Field<int, 1>(named("geom_sdf_start")),
      Field<Cell, 1>(named("geom_sdf_size")), Field<Real, 1>(named("geom_voxel")),
      Field<Mat, 1>(named("geom_to_voxels")), Field<Vec, 2>(named("link_pos")),
      Field<Vec, 2>(named("link_vel")), Field<Vec, 2>(named("link_ang")), Field<Vec, 2>(named("link_force")),
      Field<Vec, 2>(named("link_torque")), Value<int>{"frame", static_cast<int>(named("frame").values[0])},
      number("dt"), number("dx"),
      Value<Cell>{"offset", Cell(adc::vec<double, 3>(offset[0], offset[1], offset[2]))}, vector("low"),
      vector("high"), number("mass_scale"), number("tool_friction"), number("tool_softness"));
  std::apply(
      [&](auto&... parameter) {
        Sample(kernels, "mpm_grid_op", Mpm<float>::mpm_grid_op, 1e-5, parameter...);
      },
      parameters);
  // The same operations as the .ir: the same bits.
  auto& velocity = std::get<2>(parameters);
  const std::vector<float> of_cpp = velocity.numbers;
  velocity.numbers = velocity.start;
  std::vector<adrt_arg> list;
  std::apply([&](auto&... parameter) { (parameter.Append(list), ...); }, parameters);
  for (adrt_arg& arg : list) OfTheIr(arg);
  ir.Run("mpm_grid_op", list);
  if (std::memcmp(of_cpp.data(), velocity.numbers.data(), of_cpp.size() * sizeof(float)) != 0) {
    std::printf("mpm_grid_op: C++ and IR differ in bits\n");
    ++failures;
  }
  // Gradients: companions of the differentiable parameters; those of vel_out are weights.
  constexpr const char* kInputs[] = {"mass",      "vel_in",   "tool_pos", "tool_quat", "geom_pos",
                                     "geom_quat", "link_pos", "link_vel", "link_ang"};
  auto is_input = [&](const std::string& name) {
    return std::any_of(std::begin(kInputs), std::end(kInputs), [&](const char* one) { return name == one; });
  };
  auto derived = [&](Kernels& of, const std::string& suffix, const std::vector<std::vector<float>>& start,
                     bool quats) {
    std::vector<std::vector<float>> companions = start;
    std::vector<std::string> names;
    names.reserve(start.size());
    std::vector<adrt_arg> list;
    std::apply([&](auto&... parameter) { (parameter.Append(list), ...); }, parameters);
    size_t at = 0, count = list.size();
    for (size_t n = 0; n < count; ++n) {
      if (!quats) OfTheIr(list[n]);
      if (!is_input(list[n].name) && std::strcmp(list[n].name, "vel_out") != 0) continue;
      names.push_back(std::string(list[n].name) + suffix);
      adrt_arg companion = list[n];
      companion.name = names.back().c_str();
      companion.data = companions[at++].data();
      list.push_back(companion);
    }
    of.Run("mpm_grid_op" + std::string(suffix == ".adj" ? ".grad" : ".jvp"), list);
    return companions;
  };
  std::vector<std::vector<float>> zeros, weights, tangents;
  auto add = [&](const auto& parameter) {
    if constexpr (requires { parameter.on_host; }) {
      bool output = parameter.name == "vel_out";
      if (!output && !is_input(parameter.name)) return;
      std::vector<float> random, scaled;
      for (auto v : parameter.numbers) {
        random.push_back(static_cast<float>(Random()));
        scaled.push_back(output ? 0.0f : static_cast<float>(v) * static_cast<float>(Random()));
      }
      zeros.emplace_back(random.size(), 0.0f);
      weights.push_back(output ? random : zeros.back());
      tangents.push_back(scaled);
    }
  };
  std::apply([&](const auto&... parameter) { (add(parameter), ...); }, parameters);
  std::vector<std::vector<float>> adjoints = derived(kernels, ".adj", weights, true);
  std::vector<std::vector<float>> wanted = derived(ir, ".adj", weights, false);
  std::vector<std::vector<float>> moved = derived(kernels, ".tan", tangents, true);
  double reverse = 0, forward = 0, size = 0;
  for (size_t n = 0; n < adjoints.size(); ++n) {
    Compare("mpm_grid_op.grad", "companion " + std::to_string(n), adjoints[n], wanted[n], 2e-5);
    for (size_t k = 0; k < adjoints[n].size(); ++k) {
      bool output = n == 2;
      double one = output ? 0 : static_cast<double>(adjoints[n][k]) * tangents[n][k];
      reverse += one;
      size += std::fabs(one);
      if (output) forward += static_cast<double>(weights[n][k]) * moved[n][k];
    }
  }
  if (size == 0 || std::fabs(reverse - forward) > 1e-4 * size) {
    std::printf("mpm_grid_op: reverse %g, forward %g\n", reverse, forward);
    ++failures;
  }
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) return 2;
  Kernels kernels(words[1]), ir(words[2]);
  Sample(kernels, "relax", relaxing::relax, 1e-6, Field<float, 1>("x", {50}, -1, 2),
         Field<float, 0>("loss", {}, 0, 0), Value{"n", 9});
  Sample(kernels, "csr_reduce", reducing::csr_reduce, 1e-6, Field<int, 1>("start", {5}, {0, 2, 5, 5, 9}),
         Field<int, 1>("column", {9}, {0, 1, 2, 0, 3, 1, 2, 3, 0}), Field<float, 1>("value", {9}, -1, 1),
         Field<float, 1>("x", {4}, -1, 1), Field<float, 1>("y", {4}, 0, 0));
  std::vector<float> matrices;
  for (int m = 0; m < 3; ++m)
    for (int k = 0; k < 25; ++k)
      matrices.push_back(k % 6 == 0 ? 4.0f : 0.4f * std::cos(static_cast<float>(k % 5 * (k / 5))));
  Sample(kernels, "cholesky", factoring::cholesky, 1e-6, Field<float, 3>("a", {3, 5, 5}, matrices),
         Field<float, 3>("l", {3, 5, 5}, 0, 0));
  Sample(kernels, "sph_density", fluid::sph_density, 1e-5, Field<int, 1>("start", {4}, {0, 2, 3, 4}),
         Field<int, 1>("neighbour", {4}, {1, 2, 0, 0}), Field<Vec, 1>("position", {3}, -1, 1),
         Field<float, 1>("density", {3}, 0, 0), Field<float, 0>("loss", {}, 0, 0), Value{"mass", 0.5f},
         Value{"h", 3.0f}, Value{"at_rest", 1.0f});
  using Spring = Struct<cloth::Spring, Value<float>, Value<float>>;
  Sample(kernels, "cloth_springs", cloth::cloth_springs, 1e-5, Field<Vec, 2>("position", {3, 4}, -1, 1),
         Field<Vec, 2>("velocity", {3, 4}, -1, 1), Field<Vec, 2>("force", {3, 4}, 0, 0),
         Spring{{2.0f, 0.3f}, {Value{"spring.stiffness", 2.0f}, Value{"spring.damping", 0.3f}}},
         Value{"stiffness", 1.0f}, Value{"rest", 0.5f}, Value{"gravity", Vec(0, -9, 0)});
  Sample(kernels, "mlp", network::mlp, 1e-5, Field<float, 2>("input", {3, 2}, -1, 1),
         Field<float, 1>("wanted", {3}, -1, 1), Field<float, 2>("w1", {6, 3}, -1, 1),
         Field<float, 2>("w2", {6, 7}, -1, 1), Field<float, 2>("w3", {1, 7}, -1, 1),
         Field<float, 0>("loss", {}, 0, 0));
  using Gains = Struct<control::Gains<double>, Value<double>, Value<double>, Value<double>>;
  Sample(
      kernels, "pd_rollout_double", control::pd_rollout<double>, 1e-11, Field<double, 1>("start", {3}, -1, 1),
      Field<double, 1>("target", {3}, -1, 1), Field<double, 0>("loss", {}, 0, 0),
      Gains{{3.0, 0.7, 50.0},
            {Value{"gains.proportional", 3.0}, Value{"gains.derivative", 0.7}, Value{"gains.limit", 50.0}}},
      Value{"steps", 40}, Value{"dt", 0.01});
  Sample(kernels, "forward_kinematics", robot::forward_kinematics, 1e-5,
         Field<int, 1>("parent", {3}, {-1, 0, 1}), Field<Vec, 1>("axis", {3}, -1, 1),
         Field<Vec, 1>("offset", {3}, -1, 1), Field<float, 2>("angle", {2, 3}, -1, 1),
         Field<Vec, 2>("position", {2, 3}, 0, 0), Field<adc::vec<float, 4>, 2>("rotation", {2, 3}, 0, 0));
  GridStep(kernels, ir);
  std::printf("9 samples, %d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
