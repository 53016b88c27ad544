// Bounds in buffers on the CPU: long ones are counted by compiled code, not walked step by step.

#include <cmath>

#include "../support/folders.h"
#include "../support/on_cpu.h"
#include "bounds_cases.h"
#include "promise_cases.h"

using namespace adc;
using namespace adc::test;

TEST_CASE("bounds in buffers are counted where that is much to evaluate, on the CPU") {
  std::string path = adc::test::TestsFolder() + "/rows/bounds.ir";
  OnCpu device(path, 2);
  for (int64_t size : {300, 20000}) CompareBounds(device, path, size);
}

TEST_CASE("promises that data keep or break, on the CPU") {
  OnCpu device(adc::test::TestsFolder() + "/rows/promises.ir", 2);
  CheckPromises(device, 300);
  CheckPromisesAgain(device);
}

namespace {

/// Three elements, of which the loop overwrites the first twice, the second never and the last three times.
class SavedOnCpu : public OnCpu {
 public:
  SavedOnCpu() : OnCpu(TestsFolder() + "/rows/saved.ir", 2) {}

  adrt_status Plan(const std::string& kernel_name, bool with_module) {
    adrt_plan_release(plan);
    plan = nullptr;
    const adrt_kernel* kernel = nullptr;
    Must(adrt_bundle_find_kernel(bundle_, kernel_name.c_str(), 0, &kernel, Error()));
    adrt_plan_desc desc = {};
    desc.struct_size = sizeof desc;
    desc.module = with_module ? module_ : nullptr;
    std::vector<adrt_arg> args = Arguments(kernel_name == "ranges" ? 4 : 5);
    desc.args = args.data();
    desc.arg_count = static_cast<uint32_t>(args.size());
    return adrt_plan(kernel, &desc, &plan, Error());
  }
  std::vector<adrt_arg> Arguments(uint32_t count) {
    std::vector<adrt_arg> args(count);
    for (uint32_t n = 0; n < count; ++n) {
      args[n].struct_size = sizeof args[n];
      args[n].kind = ADRT_PARAM_BUFFER;
      args[n].index = n;
      args[n].type = n == 1 || n == 2 ? ADRT_TYPE_I32 : ADRT_TYPE_F64;
      args[n].rank = 1;
      args[n].extents[0] = 3;
    }
    args[0].data = x;
    args[1].data = lo;
    args[2].data = hi;
    args[3].data = saved.data();
    args[3].extents[0] = static_cast<int64_t>(saved.size());
    if (count > 4) args[4].data = adjoint;
    return args;
  }
  adrt_error* Error() { return OnCpu::Error(); }
  ~SavedOnCpu() override { adrt_plan_release(plan); }

  adrt_launch_plan* plan = nullptr;
  double x[3] = {0.5, 1.0, -2.0}, adjoint[3] = {1, 2, 3};
  int32_t lo[3] = {0, 2, 2}, hi[3] = {2, 2, 5};
  std::vector<double> saved;
};

}  // namespace

TEST_CASE("values that are saved as often as data says are counted before the launch") {
  SavedOnCpu device;
  adrt_error* error = device.Error();
  uint64_t elements = 0;
  // Without a module nothing is read.
  REQUIRE(device.Plan("ranges", false) == ADRT_OK);
  CHECK(adrt_plan_saved(device.plan, 3, &elements, error) == ADRT_ERROR_NEEDS_DEVICE_DATA);
  CHECK(std::string(error->text).find("'saved.f64'") != std::string::npos);
  // The longest range has three iterations, of which each has a slot for every element.
  REQUIRE(device.Plan("ranges", true) == ADRT_OK);
  REQUIRE(adrt_plan_resolve(device.plan, nullptr, 0, error) == ADRT_OK);
  REQUIRE(adrt_plan_saved(device.plan, 3, &elements, error) == ADRT_OK);
  CHECK(elements == 9);
  adrt_plan_report report = {};
  report.struct_size = sizeof report;
  REQUIRE(adrt_plan_info(device.plan, &report, error) == ADRT_OK);
  CHECK(report.saved_bytes == 9 * sizeof(double));
  // Nothing runs without memory.
  CHECK(adrt_run(device.plan, nullptr, error) == ADRT_ERROR_ARGUMENT);
  CHECK(error->needed_bytes == 9 * sizeof(double));
  CHECK(device.x[0] == 0.5);
  device.saved.assign(9, NAN);
  std::vector<adrt_arg> args = device.Arguments(4);
  REQUIRE(adrt_plan_update(device.plan, args.data(), 4, error) == ADRT_OK);
  REQUIRE(adrt_run(device.plan, nullptr, error) == ADRT_OK);
  CHECK(device.x[0] == std::sin(std::sin(0.5)));
  // The gradient counts nothing: it reads as far as the memory goes, and no state but what was saved.
  std::fill(device.x, device.x + 3, NAN);
  device.saved.resize(8);
  REQUIRE(device.Plan("ranges.grad", true) == ADRT_OK);
  CHECK(adrt_run(device.plan, nullptr, error) == ADRT_ERROR_ADSTACK_OVERFLOW);
  CHECK(error->needed_bytes == 9 * sizeof(double));
  for (int n = 0; n < 3; ++n) device.adjoint[n] = n + 1;
  device.saved = {0.5, NAN, -2.0, std::sin(0.5), NAN, std::sin(-2.0), NAN, NAN, std::sin(std::sin(-2.0))};
  REQUIRE(device.Plan("ranges.grad", true) == ADRT_OK);
  REQUIRE(adrt_run(device.plan, nullptr, error) == ADRT_OK);
  CHECK(device.adjoint[0] == Approx(std::cos(0.5) * std::cos(std::sin(0.5))).epsilon(1e-14));
  CHECK(device.adjoint[1] == 2);
  double last = std::sin(-2.0);
  CHECK(device.adjoint[2] ==
        Approx(3 * std::cos(-2.0) * std::cos(last) * std::cos(std::sin(last))).epsilon(1e-14));
  // More iterations than before need more memory.
  device.hi[2] = 6;
  REQUIRE(device.Plan("ranges", true) == ADRT_OK);
  CHECK(adrt_run(device.plan, nullptr, error) == ADRT_ERROR_ARGUMENT);
  CHECK(error->needed_bytes == 12 * sizeof(double));
}
