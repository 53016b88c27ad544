// The samples, run by the interpreter: what they compute against the same computed here, and their forward
// derivatives against central differences.

#include <cmath>

#include "../support/folders.h"
#include "../support/mpm.h"
#include "../support/program.h"

using namespace adc;
using test::Program;

namespace {

std::string F64(const std::string& name) {
  return adc::test::F64SamplesFolder() + "/" + name;
}
std::string F32(const std::string& name) {
  return adc::test::SamplesFolder() + "/" + name;
}

}  // namespace

TEST_CASE("csr_reduce", "[samples]") {
  for (const std::string& path : {F64("csr_reduce.ir"), F32("csr_reduce.ir")}) {
    auto program = Program::OfFile(path);
    program->Buffer("start", {5}, {0, 3, 3, 4, 9});
    program->Buffer("column", {9}, {0, 2, 1, 3, 0, 1, 2, 3, 0});
    std::vector<double> value, x{0.5, -0.25, 1.0, 0.75};
    for (int k = 0; k < 9; ++k) value.push_back(0.25 * (k % 5) - 0.4);
    program->Buffer("value", {9}, value);
    program->Buffer("x", {4}, x);
    program->Zeros("y", {4});
    interp::RunResult result = program->Run();
    CHECK(result.loops[0].max_trips == 5);
    const int start[] = {0, 3, 3, 4, 9}, column[] = {0, 2, 1, 3, 0, 1, 2, 3, 0};
    for (size_t r = 0; r < 4; ++r) {
      double s = 0;
      for (int k = start[r]; k < start[r + 1]; ++k)
        s = std::tanh(s + value[static_cast<size_t>(k)] * x[static_cast<size_t>(column[k])]);
      CHECK(program->Numbers("y")[r] ==
            Approx(s).epsilon(path == F64("csr_reduce.ir") ? 1e-14 : 1e-5).margin(1e-30));
    }
  }
}

TEST_CASE("cholesky", "[samples]") {
  auto program = Program::OfFile(F64("cholesky.ir"));
  constexpr int64_t kBatch = 3, kSize = 5;
  std::vector<double> a(kBatch * kSize * kSize);
  for (int64_t m = 0; m < kBatch; ++m) {
    for (int64_t i = 0; i < kSize; ++i) {
      for (int64_t j = 0; j < kSize; ++j) {
        double mixed = 1.0 / static_cast<double>(1 + i + j + m);
        a[static_cast<size_t>((m * kSize + i) * kSize + j)] = mixed + (i == j ? 2.0 : 0.0);
      }
    }
  }
  program->Buffer("a", {kBatch, kSize, kSize}, a);
  program->Zeros("l", {kBatch, kSize, kSize});
  program->Run();
  std::vector<double> l = program->Numbers("l");
  for (int64_t m = 0; m < kBatch; ++m) {
    for (int64_t i = 0; i < kSize; ++i) {
      for (int64_t j = 0; j <= i; ++j) {
        double product = 0;
        for (int64_t k = 0; k <= j; ++k)
          product += l[static_cast<size_t>((m * kSize + i) * kSize + k)] *
                     l[static_cast<size_t>((m * kSize + j) * kSize + k)];
        CHECK(product == Approx(a[static_cast<size_t>((m * kSize + i) * kSize + j)]).epsilon(1e-14));
      }
    }
  }
}

TEST_CASE("mpm_grid_op at the sizes of the push test", "[samples]") {
  std::vector<samples::StateArray> state = samples::MakeMpmState({});
  CHECK(samples::FindArray(state, "mass").values.size() == 603720);
  uint64_t passing = samples::CountPassing(state);
  CHECK(passing > 4600);
  CHECK(passing < 5000);
  auto program = Program::OfFile(F32("mpm_grid_op.ir"), "mpm_grid_op");
  test::SetMpmArguments(*program, state);
  program->Run();
  std::vector<double> velocity = program->Numbers("vel_out"), force = program->Numbers("link_force");
  uint64_t moving = 0;
  for (size_t n = 0; n < velocity.size(); n += 3) {
    bool moves = velocity[n] != 0 || velocity[n + 1] != 0 || velocity[n + 2] != 0;
    moving += moves ? 1 : 0;
    for (size_t k = 0; k < 3; ++k) REQUIRE(std::fabs(velocity[n + k]) < 20);
  }
  CHECK(moving <= passing);
  CHECK(moving > passing * 9 / 10);
  // Every geom that couples is pushed.
  for (size_t g = 0; g < 3; ++g) {
    double length = 0;
    for (size_t k = 0; k < 3; ++k) length += force[g * 6 + k] * force[g * 6 + k];
    CHECK(length > 0);
  }
}

TEST_CASE("mpm_grid_op: tangents agree with central differences", "[samples]") {
  struct Size {
    double scale;
    uint32_t geoms, directions;
  };
  for (Size size : {Size{0.25, 5, 50}, Size{0.4, 3, 20}, Size{1, 3, 4}}) {
    samples::MpmStateConfig config;
    config.scale = size.scale;
    config.geoms = size.geoms;
    std::vector<samples::StateArray> state = samples::MakeMpmState(config);
    auto program = Program::OfFile(F64("mpm_grid_op.ir"), "mpm_grid_op");
    test::SetMpmArguments(*program, state);
    interp::Interpreter interpreter(program->module(), program->function());
    interp::Arguments start = program->arguments();
    size_t output = program->Index("vel_out");
    std::vector<double> weight;
    uint64_t random = 7;
    for (int64_t n = 0; n < start[output].tensor.ScalarCount(); ++n)
      weight.push_back(test::internal::RandomNumber(random));
    auto at_point = [&](const test::Point& point) {
      interp::Arguments arguments = start;
      for (size_t n = 0; n < point.size(); ++n) {
        interp::Tensor& tensor = arguments[program->Index(test::MpmInputs()[n])].tensor;
        for (size_t k = 0; k < point[n].size(); ++k) tensor.Set(static_cast<int64_t>(k), point[n][k]);
      }
      return arguments;
    };
    test::GradientProblem problem;
    problem.at = test::MpmPoint(state);
    problem.scale = test::MpmScale(state);
    problem.value = [&](const test::Point& point) {
      interp::Arguments arguments = at_point(point);
      REQUIRE(interpreter.Run(arguments).Ok());
      std::vector<double> result;
      for (int64_t n = 0; n < arguments[output].tensor.ScalarCount(); ++n)
        result.push_back(arguments[output].tensor.Get(n));
      return test::Inner(weight, result);
    };
    problem.tangent = [&](const test::Point& point, const test::Point& along) {
      interp::Arguments arguments = at_point(point);
      interp::Tangents tangents;
      tangents.list.resize(arguments.list.size());
      for (size_t n = 0; n < along.size(); ++n) tangents[program->Index(test::MpmInputs()[n])] = along[n];
      REQUIRE(interpreter.RunDual(arguments, tangents).Ok());
      return test::Inner(weight, tangents[output]);
    };
    test::GradientCheckOptions options;
    options.directions = size.directions;
    options.step = 1e-5;
    test::GradientReport report = test::CheckGradient(problem, options);
    INFO("scale " << size.scale);
    CHECK(report.largest > 0.1);
    CHECK(report.tangent_to_differences < 1e-6);
    // Each input alone contributes.
    for (size_t n = 0; n < problem.at.size(); ++n) {
      test::Point along = problem.scale;
      for (size_t m = 0; m < along.size(); ++m) {
        for (double& v : along[m]) v = m == n ? v : 0.0;
      }
      INFO(test::MpmInputs()[n]);
      CHECK(std::fabs(problem.tangent(problem.at, along)) > 0);
    }
  }
}
