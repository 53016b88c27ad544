#include <cmath>
#include <cstdlib>

#include "device_kernels.h"
#include "fake_cuda.h"
#include "session.h"

// Other arguments for a plan that exists, and what a launch computes, reads and counts again because of them.

using namespace fixture;

namespace {

/// The fixture for a CPU and a CUDA device; `counted` only reads what decides about its stack.
adc::artifact::Metadata CudaMetadata() {
  adc::artifact::Metadata metadata = MakeMetadata();
  for (adc::artifact::KernelMeta& kernel : metadata.kernels) {
    if (kernel.name == "counted") kernel.params[0].access = adc::artifact::Access::kRead;
  }
  adc::artifact::TargetMeta target;
  target.name = "cuda:sm_70";
  target.kind = "cuda";
  target.arch = "sm_70";
  target.abi = "ptx";
  AddDeviceTarget(&metadata, target);
  return metadata;
}

/// A host that counts what is taken of it.
struct CountingHost : adrt_host {
  long calls = 0;
  CountingHost() : adrt_host(TrustingHost()) {
    user = this;
    allocate = [](void* own, size_t size, size_t alignment) {
      ++static_cast<CountingHost*>(own)->calls;
      return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    };
    release = [](void*, void* memory, size_t, size_t) { std::free(memory); };
  }
};

/// A fake device with the bundle loaded.
struct OnFake {
  FakeCuda fake;
  CountingHost host;
  adrt_bundle* bundle = nullptr;
  adrt_device* device = nullptr;
  adrt_module* module = nullptr;
  adrt_heap* heap = nullptr;
  adrt_launch_plan* plan = nullptr;
  std::vector<adrt_memory*> memory;
  ErrorBox error;

  OnFake() {
    adc::artifact::Metadata metadata = CudaMetadata();
    std::string text = MakePtx(metadata, static_cast<uint32_t>(metadata.targets.size()) - 1);
    std::vector<uint8_t> file =
        MakeDeviceBundle(metadata, adc::artifact::section::kPtx, {text.begin(), text.end()});
    adrt_cuda_desc desc = fake.Desc();
    Must(adrt_bundle_open(&host, file.data(), file.size(), ADRT_BUNDLE_COPY, &bundle, &error));
    Must(adrt_device_wrap_cuda(&host, &desc, &device, &error));
    Must(adrt_module_load(device, bundle, &module, &error));
    Must(adrt_heap_create_on(device, &heap, &error));
  }
  ~OnFake() {
    adrt_plan_release(plan);
    for (adrt_memory* one : memory) adrt_memory_release(one);
    adrt_heap_release(heap);
    adrt_module_release(module);
    adrt_device_release(device);
    adrt_bundle_release(bundle);
    CHECK(fake.broken.empty());
  }
  void Must(adrt_status status) {
    INFO(error.text);
    REQUIRE(status == ADRT_OK);
  }
  template <class T>
  adrt_memory* Upload(const std::vector<T>& values) {
    adrt_memory* made = nullptr;
    Must(adrt_memory_create(device, values.size() * sizeof(T), &made, &error));
    memory.push_back(made);
    Write(made, values);
    return made;
  }
  template <class T>
  void Write(adrt_memory* to, const std::vector<T>& values) {
    Must(adrt_memory_write(to, 0, values.data(), values.size() * sizeof(T), &error));
  }
  void Plan(const char* name, const std::vector<adrt_arg>& args) {
    const adrt_kernel* kernel = nullptr;
    Must(adrt_bundle_find_kernel(bundle, name, 0, &kernel, &error));
    adrt_plan_desc desc = {};
    desc.struct_size = sizeof desc;
    desc.args = args.data();
    desc.arg_count = static_cast<uint32_t>(args.size());
    desc.module = module;
    Must(adrt_plan(kernel, &desc, &plan, &error));
  }
  adrt_status Run() {
    adrt_run_desc run = RunDesc();
    run.heap = heap;
    return adrt_run(plan, &run, &error);
  }
  long Launches(const char* symbol) const {
    long count = 0;
    for (const FakeStreams::Launched& one : fake.launches) count += one.symbol == symbol;
    return count;
  }
};

double Expected(double x, int32_t n) {
  double sum = 0;
  for (int32_t t = 0; t < n; ++t) sum += t * std::pow(x, t);
  return sum;
}

}  // namespace

TEST_CASE("a plan takes other arguments: numbers, shapes, memory", "[loader][update]") {
  Session session(3);
  std::vector<double> x(100, 0.5), y(100, -1), z(40, -1);
  int32_t n = 8;
  adrt_arg arg_n = ScalarArg("n", ADRT_TYPE_I32, &n);
  Plan plan(session, "tape",
            {BufferArg("x", ADRT_TYPE_F64, x.data(), {100}), BufferArg("y", ADRT_TYPE_F64, y.data(), {100}),
             arg_n});
  REQUIRE(plan.Run() == ADRT_OK);
  for (int32_t steps : {20, 3, 64, 0}) {
    n = steps;
    REQUIRE(adrt_plan_update(plan.plan, &arg_n, 1, &plan.error) == ADRT_OK);
    CHECK(plan.Stack(0, 0).capacity == static_cast<uint64_t>(steps));
    REQUIRE(plan.Run() == ADRT_OK);
    for (double value : y) REQUIRE(value == Approx(Expected(0.5, steps)));
  }
  n = 5;
  std::vector<adrt_arg> others = {BufferArg("y", ADRT_TYPE_F64, z.data(), {40}),
                                  BufferArg("x", ADRT_TYPE_F64, x.data() + 60, {40}), arg_n};
  REQUIRE(adrt_plan_update(plan.plan, others.data(), 3, &plan.error) == ADRT_OK);
  CHECK(plan.Task(0).iterations == 40);
  REQUIRE(plan.Run() == ADRT_OK);
  for (double value : z) REQUIRE(value == Approx(Expected(0.5, 5)));
  CHECK(y[0] == 0);
}

TEST_CASE("an update that fails leaves the plan as it was", "[loader][update]") {
  Session session;
  std::vector<double> x(100, 0.5), y(100, -1);
  int32_t n = 8, many = 1 << 30;
  float wrong = 1;
  Plan plan(session, "tape",
            {BufferArg("x", ADRT_TYPE_F64, x.data(), {100}), BufferArg("y", ADRT_TYPE_F64, y.data(), {100}),
             ScalarArg("n", ADRT_TYPE_I32, &n)},
            4096);
  const std::vector<std::vector<adrt_arg>> kRefused = {
      {ScalarArg("n", ADRT_TYPE_F32, &wrong)},
      {ScalarArg("m", ADRT_TYPE_I32, &n)},
      {ScalarArg("n", ADRT_TYPE_I32, &n), ScalarArg("n", ADRT_TYPE_I32, &n)},
      {BufferArg("x", ADRT_TYPE_F64, x.data(), {10}), BufferArg("y", ADRT_TYPE_F64, x.data(), {10})},
      {BufferArg("x", ADRT_TYPE_F64, x.data(), {50}), ScalarArg("n", ADRT_TYPE_F32, &wrong)},
      {ScalarArg("n", ADRT_TYPE_I32, &many)},  // more than the budget
  };
  // What an earlier update found is not what a later one goes back to.
  std::vector<double> z(100, -1);
  adrt_arg other = BufferArg("y", ADRT_TYPE_F64, z.data(), {100}), same = ScalarArg("n", ADRT_TYPE_I32, &n);
  n = 3;
  REQUIRE(adrt_plan_update(plan.plan, std::vector{other, same}.data(), 2, &plan.error) == ADRT_OK);
  n = 8;
  other = BufferArg("y", ADRT_TYPE_F64, y.data(), {100});
  REQUIRE(adrt_plan_update(plan.plan, &other, 1, &plan.error) == ADRT_OK);
  CHECK(plan.Stack(0, 0).capacity == 3);
  REQUIRE(adrt_plan_update(plan.plan, &same, 1, &plan.error) == ADRT_OK);
  for (const std::vector<adrt_arg>& args : kRefused) {
    CHECK(adrt_plan_update(plan.plan, args.data(), static_cast<uint32_t>(args.size()), &plan.error) !=
          ADRT_OK);
    INFO(plan.error.text);
    CHECK(plan.Task(0).iterations == 100);
    CHECK(plan.Stack(0, 0).capacity == 8);
    std::fill(y.begin(), y.end(), -1.0);
    REQUIRE(plan.Run() == ADRT_OK);
    for (double value : y) REQUIRE(value == Approx(Expected(0.5, 8)));
  }
  CHECK(adrt_plan_update(nullptr, nullptr, 0, &plan.error) == ADRT_ERROR_ARGUMENT);
  CHECK(adrt_plan_update(plan.plan, nullptr, 1, &plan.error) == ADRT_ERROR_ARGUMENT);
  CHECK(adrt_plan_update(plan.plan, nullptr, 0, &plan.error) == ADRT_OK);
}

TEST_CASE("updates and launches in turn take no memory", "[loader][update]") {
  CountingHost host;
  std::vector<uint8_t> file = MakeBundle();
  adrt_bundle* bundle = nullptr;
  adrt_device* device = nullptr;
  adrt_module* module = nullptr;
  adrt_heap* heap = nullptr;
  adrt_launch_plan* plan = nullptr;
  const adrt_kernel* kernel = nullptr;
  ErrorBox error;
  REQUIRE(adrt_bundle_open(&host, file.data(), file.size(), ADRT_BUNDLE_COPY, &bundle, &error) == ADRT_OK);
  REQUIRE(adrt_device_open_cpu(&host, 2, &device, &error) == ADRT_OK);
  REQUIRE(adrt_module_load(device, bundle, &module, &error) == ADRT_OK);
  REQUIRE(adrt_heap_create(&host, &heap, &error) == ADRT_OK);
  REQUIRE(adrt_bundle_find_kernel(bundle, "rows", 0, &kernel, &error) == ADRT_OK);
  std::vector<int32_t> start = {0, 1, 2, 9};
  std::vector<float> x(9, 1.0f), y(3);
  std::vector<adrt_arg> args = {BufferArg("start", ADRT_TYPE_I32, start.data(), {4}),
                                BufferArg("x", ADRT_TYPE_F32, x.data(), {9}),
                                BufferArg("y", ADRT_TYPE_F32, y.data(), {3})};
  adrt_plan_desc desc = {};
  desc.struct_size = sizeof desc;
  desc.args = args.data();
  desc.arg_count = 3;
  desc.module = module;
  long taken = host.calls;
  REQUIRE(adrt_plan(kernel, &desc, &plan, &error) == ADRT_OK);
  CHECK(host.calls == taken + 1);  // a plan is one piece
  adrt_run_desc run = RunDesc();
  run.heap = heap;
  auto turn = [&](uint64_t version) {
    args[0].content_version = version;
    REQUIRE(adrt_plan_update(plan, args.data(), 3, &error) == ADRT_OK);
    REQUIRE(adrt_run(plan, &run, &error) == ADRT_OK);
    for (size_t row = 0; row < 3; ++row) REQUIRE(y[row] == static_cast<float>(start[row + 1] - start[row]));
  };
  turn(1);
  long before = host.calls;
  for (uint64_t version = 2; version < 20; ++version) {
    start[1] = static_cast<int32_t>(version % 2);
    turn(version % 5 == 0 ? 0 : version);
  }
  CHECK(host.calls == before);
  adrt_plan_release(plan);
  adrt_heap_release(heap);
  adrt_module_release(module);
  adrt_device_release(device);
  adrt_bundle_release(bundle);
}

TEST_CASE("what lies on a device is read again where its version is another",
          "[loader][update][cuda][row:S2][row:S6]") {
  OnFake on;
  std::vector<int32_t> start = {0, 1, 6, 6, 39, 41};
  adrt_memory *start_memory = on.Upload(start), *x = on.Upload(std::vector<float>(41, 1.0f)),
              *y = on.Upload(std::vector<float>(5));
  adrt_arg starts = BufferArg("start", ADRT_TYPE_I32, adrt_memory_data(start_memory), {6});
  starts.content_version = 1;
  on.Plan("rows", {starts, BufferArg("x", ADRT_TYPE_F32, adrt_memory_data(x), {41}),
                   BufferArg("y", ADRT_TYPE_F32, adrt_memory_data(y), {5})});
  auto run = [&](long copies) {
    long before = on.fake.copies;
    on.Must(on.Run());
    std::vector<float> found(5);
    CHECK(on.fake.copies == before + copies + 1);  // the status block
    on.Must(adrt_memory_read(y, 0, found.data(), 20, &on.error));
    for (size_t row = 0; row < 5; ++row) CHECK(found[row] == static_cast<float>(start[row + 1] - start[row]));
  };
  auto update = [&](const adrt_arg& arg) { on.Must(adrt_plan_update(on.plan, &arg, 1, &on.error)); };
  run(1);
  run(0);
  // The same version: nothing is read. A larger bound under another one, or under none: it is.
  update(starts);
  run(0);
  start = {0, 1, 2, 3, 4, 41};
  on.Write(start_memory, start);
  starts.content_version = 2;
  update(starts);
  run(1);
  run(0);
  // Other extents that the bound does not lie in: it is computed again from the copy that is there.
  adrt_memory* short_y = on.Upload(std::vector<float>(5));
  update(BufferArg("y", ADRT_TYPE_F32, adrt_memory_data(short_y), {4}));
  long before = on.fake.copies;
  on.Must(on.Run());
  CHECK(on.fake.copies == before + 1);
  update(BufferArg("y", ADRT_TYPE_F32, adrt_memory_data(y), {5}));
  starts.content_version = 0;
  update(starts);
  run(1);
  start = {0, 16, 17, 18, 19, 20};
  on.Write(start_memory, start);
  run(1);
  // Another memory has a content of its own, whatever the version.
  starts.content_version = 2;
  update(starts);
  run(1);
  start = {0, 0, 0, 0, 0, 40};
  adrt_memory* other = on.Upload(start);
  starts.data = adrt_memory_data(other);
  update(starts);
  run(1);
  run(0);
}

TEST_CASE("counting is dispatched again where its version is another",
          "[loader][update][cuda][row:S2][row:S6]") {
  OnFake on;
  const char* kCounts = "adc_counted_2Esize0_t0";
  std::vector<uint32_t> values(300, 1);
  values[7] = 27;
  adrt_memory* x = on.Upload(values);
  adrt_arg arg = BufferArg("x", ADRT_TYPE_U32, adrt_memory_data(x), {300});
  arg.content_version = 1;
  on.Plan("counted", {arg});
  auto run = [&] {
    on.Write(x, values);  // the kernel leaves its steps there
    on.Must(on.Run());
    std::vector<uint32_t> steps(300);
    on.Must(adrt_memory_read(x, 0, steps.data(), 1200, &on.error));
    CHECK(steps[7] == (values[7] == 27 ? 111u : 118u));
  };
  run();
  CHECK(on.Launches(kCounts) == 1);
  run();
  on.Must(adrt_plan_update(on.plan, &arg, 1, &on.error));
  run();
  CHECK(on.Launches(kCounts) == 1);
  // It needs more now.
  values[7] = 97;
  arg.content_version = 2;
  on.Must(adrt_plan_update(on.plan, &arg, 1, &on.error));
  run();
  CHECK(on.Launches(kCounts) == 2);
  run();
  CHECK(on.Launches(kCounts) == 2);
  // Nobody says what the buffer holds.
  arg.content_version = 0;
  on.Must(adrt_plan_update(on.plan, &arg, 1, &on.error));
  run();
  run();
  CHECK(on.Launches(kCounts) == 4);
  // A broken promise is an error, and the launch after it counts.
  values[7] = 27;
  arg.content_version = 3;
  on.Must(adrt_plan_update(on.plan, &arg, 1, &on.error));
  run();
  CHECK(on.Launches(kCounts) == 5);
  values[7] = 97;
  on.Write(x, values);
  CHECK(on.Run() == ADRT_ERROR_ADSTACK_OVERFLOW);
  INFO(on.error.text);
  CHECK(on.error.Says("at least 112 elements and has 111"));
  CHECK(on.error.Says("the content of 'x'"));
  CHECK(on.Launches(kCounts) == 5);
  run();
  CHECK(on.Launches(kCounts) == 6);
  long before = on.host.calls, allocations = on.fake.allocations;
  run();
  CHECK(on.host.calls == before);
  CHECK(on.fake.allocations == allocations);
}

TEST_CASE("rows that were counted too few are an error of their own, and counted again",
          "[loader][update][cuda]") {
  OnFake on;
  std::vector<uint32_t> few(300, 1), many(300, 1);
  for (size_t n = 0; n < 40; ++n) few[n * 7] = 3;
  for (size_t n = 0; n < 200; ++n) many[n] = 3;
  adrt_memory* x = on.Upload(few);
  adrt_arg arg = BufferArg("x", ADRT_TYPE_U32, adrt_memory_data(x), {300});
  arg.content_version = 1;
  on.Plan("counted", {arg});
  on.Must(on.Run());
  adrt_group_report group = {};
  group.struct_size = sizeof group;
  on.Must(adrt_plan_group(on.plan, 0, 0, &group, &on.error));
  CHECK(group.counted != 0);
  CHECK(group.iterations == 40);
  CHECK(group.rows == 64);
  on.Write(x, many);
  CHECK(on.Run() == ADRT_ERROR_ROWS_EXHAUSTED);
  INFO(on.error.text);
  for (const char* part :
       {"kernel 'counted', task 0 (fixture.ir:2:3)",
        "200 threads passed the gate at fixture.ir:5:5, more than the 64 rows that were counted",
        "the content of 'x': give it another content_version"}) {
    CHECK(on.error.Says(part));
  }
  CHECK(on.error.needed_bytes == 256 + 320 * 32);  // the counter lies before the rows
  CHECK(std::string(adrt_status_text(ADRT_ERROR_ROWS_EXHAUSTED)) == "rows exhausted");
  on.Write(x, many);
  on.Must(on.Run());
  on.Must(adrt_plan_group(on.plan, 0, 0, &group, &on.error));
  CHECK(group.iterations == 200);
  CHECK(on.Launches("adc_counted_2Esize0_t0") == 2);
}
