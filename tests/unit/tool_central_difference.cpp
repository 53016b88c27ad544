// Central differences: what they know, how well, and that they say so.

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <random>

#include "central_difference.h"

using namespace adc::tool;

namespace {

constexpr double kEpsilon64 = 0x1p-52, kEpsilon32 = 0x1p-23;

/// Differences of `f` around 0 at every step that is worth trying, with the noise of rounding.
std::vector<Difference> Differences(const std::function<double(double)>& f, double epsilon) {
  size_t first = 0;
  std::vector<Difference> differences;
  for (double step : StepLadder(epsilon, &first)) {
    double up = f(step), down = f(-step);
    double noise = 2 * epsilon * std::fabs(up) / step;
    differences.push_back({step, (up - down) / (2 * step), noise, noise});
  }
  return differences;
}

Judgement JudgeAll(const std::function<double(double)>& f, double epsilon, double expected,
                   double tolerance) {
  return Judge(Extrapolate(Differences(f, epsilon)), expected, std::fabs(expected), tolerance);
}

}  // namespace

TEST_CASE("a smooth slope is known far better than from one step", "[gradcheck]") {
  auto f = [](double x) { return std::exp(std::sin(3 * x) + 1); };
  double slope = 3 * std::exp(1.0);
  Judgement judged = JudgeAll(f, kEpsilon64, slope, 1e-11);
  CHECK(judged.agreement == Agreement::Agrees);
  CHECK(judged.estimate.slope == Approx(slope).epsilon(1e-11));
  CHECK(judged.estimate.uncertainty <= 1e-11 * slope);
}

TEST_CASE("a slope that is off by 1e-3 differs, and one by 1e-5 as well", "[gradcheck]") {
  auto f = [](double x) { return std::sin(2 * x + 0.3); };
  double slope = 2 * std::cos(0.3);
  CHECK(JudgeAll(f, kEpsilon64, slope, 1e-6).agreement == Agreement::Agrees);
  CHECK(JudgeAll(f, kEpsilon64, slope * 1.001, 1e-6).agreement == Agreement::Differs);
  CHECK(JudgeAll(f, kEpsilon64, slope * 1.00001, 1e-6).agreement == Agreement::Differs);
  CHECK(JudgeAll(f, kEpsilon64, -slope, 1e-6).agreement == Agreement::Differs);
  CHECK(JudgeAll(f, kEpsilon64, 0, 1e-6).agreement == Agreement::Differs);
  auto narrow = [&](double x) { return double(float(f(x))); };
  CHECK(JudgeAll(narrow, kEpsilon32, slope, 2e-2).agreement == Agreement::Agrees);
  CHECK(JudgeAll(narrow, kEpsilon32, slope * 1.05, 2e-2).agreement == Agreement::Differs);
}

TEST_CASE("a small slope under a large value: larger steps know it, or nothing does", "[gradcheck]") {
  auto f = [](double x) { return 1 + 1e-6 * std::sin(x); };
  CHECK(JudgeAll(f, kEpsilon64, 1e-6, 1e-6).agreement == Agreement::Agrees);
  CHECK(JudgeAll(f, kEpsilon64, 1.001e-6, 1e-6).agreement == Agreement::Differs);
  auto narrow = [&](double x) { return double(float(f(x))); };
  CHECK(JudgeAll(narrow, kEpsilon32, 1e-6, 2e-2).agreement == Agreement::SaysNothing);
  CHECK(JudgeAll(narrow, kEpsilon32, 2e-6, 2e-2).agreement == Agreement::SaysNothing);
  // What no rounding explains is told all the same.
  CHECK(JudgeAll(narrow, kEpsilon32, 1e-2, 2e-2).agreement == Agreement::Differs);
}

TEST_CASE("a kink inside of the large steps is left to the small ones", "[gradcheck]") {
  auto f = [](double x) { return std::fabs(x + 1e-4) + std::sin(x); };
  CHECK(JudgeAll(f, kEpsilon64, 2, 1e-6).agreement == Agreement::Agrees);
  CHECK(JudgeAll(f, kEpsilon64, 1.99, 1e-6).agreement == Agreement::Differs);
}

TEST_CASE("what kinks make of large steps is not believed against small ones that hardly jitter",
          "[gradcheck]") {
  // Slopes of -0.107 at steps that cross kinks, of -0.165 below; the bound of the noise hides the difference.
  std::vector<Difference> differences;
  double slopes[] = {-0.1076, -0.1071, -0.111, -0.1267, -0.1647, -0.1635, -0.1577};
  double step = 0.04;
  for (double slope : slopes) {
    differences.push_back({step, slope, 1.1e-5 / step, 1.1e-5 / step});
    step /= 4;
  }
  CHECK(Judge(Extrapolate(differences), -0.1647, 1.3, 1e-2).agreement == Agreement::Differs);
  for (Difference& one : differences) one.jitter = 3e-8 / one.step;
  CHECK(Judge(Extrapolate(differences), -0.1647, 1.3, 1e-2).agreement == Agreement::SaysNothing);
  for (Difference& one : differences) one.noise = one.jitter;
  CHECK(Judge(Extrapolate(differences), -0.1647, 1.3, 1e-2).agreement == Agreement::Agrees);
}

TEST_CASE("no value is no knowledge", "[gradcheck]") {
  auto nowhere = [](double) { return std::nan(""); };
  CHECK(JudgeAll(nowhere, kEpsilon64, 1, 1e-6).agreement == Agreement::SaysNothing);
  auto near = [](double x) { return std::log(1e-3 + x); };  // large steps leave its domain
  CHECK(JudgeAll(near, kEpsilon64, 1e3, 1e-6).agreement == Agreement::Agrees);
  CHECK(Extrapolate({}).empty());
  CHECK(Judge({}, 1, 1, 1e-6).agreement == Agreement::SaysNothing);
}

TEST_CASE("noise is measured through a slope", "[gradcheck]") {
  std::mt19937 random(7);
  std::normal_distribution<double> normal(0, 1e-5);
  double sum = 0;
  for (int turn = 0; turn < 200; ++turn) {
    std::vector<double> values;
    for (int at = 0; at < 7; ++at) values.push_back(3 + 0.1 * at + normal(random));
    double noise = NoiseOf(values);
    CHECK(noise > 1e-6);
    CHECK(noise < 4e-5);
    sum += noise;
  }
  CHECK(sum / 200 > 7e-6);
  CHECK(sum / 200 < 2e-5);
  std::vector<double> line{1, 2, 3, 4, 5};
  CHECK(NoiseOf(line) == 0);
}

TEST_CASE("noise that is not known beforehand does not make a slope wrong once it is", "[gradcheck]") {
  // A value with far more noise than its own rounding: 1e6 was added and taken away again.
  std::mt19937 random(11);
  std::uniform_real_distribution<double> uniform(-1e-3, 1e-3);
  uint32_t wrong = 0;
  for (int turn = 0; turn < 100; ++turn) {
    auto f = [&](double x) { return 1e-2 * std::sin(x + 1) + uniform(random); };
    std::vector<double> values;
    for (int at = -3; at <= 3; ++at) values.push_back(f(at * 1e-6));
    std::vector<Difference> differences = Differences(f, kEpsilon32);
    for (Difference& one : differences) {
      one.jitter = 3 * NoiseOf(values) / one.step;
      one.noise = std::max(one.noise, one.jitter);
    }
    double slope = 1e-2 * std::cos(1);
    wrong += Judge(Extrapolate(differences), slope, slope, 2e-2).agreement == Agreement::Differs;
  }
  CHECK(wrong == 0);
}
