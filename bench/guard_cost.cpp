// What the guard in front of tapes costs: the gradient of relax with it and without, on one thread.
//
//   guard_cost [--elements=N] [--repeats=N]
//   guard_cost --without=KERNEL.ir TARGET BUNDLE    compiles without guards, for benchmarks on devices
//
// Exit code 1 where it costs more than 3 % at any length.

#include <fstream>

#include "../tests/support/folders.h"
#include "../tests/support/native.h"
#include "timing.h"

using namespace adc;

namespace {

int CompileWithout(const std::string& input, const std::string& target, const std::string& output) {
  driver::CompileOptions options;
  options.targets = {target};
  options.leave_out_guards = true;
  product::Product product;
  ExitCode code = driver::CompileInputs({input}, options, &product);
  if (code != kExitOk) return code;
  std::ofstream file(output, std::ios::binary);
  file.write(reinterpret_cast<const char*>(product.bytes.data()),
             static_cast<std::streamsize>(product.bytes.size()));
  return file.good() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string kWithout = "--without=";
  if (argc == 4 && std::string(argv[1]).starts_with(kWithout))
    return CompileWithout(argv[1] + kWithout.size(), argv[2], argv[3]);
  auto elements = static_cast<int64_t>(bench::Option(argc, argv, "elements", 1 << 18));
  auto repeats = static_cast<int>(bench::Option(argc, argv, "repeats", 40));
  test::Native with(adc::test::SamplesFolder() + "/relax.ir", 1),
      without(adc::test::SamplesFolder() + "/relax.ir", 1, false, 2, true);

  interp::Arguments arguments;
  arguments.list.resize(3);
  arguments[0].tensor = interp::Tensor::Zeros(ir::kF32, {elements});
  for (int64_t i = 0; i < elements; ++i)
    arguments[0].tensor.Set(i, 0.1 + 0.8 * static_cast<double>(i % 8191) / 8191);
  arguments[1].tensor = interp::Tensor::Zeros(ir::kF32, {});
  bool good = true;
  for (int64_t length : {1, 4, 16, 64}) {
    // As many steps in all.
    int64_t count = elements / length;
    interp::Arguments given = arguments;
    given[0].tensor.extents = {count};
    given[0].tensor.data.resize(static_cast<size_t>(count) * sizeof(float));
    given[2] = interp::NumberArgument(ir::kI32, static_cast<double>(length));
    interp::Arguments one = with.DerivedArguments("relax.grad", given), other = one;
    auto guarded = with.Plan("relax.grad", one), bare = without.Plan("relax.grad", other);
    // In turns, so that what else the machine does falls on both.
    bench::Time time, base;
    for (int turn = 0; turn < repeats; ++turn) {
      time.Keep(bench::BestOf(3, [&] { guarded.Run(); }));
      base.Keep(bench::BestOf(3, [&] { bare.Run(); }));
    }
    std::printf("relax.grad, %lld elements of %lld steps, 1 thread, best of %d\n",
                static_cast<long long>(count), static_cast<long long>(length), 3 * repeats);
    bench::PrintTime("with the guard", time);
    bench::PrintTime("without", base);
    good = bench::PrintRatio("with / without", time, base, 1.03) && good;
  }
  return good ? 0 : 1;
}
