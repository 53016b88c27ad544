// What checkpoints cost: gradients compiled with whole tapes, with --checkpoint=auto and no budget, and with
// a budget that makes them keep checkpoints.
//
//   checkpoint_cost [--steps=N] [--elements=N] [--threads=N] [--repeats=N]
//
// Without --steps it goes through 64, 4096, 65536 and 8388608, with as many elements as make about the same
// work. Exit code 1 where the results differ by more than rounding.

#include <algorithm>
#include <cmath>

#include "../tests/support/folders.h"
#include "../tests/support/native.h"
#include "timing.h"

using namespace adc;

namespace {

struct Settings {
  int64_t elements = 0;
  uint32_t threads = 0;
  int repeats = 0;
};

interp::Arguments ArgumentsOf(int64_t elements, int steps) {
  interp::Arguments arguments;
  arguments.list.resize(3);
  arguments[0].tensor = interp::Tensor::Zeros(ir::kF32, {elements});
  for (int64_t n = 0; n < elements; ++n)
    arguments[0].tensor.Set(n,
                            0.1 + static_cast<double>((n * 7919) % elements) / static_cast<double>(elements));
  arguments[1].tensor = interp::Tensor::Zeros(ir::kF32, {});
  arguments[2] = interp::NumberArgument(ir::kI32, steps);
  return arguments;
}

/// One way to run a gradient.
struct Measured {
  bench::Time time;
  uint64_t heap_bytes = 0, segment = 0;
  interp::Tensor adjoint;
};

Measured Measure(test::Native& native, const std::string& gradient, const interp::Arguments& primal,
                 uint64_t budget, int repeats) {
  Measured measured;
  interp::Arguments arguments = native.DerivedArguments(gradient, primal);
  arguments[native.Companion(gradient, 1)].tensor.Set(0, 1.0);
  interp::Tensor& adjoint = arguments[native.Companion(gradient, 0)].tensor;
  auto launch = native.Plan(gradient, arguments, budget);
  measured.time = bench::BestOf(
      repeats, [&] { std::fill(adjoint.data.begin(), adjoint.data.end(), std::byte{0}); },
      [&] { launch.Run(); });
  measured.heap_bytes = launch.Report().heap_bytes;
  measured.segment = launch.Task(0).segment;
  measured.adjoint = adjoint;
  return measured;
}

double Difference(const interp::Tensor& a, const interp::Tensor& b) {
  double worst = 0, largest = 0;
  for (int64_t n = 0; n < a.ScalarCount(); ++n) {
    worst = std::max(worst, std::fabs(a.Get(n) - b.Get(n)));
    largest = std::max(largest, std::fabs(a.Get(n)));
  }
  return largest > 0 ? worst / largest : worst;
}

bool Compare(test::Native& plain, test::Native& chosen, int steps, const Settings& settings) {
  bool good = true;
  interp::Arguments primal = ArgumentsOf(settings.elements, steps);
  std::printf("%d steps, %lld elements\n", steps, static_cast<long long>(settings.elements));
  for (const char* kernel : {"sum", "square", "cheap", "until"}) {
    std::string gradient = std::string(kernel) + ".grad";
    Measured whole = Measure(plain, gradient, primal, 0, settings.repeats);
    Measured same = Measure(chosen, gradient, primal, 0, settings.repeats);
    // Whole tapes do not fit half of the rows into this.
    uint64_t budget = std::max<uint64_t>(whole.heap_bytes / settings.threads / 2, 64 * settings.threads);
    Measured cut = Measure(chosen, gradient, primal, budget, settings.repeats);
    auto ratio = [&](const Measured& one) { return one.time.processor / whole.time.processor; };
    std::printf("  %-8s whole %9.3f ms, %11llu bytes   auto %.2f   budget %.2f, %llu bytes, every %llu\n",
                kernel, whole.time.processor, static_cast<unsigned long long>(whole.heap_bytes), ratio(same),
                ratio(cut), static_cast<unsigned long long>(cut.heap_bytes),
                static_cast<unsigned long long>(cut.segment));
    good = good && Difference(whole.adjoint, same.adjoint) < 1e-3 &&
           Difference(whole.adjoint, cut.adjoint) < 1e-3;
  }
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  auto steps = static_cast<int>(bench::Option(argc, argv, "steps", 0));
  auto elements = static_cast<int64_t>(bench::Option(argc, argv, "elements", 0));
  settings.threads = static_cast<uint32_t>(bench::Option(argc, argv, "threads", 2));
  settings.repeats = static_cast<int>(bench::Option(argc, argv, "repeats", 5));
  std::printf("processor time against whole tapes, best of %d, %u threads\n", settings.repeats,
              settings.threads);
  test::Native plain(adc::test::BenchFolder() + "/checkpoints.ir", settings.threads);
  test::Native chosen(adc::test::BenchFolder() + "/checkpoints.ir", settings.threads, false, 2, false,
                      driver::kCheckpointAtLaunch);
  bool good = true;
  for (int some : steps > 0 ? std::vector<int>{steps} : std::vector<int>{64, 4096, 65536, 1 << 23}) {
    settings.elements = elements > 0 ? elements : (int64_t{1} << 24) / some;
    good = Compare(plain, chosen, some, settings) && good;
  }
  if (!good) std::printf("RESULTS DIFFER\n");
  return good ? 0 : 1;
}
