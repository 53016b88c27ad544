// What a launch costs before it runs: planning, and counting what lies in the data.
//
//   plan_and_count [--iterations=N] [--threads=N] [--repeats=N] [--plans=N]
//
// Plans are made without a module, so that nothing but the sizes is computed. Size kernels are run as the
// loader runs them: a launch whose buffers may have changed (content version 0) against one whose buffers
// have not, and that of mpm_grid_op, which devices alone need, by itself. Launches of little work show what
// workers cost that it does not need.
//
// Exit code 1 where a plan takes more than 2 microseconds, or a size kernel more than a tenth of its gradient
// (a whole one, where the loop's end depends on all that the loop computes, and that calls functions).

#include <unistd.h>

#include <random>

#include "../tests/support/bare_argument.h"
#include "../tests/support/folders.h"
#include "../tests/support/native.h"
#include "mpm_state.h"
#include "target/target.h"
#include "timing.h"

using namespace adc;

namespace {

uint64_t allocations = 0;

void* Allocate(void*, size_t size, size_t alignment) {
  ++allocations;
  void* memory = nullptr;
  return posix_memalign(&memory, std::max(alignment, sizeof(void*)), size) == 0 ? memory : nullptr;
}
void Release(void*, void* memory, size_t, size_t) {
  free(memory);
}

/// A bundle that is opened with counted allocations.
struct Bundle {
  explicit Bundle(const std::vector<std::string>& inputs, const std::vector<std::string>& targets) {
    driver::CompileOptions options;
    options.inputs = inputs;
    options.targets = targets;
    product::Product product;
    if (driver::CompileInputs(inputs, options, &product) != kExitOk) std::exit(1);
    adrt_host host = {};
    host.struct_size = sizeof host;
    host.flags = ADRT_HOST_TRUST;
    host.allocate = Allocate;
    host.release = Release;
    Must(adrt_bundle_open(&host, product.bytes.data(), product.bytes.size(), ADRT_BUNDLE_COPY, &bundle,
                          Error()));
  }
  ~Bundle() { adrt_bundle_release(bundle); }
  adrt_error* Error() {
    error = {};
    error.struct_size = sizeof error;
    return &error;
  }
  void Must(adrt_status status) {
    if (status == ADRT_OK) return;
    std::fprintf(stderr, "%s: %s\n", adrt_status_text(status), error.text);
    std::exit(1);
  }
  adrt_bundle* bundle = nullptr;
  adrt_error error = {};
};

bool PrintPlan(const char* what, bench::Time time, int plans, uint64_t per_plan) {
  double microseconds = 1e3 * time.processor / plans;
  std::printf("%-28s %10.3f us, %llu allocations      goal: at most 2.00%s\n", what, microseconds,
              static_cast<unsigned long long>(per_plan), microseconds <= 2 ? "" : ", MISSED");
  return microseconds <= 2;
}

/// Times plans of one kernel, all buffers with `extent` elements per axis.
bool TimePlans(Bundle& bundle, const char* name, int64_t extent, int plans) {
  const adrt_kernel* kernel = nullptr;
  bundle.Must(adrt_bundle_find_kernel(bundle.bundle, name, 0, &kernel, bundle.Error()));
  adrt_kernel_report report = {};
  report.struct_size = sizeof report;
  bundle.Must(adrt_kernel_info(kernel, &report, bundle.Error()));
  // Planning without a module looks at addresses, not at what is there.
  constexpr size_t kApart = 1 << 20;
  std::vector<char> memory(report.param_count * kApart);
  std::vector<adrt_arg> args;
  for (uint32_t n = 0; n < report.param_count; ++n) {
    adrt_param_report param = {};
    param.struct_size = sizeof param;
    bundle.Must(adrt_kernel_param(kernel, n, &param, bundle.Error()));
    if (param.kind == ADRT_PARAM_SCRATCH || param.kind == ADRT_PARAM_SEGMENT) continue;
    adrt_arg arg = test::BareArgument(param, n);
    arg.data = memory.data() + n * kApart;
    arg.rank = param.kind == ADRT_PARAM_BUFFER ? param.rank : 0;
    for (uint32_t axis = 0; axis < arg.rank; ++axis) arg.extents[axis] = extent;
    args.push_back(arg);
  }
  adrt_plan_desc desc = {};
  desc.struct_size = sizeof desc;
  desc.arg_count = static_cast<uint32_t>(args.size());
  desc.args = args.data();
  uint64_t before = 0;
  auto plan_once = [&] {
    adrt_launch_plan* plan = nullptr;
    bundle.Must(adrt_plan(kernel, &desc, &plan, bundle.Error()));
    adrt_plan_release(plan);
  };
  plan_once();
  before = allocations;
  plan_once();
  uint64_t per_plan = allocations - before;
  bench::Time time = bench::BestOf(10, [&] {
    for (int n = 0; n < plans; ++n) plan_once();
  });
  bool good = PrintPlan(name, time, plans, per_plan);

  // What a program does from launch to launch: the same plan with other arguments, here all of them.
  adrt_launch_plan* reused = nullptr;
  bundle.Must(adrt_plan(kernel, &desc, &reused, bundle.Error()));
  int turn = 0;
  auto update_once = [&] {
    // Other shapes each time, so that sizes are computed again.
    for (adrt_arg& arg : args) {
      if (arg.kind != ADRT_PARAM_SCALAR) arg.extents[0] = extent + (arg.rank > 0 ? turn % 2 : 0);
    }
    ++turn;
    bundle.Must(adrt_plan_update(reused, args.data(), static_cast<uint32_t>(args.size()), bundle.Error()));
  };
  update_once();
  before = allocations;
  update_once();
  per_plan = allocations - before;
  time = bench::BestOf(10, [&] {
    for (int n = 0; n < plans; ++n) update_once();
  });
  adrt_plan_release(reused);
  return PrintPlan("  adrt_plan_update", time, plans, per_plan) && good;
}

const char* const kRagged = R"(
kernel @ragged(%x: buffer<f32, 1> diff, %y: buffer<f32, 1> diff, %row: buffer<i32, 1>) {
  parallel %i in 0..shape(%x, 0) {
    %v0 = load %x[%i]
    %v = for %t in (load %row[%i])..(load %row[(add %i, 1)]) carry(%a = %v0) { yield (mul %a, (add 0.5, (sin %a))) }
    store %y[%i], %v
  }
}
kernel @halving(%x: buffer<f32, 1> diff, %y: buffer<f32, 1> diff, %row: buffer<i32, 1>) {
  parallel %i in 0..shape(%x, 0) {
    %v0 = load %x[%i]
    %v = while carry(%a = %v0) { continue_if (gt %a, 0.125) } do { yield (mul %a, (sub 0.75, (mul 0.25, (sin %a)))) }
    store %y[%i], %v
  }
}
kernel @decay(%x: buffer<f32, 1> diff, %y: buffer<f32, 1> diff, %row: buffer<i32, 1>) {
  parallel %i in 0..shape(%x, 0) {
    %v0 = load %x[%i]
    %v = while carry(%a = %v0) { continue_if (gt %a, 0.125) } do { yield (mul %a, (sub 0.9375, (mul 0.125, %a))) }
    store %y[%i], %v
  }
}
)";

/// A launch that counts against one that goes by what was counted.
bool TimeCounting(test::Native& native, const std::string& name, int64_t iterations, int repeats,
                  double goal) {
  std::mt19937 random(7);
  std::vector<double> x, row = {0};
  for (int64_t k = 0; k < iterations; ++k) {
    x.push_back(0.1 + 1e-6 * static_cast<double>(random() % 900000));
    row.push_back(row.back() + static_cast<double>(random() % 16));
  }
  interp::Arguments primal;
  primal.list.resize(3);
  primal[0].tensor = interp::Tensor::Filled(ir::Scalar::F32, {iterations}, x);
  primal[1].tensor = interp::Tensor::Zeros(ir::kF32, {iterations});
  primal[2].tensor = interp::Tensor::Filled(ir::Scalar::I32, {iterations + 1}, row);
  interp::Arguments derived = native.DerivedArguments(name, primal);
  auto again = native.Plan(name, derived, 0, 0), known = native.Plan(name, derived, 0, 1);
  known.Run();
  again.Run();
  bench::Time counted = bench::BestOf(repeats, [&] { again.Run(); });
  bench::Time uncounted = bench::BestOf(repeats, [&] { known.Run(); });
  std::printf("%s, %lld iterations\n", name.c_str(), static_cast<long long>(iterations));
  bench::PrintTime("gradient, sizes known", uncounted);
  bench::PrintTime("gradient, sizes counted", counted);
  bench::Time counting{counted.wall - uncounted.wall, counted.processor - uncounted.processor};
  // On a machine that others use too the times of the clock say little about a difference.
  counting.wall = uncounted.wall * counting.processor / uncounted.processor;
  return bench::PrintRatio("counting / gradient", counting, uncounted, goal);
}

const char* const kScaled = R"(
kernel @scaled(%x: buffer<f32, 1>, %y: buffer<f32, 1>) {
  parallel %i in 0..shape(%x, 0) { store %y[%i], (add (mul 0.5, (load %x[%i])), 1.0) }
}
)";

/// Launches of a few thousand iterations that take an instant each.
void TimeLaunches(const std::string& path) {
  constexpr int64_t kIterations = 4096;
  constexpr int kLaunches = 1000;
  for (uint32_t workers : {1u, 2u, 16u}) {
    test::Native native(path, workers, false, 2, false, 0, target::HostTarget());
    interp::Arguments arguments;
    arguments.list.resize(2);
    for (size_t n = 0; n < 2; ++n) arguments[n].tensor = interp::Tensor::Zeros(ir::kF32, {kIterations});
    auto launch = native.Plan("scaled", arguments, 0, 1, true);
    bench::Time time = bench::BestOf(10, [&] {
      for (int n = 0; n < kLaunches; ++n) launch.Run();
    });
    std::printf("launch of %lld iterations, %2u workers %10.2f us   processor %10.2f us\n",
                static_cast<long long>(kIterations), workers, 1e3 * time.wall / kLaunches,
                1e3 * time.processor / kLaunches);
  }
}

/// A file with the text, as long as it lives.
class SourceFile {
 public:
  explicit SourceFile(const char* text) {
    int file = mkstemps(path_, 3);
    if (file < 0 || write(file, text, std::strlen(text)) < 0) std::exit(1);
    close(file);
  }
  SourceFile(const SourceFile&) = delete;
  SourceFile& operator=(const SourceFile&) = delete;
  ~SourceFile() { unlink(path_); }
  std::string path() const { return path_; }

 private:
  char path_[32] = "/tmp/adc-bench-XXXXXX.ir";
};

}  // namespace

int main(int argc, char** argv) {
  auto iterations = static_cast<int64_t>(bench::Option(argc, argv, "iterations", 600000));
  auto threads = static_cast<uint32_t>(bench::Option(argc, argv, "threads", 2));
  auto repeats = static_cast<int>(bench::Option(argc, argv, "repeats", 20));
  auto plans = static_cast<int>(bench::Option(argc, argv, "plans", 20000));
  bool good = true;
  {
    Bundle bundle({adc::test::SamplesFolder() + "/relax.ir", adc::test::SamplesFolder() + "/mpm_grid_op.ir"},
                  {"cpu"});
    std::printf("adrt_plan and adrt_plan_release\n");
    good = TimePlans(bundle, "relax.grad", 8, plans) && good;
    good = TimePlans(bundle, "mpm_grid_op.grad", 8, plans) && good;
  }
  TimeLaunches(SourceFile(kScaled).path());
  SourceFile ragged(kRagged);
  {
    test::Native native(ragged.path(), threads, false, 2, false, 0, target::HostTarget());
    good = TimeCounting(native, "ragged.grad", iterations, repeats, 0.1) && good;
    good = TimeCounting(native, "decay.grad", iterations, repeats, 0.1) && good;
    good = TimeCounting(native, "halving.grad", iterations, repeats, 1) && good;
  }
  return good ? 0 : 1;
}
