// The samples the whole way: compiled, loaded, run on two workers; values against the interpreter, gradients
// against the interpreter's dual numbers and against central differences of the compiled kernel itself.

#include <cmath>

#include "../support/folders.h"
#include "../support/mpm.h"
#include "../support/native.h"

using namespace adc;
using test::Native, test::Program;

namespace {

std::string F64(const std::string& name) {
  return adc::test::F64SamplesFolder() + "/" + name;
}
std::string F32(const std::string& name) {
  return adc::test::SamplesFolder() + "/" + name;
}

std::vector<double> Numbers(const interp::Tensor& tensor) {
  std::vector<double> numbers(static_cast<size_t>(tensor.ScalarCount()));
  for (size_t n = 0; n < numbers.size(); ++n) numbers[n] = tensor.Get(static_cast<int64_t>(n));
  return numbers;
}

/// Largest difference between two tensors, relative to the largest number in them.
double Difference(const interp::Tensor& a, const interp::Tensor& b) {
  double largest = 0, difference = 0;
  for (int64_t n = 0, count = a.ScalarCount(); n < count; ++n) {
    largest = std::max(largest, std::fabs(a.Get(n)));
    difference = std::max(difference, std::fabs(a.Get(n) - b.Get(n)));
  }
  return largest == 0 ? difference : difference / largest;
}

/// One sample with its arguments; the value is a weighted sum of one output.
class Sample {
 public:
  Sample(Program& program, const std::string& path, std::string kernel, const std::string& output,
         const std::vector<std::string>& inputs)
      : native_(path, 2, true),
        kernel_(std::move(kernel)),
        output_(program.Index(output)),
        start_(program.arguments()),
        interpreter_(program.module(), program.function()) {
    for (const std::string& name : inputs) inputs_.push_back(program.Index(name));
    // As many numbers as the output has at the start.
    uint64_t random = 7;
    for (int64_t n = 0; n < start_[output_].tensor.ScalarCount(); ++n)
      weight_.push_back(test::internal::RandomNumber(random));
  }

  Native& native() { return native_; }

  /// Compiled and interpreted kernel give the same outputs.
  double ValueDifference() {
    interp::Arguments compiled = start_, interpreted = start_;
    native_.Run(kernel_, compiled);
    REQUIRE(interpreter_.Run(interpreted).Ok());
    double worst = 0;
    for (size_t n = 0; n < compiled.list.size(); ++n) {
      if (compiled[n].tensor.element.IsFloat())
        worst = std::max(worst, Difference(interpreted[n].tensor, compiled[n].tensor));
    }
    return worst;
  }

  test::GradientProblem Problem() {
    test::GradientProblem problem;
    for (size_t n : inputs_) problem.at.push_back(InputNumbers(n));
    problem.value = [this](const test::Point& point) {
      interp::Arguments& arguments = At(point);
      native_.Run(kernel_, arguments);
      return test::Inner(weight_, Numbers(arguments[output_].tensor));
    };
    problem.tangent = [this](const test::Point& point, const test::Point& along) {
      interp::Arguments& arguments = At(point);
      interp::Tangents tangents;
      tangents.list.resize(arguments.list.size());
      for (size_t n = 0; n < along.size(); ++n) tangents[inputs_[n]] = along[n];
      REQUIRE(interpreter_.RunDual(arguments, tangents).Ok());
      return test::Inner(weight_, tangents[output_]);
    };
    problem.gradient = Gradient();
    return problem;
  }

  /// The compiled forward kernel, along a direction.
  double Forward(const test::Point& along) {
    std::string name = kernel_ + ".jvp";
    interp::Arguments arguments = native_.DerivedArguments(name, start_);
    for (size_t n = 0; n < along.size(); ++n) {
      interp::Tensor& tangent = arguments[native_.Companion(name, inputs_[n])].tensor;
      for (size_t k = 0; k < along[n].size(); ++k) tangent.Set(static_cast<int64_t>(k), along[n][k]);
    }
    native_.Run(name, arguments);
    return test::Inner(weight_, Numbers(arguments[native_.Companion(name, output_)].tensor));
  }

  test::Point Gradient() {
    std::string name = kernel_ + ".grad";
    interp::Arguments arguments = start_;
    native_.Run(kernel_, arguments);
    interp::Arguments derived = native_.DerivedArguments(name, arguments);
    interp::Tensor& seed = derived[native_.Companion(name, output_)].tensor;
    for (size_t k = 0; k < weight_.size(); ++k) seed.Set(static_cast<int64_t>(k), weight_[k]);
    native_.Run(name, derived);
    test::Point gradient;
    for (size_t n : inputs_) gradient.push_back(Numbers(derived[native_.Companion(name, n)].tensor));
    return gradient;
  }

 private:
  std::vector<double> InputNumbers(size_t n) const { return Numbers(start_[n].tensor); }
  /// The arguments at a point, until the next one: they are large, and their memory is used again.
  interp::Arguments& At(const test::Point& point) {
    at_ = start_;
    for (size_t n = 0; n < point.size(); ++n) {
      interp::Tensor& tensor = at_[inputs_[n]].tensor;
      for (size_t k = 0; k < point[n].size(); ++k) tensor.Set(static_cast<int64_t>(k), point[n][k]);
    }
    return at_;
  }

  Native native_;
  std::string kernel_;
  size_t output_;
  std::vector<size_t> inputs_;
  interp::Arguments start_, at_;
  interp::Interpreter interpreter_;
  std::vector<double> weight_;
};

std::vector<double> RandomNumbers(size_t count, double low, double high, uint64_t seed) {
  std::vector<double> numbers;
  for (size_t n = 0; n < count; ++n)
    numbers.push_back(low + (high - low) * 0.5 * (1 + test::internal::RandomNumber(seed)));
  return numbers;
}

/// f32 and f64 programs with the same arguments.
void Prepare(const std::string& sample, Program& program) {
  if (sample == "relax") {
    program.Buffer("x", {1000}, RandomNumbers(1000, -1, 2, 1));
    program.Number("n", 17);
  } else if (sample == "csr_reduce") {
    constexpr size_t kRows = 300, kColumns = 50;
    std::vector<double> start{0}, column;
    for (size_t r = 0; r < kRows; ++r) start.push_back(start.back() + static_cast<double>((r * r * 7) % 23));
    auto entries = static_cast<size_t>(start.back());
    for (size_t k = 0; k < entries; ++k) column.push_back(static_cast<double>((k * 31 + k / 7) % kColumns));
    program.Buffer("start", {kRows + 1}, start);
    program.Buffer("column", {static_cast<int64_t>(entries)}, column);
    program.Buffer("value", {static_cast<int64_t>(entries)}, RandomNumbers(entries, -1, 1, 2));
    program.Buffer("x", {kColumns}, RandomNumbers(kColumns, -1, 1, 3));
    program.Zeros("y", {kRows});
  } else {
    constexpr int64_t kBatch = 40, kSize = 7;
    std::vector<double> a = RandomNumbers(kBatch * kSize * kSize, -0.5, 0.5, 4);
    for (int64_t m = 0; m < kBatch; ++m) {
      for (int64_t i = 0; i < kSize; ++i) a[static_cast<size_t>((m * kSize + i) * kSize + i)] += 4;
    }
    program.Buffer("a", {kBatch, kSize, kSize}, a);
    program.Zeros("l", {kBatch, kSize, kSize});
  }
}

struct Small {
  const char* name;
  const char* output;
  std::vector<std::string> inputs;
};
const Small kSmall[] = {
    {"relax", "loss", {"x"}}, {"csr_reduce", "y", {"value", "x"}}, {"cholesky", "l", {"a"}}};

}  // namespace

TEST_CASE("small samples in f64: values and gradients", "[native]") {
  for (const Small& small : kSmall) {
    INFO(small.name);
    std::string path = F64(small.name + std::string(".ir"));
    auto program = Program::OfFile(path);
    Prepare(small.name, *program);
    Sample sample(*program, path, small.name, small.output, small.inputs);
    CHECK(sample.ValueDifference() < 1e-13);
    test::GradientProblem problem = sample.Problem();
    test::GradientCheckOptions options;
    options.step = 1e-3;
    test::GradientReport report = test::CheckGradient(problem, options);
    CHECK(report.largest > 0.1);
    CHECK(report.gradient_to_differences < 1e-6);
    CHECK(report.gradient_to_tangent < 1e-12);
    CHECK(sample.Forward(problem.at) == Approx(problem.tangent(problem.at, problem.at)).epsilon(1e-12));
  }
}

TEST_CASE("small samples in f32: gradients near those in f64", "[native]") {
  for (const Small& small : kSmall) {
    INFO(small.name);
    std::string name = small.name + std::string(".ir");
    auto single = Program::OfFile(F32(name)), twice = Program::OfFile(F64(name));
    Prepare(small.name, *single);
    Prepare(small.name, *twice);
    Sample in_single(*single, F32(name), small.name, small.output, small.inputs);
    Sample in_double(*twice, F64(name), small.name, small.output, small.inputs);
    CHECK(in_single.ValueDifference() < 1e-6);
    test::Point a = in_single.Gradient(), b = in_double.Gradient();
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

TEST_CASE("mpm_grid_op at the sizes of the push test", "[native]") {
  std::vector<samples::StateArray> state = samples::MakeMpmState({});
  std::string path = F64("mpm_grid_op.ir");
  auto program = Program::OfFile(path, "mpm_grid_op");
  test::SetMpmArguments(*program, state);
  Sample sample(*program, path, "mpm_grid_op", "vel_out", test::MpmInputs());
  CHECK(sample.ValueDifference() < 1e-10);
  test::GradientProblem problem = sample.Problem();
  problem.scale = test::MpmScale(state);

  // The gradient against central differences of the compiled kernel along 100 directions, and against dual
  // numbers.
  test::GradientCheckOptions options;
  options.step = 1e-5;
  std::function<double(const test::Point&, const test::Point&)> tangent = std::move(problem.tangent);
  problem.tangent = nullptr;
  test::GradientReport report = test::CheckGradient(problem, options);
  CHECK(report.largest > 0.1);
  CHECK(report.gradient_to_differences < 1e-6);
  problem.tangent = tangent;
  options.differences = false;
  options.directions = 10;
  CHECK(test::CheckGradient(problem, options).gradient_to_tangent < 1e-12);
  CHECK(sample.Forward(problem.scale) == Approx(tangent(problem.at, problem.scale)).epsilon(1e-12));
}

TEST_CASE("mpm_grid_op in f32 takes little memory for its gradient", "[native]") {
  std::vector<samples::StateArray> state = samples::MakeMpmState({});
  auto program = Program::OfFile(F32("mpm_grid_op.ir"), "mpm_grid_op");
  test::SetMpmArguments(*program, state);
  Native native(F32("mpm_grid_op.ir"), 2);
  interp::Arguments primal = program->arguments();
  native.Run("mpm_grid_op", primal);
  interp::Arguments derived = native.DerivedArguments("mpm_grid_op.grad", primal);
  Native::Launch launch = native.Plan("mpm_grid_op.grad", derived);
  CHECK(launch.Report().heap_bytes <= 1u << 20);
  uint32_t stacks = 0;
  for (uint32_t task = 0; task < launch.Report().task_count; ++task) stacks += launch.Task(task).stack_count;
  CHECK(stacks <= 8);
}
