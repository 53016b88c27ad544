// A central difference has two errors: the curvature of f, which shrinks with the step h, and the rounding of
// f divided by h, which grows. One step can be wrong in either way and does not say so. With steps in a row
// both can be seen: of a smooth f, D(h) = f' + a h^2 + b h^4 + ..., and combining neighbours cancels one term
// after the other (the tableau below); where f has a kink or noise inside of a step, neighbours disagree.
//
//   D(h)
//   D(h/c)    A1 = (c^2 D(h/c) - D(h)) / (c^2 - 1)
//   D(h/c^2)  A1'                                    A2 = (c^4 A1' - A1) / (c^4 - 1)
//
// Rounding is judged apart from that. Among many uncertain entries some lie close to each other by chance, so
// every entry also carries what the noise of its differences is worth, by the same combinations. And a
// function that is rough below a step may look smooth above it: steps smaller than those of an entry must
// bear it out, as far as their noise lets them.

#include "central_difference.h"

#include <algorithm>
#include <cmath>

namespace adc::tool {

namespace {

/// How many times its uncertainty an estimate must be off to prove something.
constexpr double kSafety = 4;

}  // namespace

std::vector<SlopeEstimate> Extrapolate(std::span<const Difference> differences) {
  std::vector<SlopeEstimate> estimates;
  auto add = [&](const Difference& entry, double distance, size_t smallest) {
    if (!(distance >= 0)) return;  // not a number
    double uncertainty = std::max(distance, entry.noise);
    for (const Difference& smaller : differences.subspan(smallest + 1)) {
      double contradiction = std::fabs(smaller.slope - entry.slope) - smaller.jitter;
      if (contradiction > uncertainty) uncertainty = contradiction;
    }
    estimates.push_back({entry.slope, uncertainty});
  };
  std::vector<Difference> above;  // the row of the tableau before this one
  for (size_t at = 0; at < differences.size(); ++at) {
    std::vector<Difference> row{differences[at]};
    double ratio = above.empty() ? 0 : above[0].step / differences[at].step;
    double power = ratio * ratio;
    for (size_t order = 0; order < above.size(); ++order) {
      double distance = std::fabs(row[order].slope - above[order].slope);
      if (order > 0) distance = std::max(distance, std::fabs(row[order].slope - row[order - 1].slope));
      add(row[order], distance, at);
      Difference next = differences[at];
      next.slope = (power * row[order].slope - above[order].slope) / (power - 1);
      next.noise = (power * row[order].noise + above[order].noise) / (power - 1);
      row.push_back(next);
      power *= ratio * ratio;
    }
    if (!above.empty()) {
      const Difference& last = row.back();
      double distance = std::max(std::fabs(last.slope - row[row.size() - 2].slope),
                                 std::fabs(last.slope - above.back().slope));
      add(last, distance, at);
    }
    above = std::move(row);
  }
  return estimates;
}

double NoiseOf(std::span<const double> values) {
  std::vector<double> table(values.begin(), values.end());
  double noise = 0, gamma = 1;
  for (size_t order = 1; order <= 4 && table.size() > 1; ++order) {
    for (size_t at = 0; at + 1 < table.size(); ++at) table[at] = table[at + 1] - table[at];
    table.pop_back();
    gamma *= static_cast<double>(order) / static_cast<double>(2 * (2 * order - 1));  // (k!)^2 / (2k)!
    if (order < 2) continue;
    double squares = 0;
    for (double entry : table) squares += entry * entry;
    noise = std::max(noise, std::sqrt(gamma * squares / static_cast<double>(table.size())));
  }
  return noise;
}

Judgement Judge(std::span<const SlopeEstimate> estimates, double expected, double size, double tolerance) {
  Judgement judgement;
  judgement.estimate = {NAN, INFINITY};
  double best_off = INFINITY;
  for (const SlopeEstimate& estimate : estimates) {
    double limit = tolerance * std::max(size, std::fabs(estimate.slope));
    double off = std::fabs(estimate.slope - expected);
    bool certain = estimate.uncertainty <= limit;
    if (certain && off <= limit && off < best_off) {
      judgement = {Agreement::Agrees, estimate};
      best_off = off;
    }
    if (best_off == INFINITY && estimate.uncertainty < judgement.estimate.uncertainty)
      judgement.estimate = estimate;
  }
  if (judgement.agreement == Agreement::Agrees) return judgement;
  const SlopeEstimate& best = judgement.estimate;
  double limit = tolerance * std::max(size, std::fabs(best.slope));
  double off = std::fabs(best.slope - expected);
  if (off > limit && off > kSafety * best.uncertainty) judgement.agreement = Agreement::Differs;
  return judgement;
}

std::vector<double> StepLadder(double epsilon, size_t* first) {
  // Without extrapolation eps^(1/3) balances the two errors. Larger steps serve a function with much noise
  // and little slope; they end where an argument that moves would soon be another kind of argument. Smaller
  // ones serve a function that bends within them; they end where a step is a few roundings of the argument.
  constexpr double kRatio = 4;
  double balanced = std::cbrt(epsilon), largest = std::max(0.04, balanced);
  double smallest = std::max(16 * epsilon, 1e-11);
  std::vector<double> steps;
  for (double step = largest; step > smallest; step /= kRatio) {
    if (step >= balanced) *first = steps.size();
    steps.push_back(step);
  }
  return steps;
}

}  // namespace adc::tool
