// Hessian-vector products of every sample, by forward over reverse: symmetric, and the central difference of
// the gradient. (The one kernel that works in place, @step of chain.ir, saves values, which second
// derivatives do not go with: E0452.)
//
// What is differentiated is the inner product of all differentiable parameters, as the kernel leaves them,
// with fixed weights, as a function of all of them before it ran. `k.grad.jvp` runs on the buffers and
// tangents that `k.jvp` left.

#include <cmath>
#include <map>

#include "../support/folders.h"
#include "../support/mpm.h"
#include "articulated_state.h"
#include "autodiff/forward.h"
#include "autodiff/reverse.h"
#include "driver/pipeline.h"
#include "ir/module.h"
#include "transform/inline.h"
#include "transform/scalarise.h"
#include "transform/simplify.h"

using namespace adc;
using test::Program;

namespace {

using Point = std::vector<std::vector<double>>;  // by differentiable parameter

/// The path of a sample, in f64.
std::string Sample(const std::string& file) {
  return adc::test::F64SamplesFolder() + "/" + file;
}

class SecondOrder {
 public:
  SecondOrder(Program& program, const std::string& path, const std::string& kernel)
      : start_(program.arguments()) {
    module_ = parse::ParseFile(path, {}, sources_, diagnostics_);
    REQUIRE(module_ != nullptr);
    REQUIRE(driver::Normalise(*module_, diagnostics_));
    ir::Function* primal = module_->Find(kernel);
    autodiff::ReverseConfig reverse;
    reverse.reread_stored = false;
    ir::Function* gradient = autodiff::DeriveReverse(*module_, *primal, reverse, diagnostics_);
    REQUIRE(gradient != nullptr);
    REQUIRE(transform::Inline(*module_, {}, diagnostics_));
    REQUIRE(transform::Scalarise(*module_, {}, diagnostics_));
    primal_ = module_->Find(kernel);
    gradient_ = module_->Find(kernel + ".grad");
    forward_ = autodiff::DeriveForward(*module_, *module_->Find(kernel), {}, diagnostics_);
    second_ = autodiff::DeriveForward(*module_, *module_->Find(kernel + ".grad"), {}, diagnostics_);
    INFO(diag::PrintDiagnostics(diagnostics_, sources_, false));
    REQUIRE((forward_ != nullptr && second_ != nullptr));
    for (const char* suffix : {".grad", ".jvp", ".grad.jvp"})
      transform::SimplifyFunction(*module_, *module_->Find(kernel + suffix), {});
    uint64_t random = 3;
    for (uint32_t n = 0; n < start_.list.size(); ++n) {
      if (interp::CompanionIndex(*gradient_, ir::ParamRole::Adjoint, n) == ir::kNoAttr) continue;
      REQUIRE(start_[n].bits.empty());  // the samples differentiate buffers
      params_.push_back(n);
      weights_.emplace_back();
      for (int64_t k = 0; k < start_[n].tensor.ScalarCount(); ++k)
        weights_.back().push_back(test::internal::RandomNumber(random));
    }
  }

  Point At() const {
    Point at;
    for (uint32_t n : params_) at.push_back(Numbers(start_[n].tensor));
    return at;
  }

  std::string NameOf(size_t place) const {
    return std::string(module_->Text((*primal_)[primal_->Params()[params_[place]]].name));
  }

  Point Gradient(const Point& at) {
    interp::Arguments moved = Moved(at);
    Run(*primal_, moved);
    interp::Arguments arguments = interp::MakeDerivedArguments(*module_, *gradient_, moved);
    for (size_t n = 0; n < params_.size(); ++n) Set(arguments[AdjointOf(params_[n])], weights_[n]);
    Run(*gradient_, arguments);
    Point gradient;
    for (uint32_t n : params_) gradient.push_back(Numbers(arguments[AdjointOf(n)].tensor));
    return gradient;
  }

  Point Product(const Point& at, const Point& along) {
    interp::Arguments pushed = interp::MakeDerivedArguments(*module_, *forward_, Moved(at));
    for (size_t n = 0; n < params_.size(); ++n) Set(pushed[TangentOf(*forward_, params_[n])], along[n]);
    Run(*forward_, pushed);
    interp::Arguments left = start_;
    for (size_t n = 0; n < left.list.size(); ++n) left[n] = pushed[n];
    interp::Arguments arguments = interp::MakeDerivedArguments(*module_, *gradient_, left);
    for (size_t n = 0; n < params_.size(); ++n) Set(arguments[AdjointOf(params_[n])], weights_[n]);
    size_t shared = gradient_->params.size();
    interp::Arguments twice = interp::MakeArguments(*module_, *second_);
    for (size_t n = 0; n < shared; ++n) {
      if (gradient_->params[n].role == ir::ParamRole::Plain ||
          gradient_->params[n].role == ir::ParamRole::Adjoint)
        twice[n] = arguments[n];
    }
    for (size_t n = 0; n < second_->params.size(); ++n) {
      const ir::ParamInfo& info = second_->params[n];
      if (info.role == ir::ParamRole::Tangent)
        twice[n].tensor = interp::Tensor::Zeros(second_->TypeOf(second_->Params()[n]).Element(),
                                                twice[info.companion_of].tensor.extents);
    }
    for (uint32_t n : params_) twice[TangentOf(*second_, n)] = pushed[TangentOf(*forward_, n)];
    Run(*second_, twice);
    Point product;
    for (uint32_t n : params_) product.push_back(Numbers(twice[TangentOf(*second_, AdjointOf(n))].tensor));
    return product;
  }

 private:
  static std::vector<double> Numbers(const interp::Tensor& tensor) {
    std::vector<double> numbers;
    for (int64_t k = 0; k < tensor.ScalarCount(); ++k) numbers.push_back(tensor.Get(k));
    return numbers;
  }
  static void Set(interp::Argument& argument, const std::vector<double>& numbers) {
    for (size_t k = 0; k < numbers.size(); ++k) argument.tensor.Set(static_cast<int64_t>(k), numbers[k]);
  }
  interp::Arguments Moved(const Point& at) const {
    interp::Arguments moved = start_;
    for (size_t n = 0; n < params_.size(); ++n) Set(moved[params_[n]], at[n]);
    return moved;
  }
  uint32_t AdjointOf(uint32_t n) const {
    return interp::CompanionIndex(*gradient_, ir::ParamRole::Adjoint, n);
  }
  static uint32_t TangentOf(const ir::Function& kernel, uint32_t n) {
    return interp::CompanionIndex(kernel, ir::ParamRole::Tangent, n);
  }
  void Run(const ir::Function& kernel, interp::Arguments& arguments) {
    interp::RunResult result = interp::Run(*module_, kernel, arguments);
    INFO(interp::Describe(result.error, sources_));
    REQUIRE(result.Ok());
  }

  diag::SourceManager sources_;
  diag::Diagnostics diagnostics_;
  std::unique_ptr<ir::Module> module_;
  const ir::Function* primal_ = nullptr;
  const ir::Function* gradient_ = nullptr;
  const ir::Function* forward_ = nullptr;
  const ir::Function* second_ = nullptr;
  interp::Arguments start_;
  std::vector<uint32_t> params_;
  Point weights_;
};

double Inner(const Point& a, const Point& b) {
  double sum = 0;
  for (size_t n = 0; n < a.size(); ++n)
    for (size_t k = 0; k < a[n].size(); ++k) sum += a[n][k] * b[n][k];
  return sum;
}

double Size(const Point& a) {
  return std::sqrt(Inner(a, a));
}

Point Plus(const Point& a, double by, const Point& b) {
  Point sum = a;
  for (size_t n = 0; n < a.size(); ++n)
    for (size_t k = 0; k < a[n].size(); ++k) sum[n][k] += by * b[n][k];
  return sum;
}

/// `scale`: how far numbers of a parameter may move, where that is not 1.
void CheckHessian(SecondOrder& second, double step,
                  const std::map<std::string, std::vector<double>>& scale = {}) {
  Point at = second.At();
  uint64_t random = 23;
  auto direction = [&] {
    Point along = at;
    for (size_t n = 0; n < along.size(); ++n) {
      auto found = scale.find(second.NameOf(n));
      for (size_t k = 0; k < along[n].size(); ++k)
        along[n][k] = (found == scale.end() ? 1.0 : found->second[k]) * test::internal::RandomNumber(random);
    }
    return along;
  };
  for (int round = 0; round < 3; ++round) {
    Point u = direction(), v = direction();
    Point hu = second.Product(at, u), hv = second.Product(at, v);
    double left = Inner(u, hv), right = Inner(v, hu);
    double size = Size(u) * Size(hv) + Size(v) * Size(hu);
    INFO("u.Hv " << left << ", v.Hu " << right << ", of " << size);
    CHECK(size > 1e-6);
    CHECK(std::fabs(left - right) <= 1e-12 * size);
    Point plus = second.Gradient(Plus(at, step, v)), minus = second.Gradient(Plus(at, -step, v));
    double difference = Inner(u, Plus(plus, -1, minus)) / (2 * step);
    INFO("u.(difference of gradients) " << difference);
    CHECK(std::fabs(left - difference) <= 1e-6 * std::max(std::fabs(left), 1e-2 * size));
  }
}

/// `count` numbers around `middle`, at most `spread` away.
std::vector<double> Scattered(size_t count, double middle, double spread, uint64_t seed) {
  std::vector<double> numbers;
  for (size_t n = 0; n < count; ++n) numbers.push_back(middle + spread * test::internal::RandomNumber(seed));
  return numbers;
}

/// Matrices of 3 by 3 near the unit matrix.
std::vector<double> NearUnit(size_t count, double spread, uint64_t seed) {
  std::vector<double> numbers = Scattered(9 * count, 0, spread, seed);
  for (size_t n = 0; n < count; ++n)
    for (size_t k = 0; k < 3; ++k) numbers[9 * n + 4 * k] += 1;
  return numbers;
}

constexpr int64_t kParticles = 4, kCells = 5;
constexpr size_t kAllCells = static_cast<size_t>(kCells * kCells * kCells);

std::unique_ptr<Program> MpmStep(const std::string& kernel) {
  return Program::OfFile(Sample("mpm_step.ir"), kernel);
}

/// Particles in the middle cells of a grid of 5 x 5 x 5 of spacing 1, with a place for the next state.
void SetParticles(Program& program) {
  size_t numbers = static_cast<size_t>(2 * kParticles);
  program.Buffer("x", {2, kParticles}, Scattered(3 * numbers, 2.0, 0.2, 5));
  program.Buffer("v", {2, kParticles}, Scattered(3 * numbers, 0.1, 0.3, 6));
  program.Buffer("affine", {2, kParticles}, Scattered(9 * numbers, 0, 0.3, 7));
  program.Number("f", 0);
  program.Number("dt", 0.1);
  program.Number("dx", 1.0);
}

}  // namespace

TEST_CASE("relax: Hessian", "[samples][hessian]") {
  auto program = Program::OfFile(Sample("relax.ir"));
  std::vector<double> x;
  for (int k = 0; k < 17; ++k) x.push_back(0.1 * k - 0.6);
  program->Buffer("x", {17}, x);
  program->Zeros("loss", {});
  program->Number("n", 5);
  SecondOrder second(*program, Sample("relax.ir"), "relax");
  CheckHessian(second, 1e-5);
}

TEST_CASE("csr_reduce: Hessian", "[samples][hessian]") {
  auto program = Program::OfFile(Sample("csr_reduce.ir"));
  program->Buffer("start", {5}, {0, 3, 3, 4, 9});
  program->Buffer("column", {9}, {0, 2, 1, 3, 0, 1, 2, 3, 0});
  std::vector<double> value;
  for (int k = 0; k < 9; ++k) value.push_back(0.25 * (k % 5) - 0.4);
  program->Buffer("value", {9}, value);
  program->Buffer("x", {4}, {0.5, -0.25, 1.0, 0.75});
  program->Zeros("y", {4});
  SecondOrder second(*program, Sample("csr_reduce.ir"), "csr_reduce");
  CheckHessian(second, 1e-5);
}

TEST_CASE("cholesky: Hessian", "[samples][hessian]") {
  auto program = Program::OfFile(Sample("cholesky.ir"));
  constexpr int64_t kBatch = 3, kSize = 5;
  std::vector<double> a;
  for (int64_t m = 0; m < kBatch; ++m)
    for (int64_t i = 0; i < kSize; ++i)
      for (int64_t j = 0; j < kSize; ++j)
        a.push_back(1.0 / static_cast<double>(1 + i + j + m) + (i == j ? 2.0 : 0.0));
  program->Buffer("a", {kBatch, kSize, kSize}, a);
  program->Zeros("l", {kBatch, kSize, kSize});
  SecondOrder second(*program, Sample("cholesky.ir"), "cholesky");
  CheckHessian(second, 1e-5);
}

TEST_CASE("mpm_grid_op: Hessian", "[samples][hessian]") {
  samples::MpmStateConfig config;
  config.scale = 0.25;
  config.geoms = 5;
  std::vector<samples::StateArray> state = samples::MakeMpmState(config);
  auto program = Program::OfFile(Sample("mpm_grid_op.ir"), "mpm_grid_op");
  test::SetMpmArguments(*program, state);
  std::map<std::string, std::vector<double>> scale;
  test::Point moves = test::MpmScale(state);
  for (size_t n = 0; n < moves.size(); ++n) scale[test::MpmInputs()[n]] = moves[n];
  SecondOrder second(*program, Sample("mpm_grid_op.ir"), "mpm_grid_op");
  CheckHessian(second, 1e-6, scale);
}

TEST_CASE("update_cartesian_space: Hessian", "[samples][hessian]") {
  auto program = Program::OfFile(Sample("update_cartesian_space.ir"), "update_cartesian_space");
  test::SetArguments(*program,
                     samples::MakeArticulatedState({samples::ArticulatedConfig::Scene::Tree, 3, 10, 1}));
  SecondOrder second(*program, Sample("update_cartesian_space.ir"), "update_cartesian_space");
  CheckHessian(second, 1e-5);
}

TEST_CASE("mpm_step, particles to grid: Hessian", "[samples][hessian]") {
  auto program = MpmStep("p2g");
  SetParticles(*program);
  program->Buffer("deformation", {2, kParticles}, NearUnit(static_cast<size_t>(2 * kParticles), 0.2, 8));
  program->Buffer("mu", {}, {3.0});
  program->Buffer("lambda", {}, {2.0});
  program->Zeros("mass", {kCells, kCells, kCells});
  program->Zeros("momentum", {kCells, kCells, kCells});
  program->Number("volume", 0.5);
  program->Number("particle_mass", 0.7);
  SecondOrder second(*program, Sample("mpm_step.ir"), "p2g");
  CheckHessian(second, 1e-5);
}

TEST_CASE("mpm_step, grid: Hessian", "[samples][hessian]") {
  auto program = MpmStep("grid");
  program->Buffer("mass", {kCells, kCells, kCells}, Scattered(kAllCells, 2.0, 0.5, 9));
  program->Buffer("momentum", {kCells, kCells, kCells}, Scattered(3 * kAllCells, 0, 1.0, 10));
  program->Zeros("velocity", {kCells, kCells, kCells});
  program->Number("dt", 0.1);
  program->Number("gravity", -9.8);
  SecondOrder second(*program, Sample("mpm_step.ir"), "grid");
  CheckHessian(second, 1e-6);
}

TEST_CASE("mpm_step, grid to particles: Hessian", "[samples][hessian]") {
  auto program = MpmStep("g2p");
  SetParticles(*program);
  program->Buffer("velocity", {kCells, kCells, kCells}, Scattered(3 * kAllCells, 0, 1.0, 11));
  SecondOrder second(*program, Sample("mpm_step.ir"), "g2p");
  CheckHessian(second, 1e-5);
}

TEST_CASE("mpm_step, distance to a target: Hessian", "[samples][hessian]") {
  auto program = MpmStep("miss");
  program->Buffer("x", {2, kParticles}, Scattered(static_cast<size_t>(6 * kParticles), 2.0, 0.2, 12));
  program->Buffer("target", {}, {1.0, 2.0, 3.0});
  program->Zeros("loss", {});
  program->Number("f", 1);
  SecondOrder second(*program, Sample("mpm_step.ir"), "miss");
  CheckHessian(second, 1e-5);
}

TEST_CASE("svd3: Hessian", "[samples][hessian]") {
  auto program = Program::OfFile(Sample("svd3.ir"), "decompose");
  std::vector<double> a = Scattered(27, 0, 0.3, 13);
  for (size_t n = 0; n < 3; ++n)
    for (size_t k = 0; k < 3; ++k) a[9 * n + 4 * k] += 1.0 + static_cast<double>(k);  // singular values apart
  program->Buffer("a", {3}, a);
  program->Zeros("y", {3});
  program->Zeros("z", {3});
  SecondOrder second(*program, Sample("svd3.ir"), "decompose");
  CheckHessian(second, 1e-6);
}

TEST_CASE("chain, distance from a wanted state: Hessian", "[samples][hessian]") {
  const std::string path = adc::test::SamplesFolder() + "/time_stepping/chain.ir";
  auto program = Program::OfFile(path, "miss");
  program->Buffer("x", {6}, Scattered(6, 0, 1.0, 14));
  program->Buffer("wanted", {6}, Scattered(6, 0, 1.0, 15));
  program->Zeros("loss", {});
  SecondOrder second(*program, path, "miss");
  CheckHessian(second, 1e-5);
}
