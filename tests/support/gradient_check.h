#pragma once
// Checks derivatives along random directions, whoever computes them: a gradient, tangents, and central
// differences of the value itself must agree.
//
// A *point* is one list of numbers per differentiable input. The value is a scalar function of the point
// (outputs weighted and summed by the caller); the gradient has the shape of a point; a direction too.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace adc::test {

using Point = std::vector<std::vector<double>>;

struct GradientProblem {
  Point at;
  /// How far each number is moved, relative to a step; empty: 1 throughout. Where 0 the number stays.
  Point scale;
  std::function<double(const Point&)> value;
  Point gradient;                                                      ///< empty: not compared
  std::function<double(const Point& at, const Point& along)> tangent;  ///< null: not compared
};

struct GradientCheckOptions {
  uint32_t directions = 100;
  uint64_t seed = 1;
  double step = 1e-6;
  bool differences = true;  ///< central differences of the value, else gradient against tangent alone
};

struct GradientReport {
  /// Largest |a - b| / max(|a|, |b|, floor) over the directions; the floor is 1e-12 of the largest
  /// derivative.
  double gradient_to_differences = 0;
  double tangent_to_differences = 0;
  double gradient_to_tangent = 0;
  double largest = 0;  ///< derivative along a direction, so that agreement on zeros is not taken for a proof
};

namespace internal {

inline double RandomNumber(uint64_t& state) {
  state += 0x9E3779B97F4A7C15ull;
  uint64_t word = state;
  word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9ull;
  word = (word ^ (word >> 27)) * 0x94D049BB133111EBull;
  return static_cast<double>((word ^ (word >> 31)) >> 11) * 0x1p-52 - 1.0;
}

inline Point Moved(const Point& at, const Point& along, double step) {
  Point moved = at;
  for (size_t n = 0; n < at.size(); ++n) {
    for (size_t k = 0; k < at[n].size(); ++k) moved[n][k] += step * along[n][k];
  }
  return moved;
}

}  // namespace internal

/// A sum of many terms, compensated, so that a comparison is not about rounding.
class Sum {
 public:
  void Add(const std::vector<double>& a, const std::vector<double>& b) {
    for (size_t k = 0; k < a.size(); ++k) {
      double term = a[k] * b[k] - lost_;
      double next = sum_ + term;
      lost_ = (next - sum_) - term;
      sum_ = next;
    }
  }
  double Value() const { return sum_; }

 private:
  double sum_ = 0, lost_ = 0;
};

inline double Inner(const std::vector<double>& a, const std::vector<double>& b) {
  Sum sum;
  sum.Add(a, b);
  return sum.Value();
}

inline double Inner(const Point& a, const Point& b) {
  Sum sum;
  for (size_t n = 0; n < a.size(); ++n) sum.Add(a[n], b[n]);
  return sum.Value();
}

/// Difference of fourth order: its error shrinks with the fourth power of the step.
inline double CentralDifference(const std::function<double(double)>& value, double step) {
  double near = value(step) - value(-step), far = value(2 * step) - value(-2 * step);
  return (8 * near - far) / (12 * step);
}

inline GradientReport CheckGradient(const GradientProblem& problem,
                                    const GradientCheckOptions& options = {}) {
  struct Derivatives {
    double differences = 0, gradient = 0, tangent = 0;
  };
  std::vector<Derivatives> all;
  uint64_t state = options.seed;
  GradientReport report;
  for (uint32_t n = 0; n < options.directions; ++n) {
    Point along = problem.at;
    for (size_t input = 0; input < along.size(); ++input) {
      for (size_t k = 0; k < along[input].size(); ++k) {
        double scale = problem.scale.empty() ? 1.0 : problem.scale[input][k];
        along[input][k] = scale * internal::RandomNumber(state);
      }
    }
    Derivatives d;
    if (options.differences) {
      d.differences = CentralDifference(
          [&](double t) { return problem.value(internal::Moved(problem.at, along, t)); }, options.step);
    }
    if (!problem.gradient.empty()) d.gradient = Inner(problem.gradient, along);
    if (problem.tangent != nullptr) d.tangent = problem.tangent(problem.at, along);
    report.largest =
        std::max({report.largest, std::fabs(d.differences), std::fabs(d.gradient), std::fabs(d.tangent)});
    all.push_back(d);
  }
  double floor = 1e-12 * report.largest;
  // A NaN on one side must not pass for agreement.
  auto note = [&](double& worst, double a, double b) {
    double difference = a == b ? 0.0 : std::fabs(a - b) / std::max({std::fabs(a), std::fabs(b), floor});
    if (!(difference <= worst)) worst = std::isnan(difference) ? HUGE_VAL : difference;
  };
  for (const Derivatives& d : all) {
    bool gradient = !problem.gradient.empty(), tangent = problem.tangent != nullptr;
    if (options.differences && gradient) note(report.gradient_to_differences, d.gradient, d.differences);
    if (options.differences && tangent) note(report.tangent_to_differences, d.tangent, d.differences);
    if (gradient && tangent) note(report.gradient_to_tangent, d.gradient, d.tangent);
  }
  return report;
}

}  // namespace adc::test
