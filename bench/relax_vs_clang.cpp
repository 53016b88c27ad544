// relax: the compiled gradient against the same loop's primal compiled from C++ by clang -O3, on as many
// threads.
//
//   relax_vs_clang [--elements=N] [--steps=N] [--threads=N] [--repeats=N]
//
// The gradient contains its own forward sweep. Exit code 1 where it takes more than 2.5 times the primal in
// C, or where the two disagree.

#include <algorithm>
#include <cmath>
#include <thread>

#include "../tests/support/folders.h"
#include "../tests/support/native.h"
#include "relax_primal.h"
#include "timing.h"

using namespace adc;

int main(int argc, char** argv) {
  auto elements = static_cast<int64_t>(bench::Option(argc, argv, "elements", 1 << 22));
  auto steps = static_cast<int>(bench::Option(argc, argv, "steps", 64));
  auto threads = static_cast<uint32_t>(bench::Option(argc, argv, "threads", 2));
  auto repeats = static_cast<int>(bench::Option(argc, argv, "repeats", 3));

  test::Native native(adc::test::SamplesFolder() + "/relax.ir", threads);
  interp::Arguments arguments;
  arguments.list.resize(3);
  arguments[0].tensor = interp::Tensor::Zeros(ir::kF32, {elements});
  for (int64_t n = 0; n < elements; ++n)
    arguments[0].tensor.Set(
        n, -1.5 + 3.0 * static_cast<double>((n * 7919) % elements) / static_cast<double>(elements));
  arguments[1].tensor = interp::Tensor::Zeros(ir::kF32, {});
  arguments[2] = interp::NumberArgument(ir::kI32, steps);
  const float* x = arguments[0].tensor.As<float>().data();

  std::vector<float> parts(threads);
  auto size = static_cast<size_t>(elements);
  bench::Time baseline = bench::BestOf(repeats, [&] {
    std::vector<std::thread> workers;
    for (uint32_t t = 0; t < threads; ++t)
      workers.emplace_back(
          [&, t] { parts[t] = bench::RelaxPrimal(x, size * t / threads, size * (t + 1) / threads, steps); });
    for (std::thread& worker : workers) worker.join();
  });

  auto forward = native.Plan("relax", arguments);
  bench::Time primal = bench::BestOf(repeats, [&] { forward.Run(); });

  interp::Arguments derived = native.DerivedArguments("relax.grad", arguments);
  derived[native.Companion("relax.grad", 1)].tensor.Set(0, 1.0);
  interp::Tensor& adjoint = derived[native.Companion("relax.grad", 0)].tensor;
  auto backward = native.Plan("relax.grad", derived);
  bench::Time gradient = bench::BestOf(
      repeats, [&] { std::fill(adjoint.data.begin(), adjoint.data.end(), std::byte{0}); },
      [&] { backward.Run(); });

  // d a(n) / d a(0) is the product of the cosines.
  double worst = 0;
  for (int64_t n = 0; n < elements; n += std::max<int64_t>(1, elements / 1000)) {
    float a = x[n];
    double product = 1;
    for (int t = 0; t < steps; ++t) {
      product *= std::cos(static_cast<double>(a));
      a = std::sin(a) + 0.1f;
    }
    worst = std::max(worst, std::fabs(adjoint.Get(n) - product) / std::max(std::fabs(product), 1e-30));
  }

  std::printf("relax: %lld elements, %d steps, %u threads, best of %d\n", static_cast<long long>(elements),
              steps, threads, repeats);
  std::printf("baseline: %s\n", bench::RelaxCompiler());
  bench::PrintTime("baseline, -O3", baseline);
  bench::PrintTime("primal, adc", primal);
  bench::PrintTime("gradient, adc", gradient);
  std::printf("%-28s %10llu bytes\n", "heap of the gradient",
              static_cast<unsigned long long>(backward.Report().heap_bytes));
  bool fast = bench::PrintRatio("gradient / baseline", gradient, baseline, 2.5);
  std::printf("%-28s %10.1e\n", "relative error, largest", worst);
  return fast && worst < 1e-3 ? 0 : 1;
}
