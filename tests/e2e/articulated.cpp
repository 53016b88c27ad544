// update_cartesian_space the whole way, on a free body, an arm and a tree with every kind of joint: values
// against an independent computation, the gradient against dual numbers and central differences, and what its
// tape takes.

#include "../support/articulated.h"

#include <cmath>

#include "../support/folders.h"
#include "../support/gradient_check.h"
#include "../support/native.h"
#include "../support/state.h"

using namespace adc;
using samples::ArticulatedConfig;
using test::ArticulatedReference, test::Native, test::Program;

namespace {

const std::string kSample = "update_cartesian_space";
const std::string kF64 = adc::test::F64SamplesFolder() + "/" + kSample + ".ir";
const std::string kF32 = adc::test::SamplesFolder() + "/" + kSample + ".ir";
const std::vector<std::string> kInputs{"qpos", "dof_vel", "mass_shift", "com_shift"};
const std::vector<std::string> kOutputs{
    "pos",      "quat",     "anchor",       "axis",        "dof_pos",   "com",       "mass_sum",
    "i_pos",    "i_quat",   "cinr_inertia", "cinr_pos",    "cinr_mass", "frame_pos", "frame_quat",
    "cdof_ang", "cdof_vel", "cdofvel_ang",  "cdofvel_vel", "geom_pos",  "geom_quat"};

std::vector<ArticulatedConfig> Scenes() {
  return {{ArticulatedConfig::Scene::Body, 2, 1, 3},
          {ArticulatedConfig::Scene::Arm, 3, 11, 5},
          {ArticulatedConfig::Scene::Tree, 2, 40, 1},
          {ArticulatedConfig::Scene::Tree, 1, 40, 2}};
}

std::vector<double> Numbers(const interp::Tensor& tensor) {
  std::vector<double> numbers;
  for (int64_t n = 0; n < tensor.ScalarCount(); ++n) numbers.push_back(tensor.Get(n));
  return numbers;
}

/// A scene compiled and interpreted; the value is a weighted sum of outputs.
class Articulated {
 public:
  Articulated(const std::string& path, const ArticulatedConfig& config)
      : state(samples::MakeArticulatedState(config)),
        program(Program::OfFile(path, kSample)),
        native(Compiled(path)) {
    test::SetArguments(*program, state);
    uint64_t random = 7;
    for (const std::string& name : kOutputs) {
      weights_.emplace_back();
      for (int64_t n = 0; n < program->Tensor(name).ScalarCount(); ++n)
        weights_.back().push_back(test::internal::RandomNumber(random));
    }
  }

  /// Only these outputs count from now on.
  void Weigh(const std::vector<std::string>& outputs) { weighed_ = outputs; }

  /// The compiled kernel at a point.
  interp::Arguments Outputs(const test::Point& point) {
    interp::Arguments arguments = At(point);
    native.Run(kSample, arguments);
    return arguments;
  }
  test::Point Start() {
    test::Point point;
    for (const std::string& name : kInputs) point.push_back(Numbers(program->Tensor(name)));
    return point;
  }

  test::GradientProblem Problem() {
    test::GradientProblem problem;
    problem.at = Start();
    problem.value = [this](const test::Point& point) {
      interp::Arguments arguments = Outputs(point);
      return Weighed([&](size_t n) { return Numbers(arguments[n].tensor); });
    };
    problem.tangent = [this](const test::Point& point, const test::Point& along) {
      interp::Arguments arguments = At(point);
      interp::Tangents tangents;
      tangents.list.resize(arguments.list.size());
      for (size_t n = 0; n < along.size(); ++n) tangents[program->Index(kInputs[n])] = along[n];
      REQUIRE(interp::RunDual(program->module(), program->function(), arguments, tangents).Ok());
      return Weighed([&](size_t n) { return tangents[n]; });
    };
    problem.gradient = Gradient();
    return problem;
  }

  test::Point Gradient() {
    std::string name = kSample + ".grad";
    interp::Arguments derived = GradientArguments();
    native.Run(name, derived);
    test::Point gradient;
    for (const std::string& input : kInputs)
      gradient.push_back(Numbers(derived[native.Companion(name, program->Index(input))].tensor));
    return gradient;
  }
  /// The kernel has run; the adjoints of the outputs are the weights.
  interp::Arguments GradientArguments() {
    std::string name = kSample + ".grad";
    interp::Arguments derived = native.DerivedArguments(name, Outputs(Start()));
    for (size_t k = 0; k < kOutputs.size(); ++k) {
      if (!Counts(kOutputs[k])) continue;
      interp::Tensor& seed = derived[native.Companion(name, program->Index(kOutputs[k]))].tensor;
      for (size_t n = 0; n < weights_[k].size(); ++n) seed.Set(static_cast<int64_t>(n), weights_[k][n]);
    }
    return derived;
  }

  double Forward(const test::Point& along) {
    std::string name = kSample + ".jvp";
    interp::Arguments arguments = native.DerivedArguments(name, program->arguments());
    for (size_t n = 0; n < along.size(); ++n) {
      interp::Tensor& tangent = arguments[native.Companion(name, program->Index(kInputs[n]))].tensor;
      for (size_t k = 0; k < along[n].size(); ++k) tangent.Set(static_cast<int64_t>(k), along[n][k]);
    }
    native.Run(name, arguments);
    return Weighed([&](size_t n) { return Numbers(arguments[native.Companion(name, n)].tensor); });
  }

  const std::vector<samples::StateArray> state;
  std::unique_ptr<Program> program;
  Native& native;

 private:
  /// Compiled once for all scenes.
  static Native& Compiled(const std::string& path) {
    static std::map<std::string, Native> compiled;
    return compiled.try_emplace(path, path, 2, true).first->second;
  }
  bool Counts(const std::string& output) const {
    return weighed_.empty() || std::find(weighed_.begin(), weighed_.end(), output) != weighed_.end();
  }
  template <class Get>
  double Weighed(Get get) {
    double sum = 0;
    for (size_t k = 0; k < kOutputs.size(); ++k)
      if (Counts(kOutputs[k])) sum += test::Inner(weights_[k], get(program->Index(kOutputs[k])));
    return sum;
  }
  interp::Arguments At(const test::Point& point) {
    interp::Arguments arguments = program->arguments();
    for (size_t n = 0; n < point.size(); ++n) {
      interp::Tensor& tensor = arguments[program->Index(kInputs[n])].tensor;
      for (size_t k = 0; k < point[n].size(); ++k) tensor.Set(static_cast<int64_t>(k), point[n][k]);
    }
    return arguments;
  }

  test::Point weights_;
  std::vector<std::string> weighed_;
};

/// The largest difference between what a run has stored and the reference.
double ReferenceDifference(Articulated& scene, const interp::Arguments& outputs, size_t environments) {
  double worst = 0;
  auto tensor = [&](const std::string& name) -> const interp::Tensor& {
    return outputs[scene.program->Index(name)].tensor;
  };
  auto compare = [&](const std::string& name, size_t first, const double* want, size_t count) {
    for (size_t k = 0; k < count; ++k) {
      double difference = std::fabs(tensor(name).Get(static_cast<int64_t>(first + k)) - want[k]);
      INFO(name << " " << first + k);
      REQUIRE(std::isfinite(difference));
      worst = std::max(worst, difference);
    }
  };
  for (size_t b = 0; b < environments; ++b) {
    ArticulatedReference reference(scene.state, b);
    for (const auto& [name, things] : reference.vectors)
      for (const auto& [n, v] : things) compare(name, (n * environments + b) * 3, v.data(), 3);
    for (const auto& [name, things] : reference.numbers)
      for (const auto& [n, v] : things) compare(name, n * environments + b, &v, 1);
    for (const auto& [name, things] : reference.matrices)
      for (const auto& [n, m] : things)
        for (size_t row = 0; row < 3; ++row)
          compare(name, (n * environments + b) * 9 + row * 3, m[row].data(), 3);
    for (const auto& [name, things] : reference.rotations) {
      for (const auto& [n, want] : things) {
        std::vector<double> q;
        for (size_t k = 0; k < 4; ++k)
          q.push_back(tensor(name).Get(static_cast<int64_t>((n * environments + b) * 4 + k)));
        ArticulatedReference::M got = ArticulatedReference::Matrix(q);
        double square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
        worst = std::max(worst, std::fabs(square - 1));
        for (size_t i = 0; i < 9; ++i)
          worst = std::max(worst, std::fabs(got[i / 3][i % 3] - want[i / 3][i % 3]));
      }
    }
  }
  return worst;
}

}  // namespace

TEST_CASE("update_cartesian_space: values against another computation", "[articulated]") {
  for (const ArticulatedConfig& config : Scenes()) {
    Articulated scene(kF64, config);
    interp::Arguments outputs = scene.Outputs(scene.Start());
    CHECK(ReferenceDifference(scene, outputs, config.environments) < 1e-13);
    Articulated single(kF32, config);
    outputs = single.Outputs(single.Start());
    CHECK(ReferenceDifference(single, outputs, config.environments) < 1e-5);
  }
}

TEST_CASE("update_cartesian_space: the trees have every kind of joint", "[articulated]") {
  std::vector<samples::StateArray> state = samples::MakeArticulatedState(Scenes()[2]);
  const std::vector<double>& types = samples::FindArray(state, "joint_type").values;
  for (double type : {0.0, 1.0, 2.0, 3.0, 4.0}) CHECK(std::count(types.begin(), types.end(), type) > 0);
  CHECK(samples::FindArray(state, "parent").values.size() == 40);
  const std::vector<double>& start = samples::FindArray(state, "joint_start").values;
  double most = 0;
  for (size_t l = 0; l + 1 < start.size(); ++l) most = std::max(most, start[l + 1] - start[l]);
  CHECK(most == 3);
}

TEST_CASE("update_cartesian_space: gradient", "[articulated]") {
  for (const ArticulatedConfig& config : Scenes()) {
    Articulated scene(kF64, config);
    auto check = [&](uint32_t directions) {
      test::GradientProblem problem = scene.Problem();
      test::GradientCheckOptions options;
      options.step = 1e-4;
      options.directions = directions;
      test::GradientReport report = test::CheckGradient(problem, options);
      INFO("reverse to dual " << report.gradient_to_tangent << ", to differences "
                              << report.gradient_to_differences);
      // The only link of a tree is its centre of mass: cinr_pos is zero there, wherever the link is.
      if (report.largest > 1e-9) {
        CHECK(report.gradient_to_tangent < 1e-11);
        CHECK(report.gradient_to_differences < 1e-6);
      }
      test::Point along = problem.at;
      uint64_t random = 11;
      for (std::vector<double>& part : along)
        for (double& number : part) number = test::internal::RandomNumber(random);
      CHECK(scene.Forward(along) == Approx(problem.tangent(problem.at, along)).epsilon(1e-11).margin(1e-12));
      return report.largest;
    };
    CHECK(check(30) > 0.1);
    // Each output alone, so that nothing hides behind another.
    for (const std::string& output : kOutputs) {
      if (scene.program->Tensor(output).ScalarCount() == 0) continue;
      INFO(output);
      scene.Weigh({output});
      check(2);
    }
  }
}

TEST_CASE("update_cartesian_space: gradient in f32", "[articulated]") {
  for (const ArticulatedConfig& config : Scenes()) {
    Articulated single(kF32, config), twice(kF64, config);
    test::Point a = single.Gradient(), b = twice.Gradient();
    double largest = 0, difference = 0;
    for (size_t n = 0; n < a.size(); ++n) {
      for (size_t k = 0; k < a[n].size(); ++k) {
        largest = std::max(largest, std::fabs(b[n][k]));
        difference = std::max(difference, std::fabs(a[n][k] - b[n][k]));
      }
    }
    CHECK(largest > 0);
    CHECK(difference < 1e-5 * largest);
  }
}

TEST_CASE("update_cartesian_space: the tape holds the joints of one link", "[articulated]") {
  for (const ArticulatedConfig& config : Scenes()) {
    Articulated scene(kF32, config);
    const std::vector<double>& start = samples::FindArray(scene.state, "joint_start").values;
    double joints = 0;
    for (size_t l = 0; l + 1 < start.size(); ++l) joints = std::max(joints, start[l + 1] - start[l]);
    interp::Arguments arguments = scene.GradientArguments();
    Native::Launch launch = scene.native.Plan(kSample + ".grad", arguments);
    adrt_task_report task = launch.Task(0);
    CHECK(task.stack_count <= 8);
    INFO(launch.Report().heap_bytes);
    CHECK(static_cast<double>(task.row_bytes) <= 32 * joints + 8);
  }
}
