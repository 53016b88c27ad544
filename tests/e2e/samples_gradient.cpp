// The gradient kernels of the samples, run by the interpreter, against dual numbers and central differences
// along random directions.

#include <cmath>

#include "../support/folders.h"
#include "../support/mpm.h"
#include "../support/program.h"
#include "autodiff/forward.h"
#include "autodiff/reverse.h"
#include "driver/pipeline.h"
#include "ir/module.h"
#include "transform/inline.h"
#include "transform/simplify.h"

using namespace adc;
using test::Program;

namespace {

std::string F64(const std::string& name) {
  return adc::test::F64SamplesFolder() + "/" + name;
}

/// A sample with its gradient and forward kernels.
struct Derived {
  diag::SourceManager sources;
  diag::Diagnostics diagnostics;
  std::unique_ptr<ir::Module> module;
  const ir::Function* gradient = nullptr;
  const ir::Function* forward = nullptr;

  explicit Derived(const std::string& path, const std::string& kernel) {
    module = parse::ParseFile(path, {}, sources, diagnostics);
    REQUIRE(module != nullptr);
    REQUIRE_FALSE(diagnostics.HasErrors());
    REQUIRE(driver::Normalise(*module, diagnostics));
    ir::Function* primal = module->Find(kernel);
    bool derived = autodiff::DeriveReverse(*module, *primal, {}, diagnostics) != nullptr &&
                   autodiff::DeriveForward(*module, *primal, {}, diagnostics) != nullptr;
    INFO(diag::PrintDiagnostics(diagnostics, sources, false));
    REQUIRE(derived);
    for (const char* suffix : {".grad", ".jvp"})
      transform::SimplifyFunction(*module, *module->Find(kernel + suffix), {});
    gradient = module->Find(kernel + ".grad");
    forward = module->Find(kernel + ".jvp");
  }
};

/// Numbers with which a sample is called, and which of its parameters are moved.
struct SampleRun {
  std::string file, kernel, output;
  std::vector<std::string> inputs;
  test::Point scale;
  double step = 1e-6;
  uint32_t directions = 100;
};

void CheckSample(Program& program, const SampleRun& run) {
  Derived derived(F64(run.file), run.kernel);
  const ir::Module& module = program.module();
  const ir::Function& kernel = program.function();
  interp::Arguments start = program.arguments();
  auto position = [&](const std::string& name) { return interp::ParameterIndex(module, kernel, name); };
  uint32_t output = position(run.output);
  auto numbers = [](const interp::Tensor& tensor) {
    std::vector<double> result;
    for (int64_t k = 0; k < tensor.ScalarCount(); ++k) result.push_back(tensor.Get(k));
    return result;
  };
  std::vector<double> weight;
  uint64_t random = 7;
  for (int64_t n = 0; n < start[output].tensor.ScalarCount(); ++n)
    weight.push_back(test::internal::RandomNumber(random));

  interp::Interpreter primal(module, kernel);
  interp::Arguments end = start;
  REQUIRE(primal.Run(end).Ok());
  interp::Arguments arguments = interp::MakeDerivedArguments(*derived.module, *derived.gradient, end);
  interp::Tensor& seed =
      arguments[interp::CompanionIndex(*derived.gradient, ir::ParamRole::Adjoint, output)].tensor;
  for (size_t k = 0; k < weight.size(); ++k) seed.Set(static_cast<int64_t>(k), weight[k]);
  interp::RunResult result = interp::Run(*derived.module, *derived.gradient, arguments);
  INFO(interp::Describe(result.error, derived.sources));
  REQUIRE(result.Ok());

  test::GradientProblem problem;
  problem.scale = run.scale;
  for (const std::string& name : run.inputs) {
    problem.at.push_back(numbers(start[position(name)].tensor));
    problem.gradient.push_back(numbers(
        arguments[interp::CompanionIndex(*derived.gradient, ir::ParamRole::Adjoint, position(name))].tensor));
    double size = 0;
    for (double g : problem.gradient.back()) size += std::fabs(g);
    INFO(name);
    CHECK(size > 0);
  }
  auto at_point = [&](const test::Point& point) {
    interp::Arguments moved = start;
    for (size_t n = 0; n < point.size(); ++n) {
      interp::Tensor& tensor = moved[position(run.inputs[n])].tensor;
      for (size_t k = 0; k < point[n].size(); ++k) tensor.Set(static_cast<int64_t>(k), point[n][k]);
    }
    return moved;
  };
  problem.value = [&](const test::Point& point) {
    interp::Arguments moved = at_point(point);
    REQUIRE(primal.Run(moved).Ok());
    return test::Inner(weight, numbers(moved[output].tensor));
  };
  problem.tangent = [&](const test::Point& point, const test::Point& along) {
    interp::Arguments moved = at_point(point);
    interp::Tangents tangents;
    tangents.list.resize(moved.list.size());
    for (size_t n = 0; n < along.size(); ++n) tangents[position(run.inputs[n])] = along[n];
    REQUIRE(primal.RunDual(moved, tangents).Ok());
    return test::Inner(weight, tangents[output]);
  };
  test::GradientCheckOptions options;
  options.directions = run.directions;
  options.step = run.step;
  test::GradientReport report = test::CheckGradient(problem, options);
  INFO(run.file << ": reverse to dual " << report.gradient_to_tangent << ", to differences "
                << report.gradient_to_differences);
  CHECK(report.largest > 0.01);
  CHECK(report.gradient_to_tangent < 1e-12);
  CHECK(report.gradient_to_differences < 1e-6);

  // The derived forward kernel pushes the same direction.
  interp::Interpreter forward(*derived.module, *derived.forward);
  test::Point along = problem.at;
  for (size_t n = 0; n < along.size(); ++n)
    for (size_t k = 0; k < along[n].size(); ++k)
      along[n][k] = (run.scale.empty() ? 1.0 : run.scale[n][k]) * test::internal::RandomNumber(random);
  interp::Arguments pushed = interp::MakeDerivedArguments(*derived.module, *derived.forward, start);
  for (size_t n = 0; n < along.size(); ++n) {
    interp::Tensor& tangent =
        pushed[interp::CompanionIndex(*derived.forward, ir::ParamRole::Tangent, position(run.inputs[n]))]
            .tensor;
    for (size_t k = 0; k < along[n].size(); ++k) tangent.Set(static_cast<int64_t>(k), along[n][k]);
  }
  result = forward.Run(pushed);
  INFO(interp::Describe(result.error, derived.sources));
  REQUIRE(result.Ok());
  size_t companion = interp::CompanionIndex(*derived.forward, ir::ParamRole::Tangent, output);
  double found = test::Inner(weight, numbers(pushed[companion].tensor));
  CHECK(found == Approx(problem.tangent(problem.at, along)).epsilon(1e-12));
}

}  // namespace

TEST_CASE("relax: gradient", "[samples]") {
  auto program = Program::OfFile(F64("relax.ir"));
  std::vector<double> x;
  for (int k = 0; k < 17; ++k) x.push_back(0.1 * k - 0.6);
  program->Buffer("x", {17}, x);
  program->Zeros("loss", {});
  program->Number("n", 5);
  CheckSample(*program, {"relax.ir", "relax", "loss", {"x"}, {}});
}

TEST_CASE("csr_reduce: gradient", "[samples]") {
  auto program = Program::OfFile(F64("csr_reduce.ir"));
  program->Buffer("start", {5}, {0, 3, 3, 4, 9});
  program->Buffer("column", {9}, {0, 2, 1, 3, 0, 1, 2, 3, 0});
  std::vector<double> value;
  for (int k = 0; k < 9; ++k) value.push_back(0.25 * (k % 5) - 0.4);
  program->Buffer("value", {9}, value);
  program->Buffer("x", {4}, {0.5, -0.25, 1.0, 0.75});
  program->Zeros("y", {4});
  CheckSample(*program, {"csr_reduce.ir", "csr_reduce", "y", {"value", "x"}, {}});
}

TEST_CASE("cholesky: gradient", "[samples]") {
  auto program = Program::OfFile(F64("cholesky.ir"));
  constexpr int64_t kBatch = 3, kSize = 5;
  std::vector<double> a;
  for (int64_t m = 0; m < kBatch; ++m)
    for (int64_t i = 0; i < kSize; ++i)
      for (int64_t j = 0; j < kSize; ++j)
        a.push_back(1.0 / static_cast<double>(1 + i + j + m) + (i == j ? 2.0 : 0.0));
  program->Buffer("a", {kBatch, kSize, kSize}, a);
  program->Zeros("l", {kBatch, kSize, kSize});
  CheckSample(*program, {"cholesky.ir", "cholesky", "l", {"a"}, {}});
}

TEST_CASE("mpm_grid_op: gradient of every input", "[samples]") {
  samples::MpmStateConfig config;
  config.scale = 0.25;
  config.geoms = 5;
  std::vector<samples::StateArray> state = samples::MakeMpmState(config);
  auto program = Program::OfFile(F64("mpm_grid_op.ir"), "mpm_grid_op");
  test::SetMpmArguments(*program, state);
  CheckSample(*program,
              {"mpm_grid_op.ir", "mpm_grid_op", "vel_out", test::MpmInputs(), test::MpmScale(state), 3e-6});
}
