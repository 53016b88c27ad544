// The samples as HSACO on the interpreter of RDNA3, beside the same launches on the CPU: values and
// gradients, with rows for every thread and with a quarter of that memory. Sizes are those of an interpreter.

#include "../support/folders.h"
#include "../support/on_hip.h"
#include "sample_cases.h"

using namespace adc;
using namespace adc::test;

namespace {

void SmallRelax(Program& program) {
  program.Buffer("x", {300}, RandomNumbers(300, -1, 2, 1));
  program.Number("n", 17);
}
void SmallCholesky(Program& program) {
  constexpr int64_t kBatch = 40, kSize = 5;
  std::vector<double> a = RandomNumbers(kBatch * kSize * kSize, -0.5, 0.5, 4);
  for (int64_t m = 0; m < kBatch; ++m) {
    for (int64_t i = 0; i < kSize; ++i) a[static_cast<size_t>((m * kSize + i) * kSize + i)] += 4;
  }
  program.Buffer("a", {kBatch, kSize, kSize}, a);
  program.Zeros("l", {kBatch, kSize, kSize});
}
void SmallMpmGridOp(Program& program) {
  samples::MpmStateConfig config;
  config.scale = 0.1;
  config.pass_fraction = 0.1;
  SetArguments(program, samples::MakeMpmState(config));
}
void SmallUpdateCartesianSpace(Program& program) {
  SetArguments(program, samples::MakeArticulatedState({samples::ArticulatedConfig::Scene::Tree, 2, 20, 1}));
}

constexpr Sample kSmall[] = {{"relax", SmallRelax},
                             {"csr_reduce", CsrReduce},
                             {"cholesky", SmallCholesky},
                             {"mpm_grid_op", SmallMpmGridOp},
                             {"update_cartesian_space", SmallUpdateCartesianSpace}};

}  // namespace

TEST_CASE("samples as HSACO", "[hip]") {
  for (const Sample& sample : kSmall) {
    for (bool doubles : {false, true}) {
      std::string path = (doubles ? adc::test::F64SamplesFolder() + "/" : adc::test::SamplesFolder() + "/") +
                         std::string(sample.name) + ".ir",
                  gradient = sample.name + std::string(".grad");
      auto program = Program::OfFile(path, sample.name);
      sample.prepare(*program);
      Native native(path, 2);
      OnHip hip(path);
      interp::Arguments value = program->arguments();
      native.Run(sample.name, value);
      interp::Arguments start = GradientArguments(native, gradient, value), expected = start;
      native.Run(gradient, expected);
      double tolerance = doubles ? 1e-12 : 1e-5;
      for (double budget : {1.0, 0.25}) {
        INFO(path << ", " << budget << " of the heap");
        interp::Arguments forward = program->arguments(), backward = start;
        hip.Run(sample.name, forward);
        CHECK(Difference(value, forward) < tolerance);
        hip.Run(gradient, backward, {.budget = budget});
        CHECK(Difference(expected, backward) < tolerance);
      }
    }
  }
}
