// Gradients of the kernels in bench/cpu against their primals in C++: the table of ratios on a CPU.
//
//   cpu_gradients [--only=N] [--threads=N] [--repeats=N]
//
// --only: the N-th of them alone, from 1. --threads: of the second gradient. The first gradient and the
// baseline have one thread. A gradient contains no forward run: what it needs of one it computes itself. Exit
// code 1 where a kernel disagrees with its baseline, the two gradients with each other, or a directional
// derivative with a difference quotient of the baseline; a missed goal is printed.

#include <algorithm>
#include <cmath>

#include "../tests/support/folders.h"
#include "../tests/support/native.h"
#include "cpu/primals.h"
#include "cpu/workloads.h"
#include "timing.h"

using namespace adc;

namespace {

std::span<double> Numbers(interp::Arguments& arguments, size_t position) {
  return arguments[position].tensor.As<double>();
}

/// The largest difference, over the largest number.
double Difference(std::span<const double> a, std::span<const double> b) {
  double worst = 0, largest = 0;
  for (size_t n = 0; n < a.size(); ++n) {
    worst = std::max(worst, std::fabs(a[n] - b[n]));
    largest = std::max(largest, std::fabs(b[n]));
    if (std::isnan(a[n])) return a[n];
  }
  return worst / std::max(largest, 1e-300);
}

/// What every output counts for in the scalar that is differentiated.
double Weight(size_t n) {
  return 1.0 + 0.5 * static_cast<double>(n % 7);
}

/// A kernel's gradient with a number of workers.
struct Gradient {
  Gradient(const bench::Workload& work, uint32_t workers, int repeats)
      : native(adc::test::BenchFolder() + "/cpu/" + work.name + ".ir", workers) {
    interp::Arguments forward = work.arguments;
    auto primal = native.Plan(work.name, forward);
    std::span<double> output = Numbers(forward, work.output);
    primal_time =
        bench::BestOf(repeats, [&] { std::fill(output.begin(), output.end(), 0.0); }, [&] { primal.Run(); });
    value.assign(output.begin(), output.end());

    std::string name = work.name + ".grad";
    interp::Arguments derived = native.DerivedArguments(name, forward);
    std::vector<size_t> companions;
    for (size_t n = work.arguments.list.size(); n < derived.list.size(); ++n)
      if (!derived[n].tensor.data.empty()) companions.push_back(n);
    auto backward = native.Plan(name, derived);
    std::span<double> seed = Numbers(derived, native.Companion(name, work.output));
    auto prepare = [&] {
      for (size_t n : companions) std::fill(Numbers(derived, n).begin(), Numbers(derived, n).end(), 0.0);
      for (size_t n = 0; n < seed.size(); ++n) seed[n] = Weight(n);
    };
    time = bench::BestOf(repeats, prepare, [&] { backward.Run(); });
    for (size_t input : work.inputs) {
      std::span<double> adjoint = Numbers(derived, native.Companion(name, input));
      adjoints.emplace_back(adjoint.begin(), adjoint.end());
    }
  }

  test::Native native;
  bench::Time primal_time, time;
  std::vector<double> value;
  std::vector<std::vector<double>> adjoints;
};

/// How far the adjoints are, along one direction, from a central difference of the baseline.
double DirectionError(const bench::Workload& work, const Gradient& gradient) {
  constexpr double kStep = 1e-6;
  double sums[2] = {}, along = 0;
  for (int side : {0, 1}) {
    interp::Arguments moved = work.arguments;
    for (size_t k = 0; k < work.inputs.size(); ++k) {
      std::span<double> input = Numbers(moved, work.inputs[k]);
      for (size_t n = 0; n < input.size(); ++n) {
        double direction = std::sin(static_cast<double>(n + 1));
        input[n] += (side == 0 ? -kStep : kStep) * direction;
        if (side == 0) along += direction * gradient.adjoints[k][n];
      }
    }
    work.primal(moved);
    std::span<double> output = Numbers(moved, work.output);
    for (size_t n = 0; n < output.size(); ++n) sums[side] += Weight(n) * output[n];
  }
  return std::fabs((sums[1] - sums[0]) / (2 * kStep) - along) / std::max(std::fabs(along), 1e-300);
}

/// True where everything agrees.
bool Measure(const bench::Workload& work, uint32_t threads, int repeats) {
  interp::Arguments arguments = work.arguments;
  bench::Time baseline = bench::BestOf(repeats, [&] { work.primal(arguments); });
  Gradient one(work, 1, repeats), several(work, threads, repeats);
  double value = Difference(one.value, Numbers(arguments, work.output));
  double others = 0;
  for (size_t k = 0; k < work.inputs.size(); ++k)
    others = std::max(others, Difference(several.adjoints[k], one.adjoints[k]));
  double direction = DirectionError(work, one);
  double ratio = one.time.processor / baseline.processor;
  std::printf("%-10s %9.3f %9.3f %9.3f %6.2f %5.1f %-6s %9.3f %8.0e %8.0e %8.0e  %s\n", work.name.c_str(),
              baseline.processor, one.primal_time.processor, one.time.processor, ratio, work.goal,
              ratio <= work.goal ? "" : "missed", several.time.processor, value, others, direction,
              work.sizes.c_str());
  return value < 1e-9 && others < 1e-9 && direction < 1e-4;
}

}  // namespace

int main(int argc, char** argv) {
  auto only = static_cast<size_t>(bench::Option(argc, argv, "only", 0));
  auto threads = static_cast<uint32_t>(bench::Option(argc, argv, "threads", 2));
  auto repeats = static_cast<int>(bench::Option(argc, argv, "repeats", 9));
  std::printf(
      "milliseconds, f64, best of %d; processor time; baseline: one thread, -O3 for this machine, %s\n",
      repeats, bench::PrimalsCompiler());
  std::printf("%-10s %9s %9s %9s %6s %5s %-6s %4u thr. %8s %8s %8s\n", "kernel", "baseline", "primal",
              "gradient", "ratio", "goal", "", threads, "value", "threads", "central");
  std::vector<bench::Workload> all = bench::Workloads();
  bool agrees = true;
  for (size_t n = 0; n < all.size(); ++n)
    if (only == 0 || only == n + 1) agrees = Measure(all[n], threads, repeats) && agrees;
  if (!agrees) std::printf("a relative error above is too large\n");
  return agrees ? 0 : 1;
}
