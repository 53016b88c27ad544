#include <cstdlib>

#include "device_kernels.h"
#include "fake_cuda.h"
#include "session.h"

// The loader's CUDA part over a driver that runs on the host.

using namespace fixture;

namespace {

adc::artifact::Metadata MakeCudaMetadata(const char* arch = "sm_70", const char* name = "cuda:sm_70") {
  adc::artifact::Metadata metadata = MakeMetadata();
  adc::artifact::TargetMeta target;
  target.name = name;
  target.kind = "cuda";
  target.arch = arch;
  target.abi = "ptx";
  AddDeviceTarget(&metadata, target);
  return metadata;
}

std::vector<uint8_t> MakeCudaBundle(const char* version = "6.0", const char* arch = "sm_70",
                                    const char* name = "cuda:sm_70") {
  adc::artifact::Metadata metadata = MakeCudaMetadata(arch, name);
  std::string text = MakePtx(metadata, static_cast<uint32_t>(metadata.targets.size()) - 1, version);
  return MakeDeviceBundle(metadata, adc::artifact::section::kPtx, {text.begin(), text.end()});
}

// Everything from a bundle to a loaded module, without requirements: each step may be made to fail.
struct Device {
  adrt_bundle* bundle = nullptr;
  adrt_device* device = nullptr;
  adrt_module* module = nullptr;
  std::vector<adrt_memory*> memory;
  std::vector<adrt_launch_plan*> plans;
  ErrorBox error;

  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device() {
    for (adrt_launch_plan* plan : plans) adrt_plan_release(plan);
    for (adrt_memory* one : memory) adrt_memory_release(one);
    adrt_module_release(module);
    adrt_device_release(device);
    adrt_bundle_release(bundle);
  }

  adrt_status Load(FakeCuda& fake, const std::vector<uint8_t>& file, bool open = false,
                   const adrt_host* own_host = nullptr) {
    adrt_host host = own_host ? *own_host : TrustingHost();
    adrt_cuda_desc desc = fake.Desc();
    adrt_status status = adrt_bundle_open(&host, file.data(), file.size(), ADRT_BUNDLE_COPY, &bundle, &error);
    if (status != ADRT_OK) return status;
    status = open ? adrt_device_open_cuda(&host, &desc, &device, &error)
                  : adrt_device_wrap_cuda(&host, &desc, &device, &error);
    return status != ADRT_OK ? status : adrt_module_load(device, bundle, &module, &error);
  }

  // Device memory with this content; null where that fails.
  template <class T>
  adrt_memory* Upload(const std::vector<T>& values, adrt_status* status) {
    adrt_memory* made = nullptr;
    *status = adrt_memory_create(device, values.size() * sizeof(T), &made, &error);
    if (*status != ADRT_OK) return nullptr;
    memory.push_back(made);
    *status = adrt_memory_write(made, 0, values.data(), values.size() * sizeof(T), &error);
    return *status == ADRT_OK ? made : nullptr;
  }
  template <class T>
  adrt_status Download(adrt_memory* from, std::vector<T>* values) {
    return adrt_memory_read(from, 0, values->data(), values->size() * sizeof(T), &error);
  }

  adrt_status Plan(const char* name, const std::vector<adrt_arg>& args, adrt_launch_plan** plan,
                   uint32_t workers = 0, uint64_t budget = 0) {
    const adrt_kernel* kernel = nullptr;
    adrt_plan_desc desc = {};
    desc.struct_size = sizeof desc;
    desc.args = args.data();
    desc.arg_count = static_cast<uint32_t>(args.size());
    desc.module = module;
    desc.workers = workers;
    desc.heap_budget = budget;
    adrt_status status = adrt_bundle_find_kernel(bundle, name, 0, &kernel, &error);
    if (status == ADRT_OK) status = adrt_plan(kernel, &desc, plan, &error);
    if (status == ADRT_OK) plans.push_back(*plan);
    return status;
  }

  void Must(adrt_status status) {
    INFO(error.text);
    REQUIRE(status == ADRT_OK);
  }
};

adrt_plan_report PlanReport(const adrt_launch_plan* plan) {
  adrt_plan_report report = {};
  report.struct_size = sizeof report;
  REQUIRE(adrt_plan_info(plan, &report, nullptr) == ADRT_OK);
  return report;
}

adrt_task_report TaskReport(const adrt_launch_plan* plan, uint32_t task) {
  adrt_task_report report = {};
  report.struct_size = sizeof report;
  REQUIRE(adrt_plan_task(plan, task, &report, nullptr) == ADRT_OK);
  return report;
}

struct TapeArgs {
  std::vector<double> x, y;
  int32_t n;
  adrt_memory *x_memory = nullptr, *y_memory = nullptr;

  TapeArgs(size_t count, int32_t steps) : x(count), y(count, -1), n(steps) {
    for (size_t index = 0; index < count; ++index) x[index] = 0.5 + 0.001 * static_cast<double>(index);
  }
  std::vector<adrt_arg> Make(Device& device) {
    adrt_status status = ADRT_OK;
    x_memory = device.Upload(x, &status);
    device.Must(status);
    y_memory = device.Upload(y, &status);
    device.Must(status);
    int64_t count = static_cast<int64_t>(x.size());
    return {BufferArg("x", ADRT_TYPE_F64, adrt_memory_data(x_memory), {count}),
            BufferArg("y", ADRT_TYPE_F64, adrt_memory_data(y_memory), {count}),
            ScalarArg("n", ADRT_TYPE_I32, &n)};
  }
  double Expected(size_t index) const {
    double power = 1, sum = 0;
    for (int32_t t = 0; t < n; ++t, power *= x[index]) sum += t * power;
    return sum;
  }
  void Check(Device& device) {
    device.Must(device.Download(y_memory, &y));
    for (size_t index = 0; index < x.size(); ++index) REQUIRE(y[index] == Approx(Expected(index)));
  }
};

}  // namespace

TEST_CASE("a CUDA device says what it is and judges targets", "[loader][cuda]") {
  FakeCuda fake;
  Device device;
  device.Must(device.Load(fake, MakeCudaBundle()));
  adrt_device_report report = {};
  report.struct_size = sizeof report;
  device.Must(adrt_device_info(device.device, &report, &device.error));
  CHECK(std::string(report.kind) == "cuda");
  CHECK(std::string(report.arch) == "sm_80");
  CHECK(std::string(report.name) == "Fake 40");
  CHECK(std::string(report.features) == "ptx84");
  CHECK(report.worker_count == 2 * 1024);
  adrt_target_report targets[3] = {};
  for (adrt_target_report& target : targets) target.struct_size = sizeof target;
  uint32_t count = 0;
  device.Must(adrt_bundle_query_targets(device.bundle, device.device, targets, 3, &count, &device.error));
  REQUIRE(count == 3);
  CHECK(targets[0].verdict == ADRT_TARGET_REFUSED);
  CHECK(targets[2].verdict == ADRT_TARGET_CHOSEN);
  CHECK(fake.broken.empty());
}

TEST_CASE("code that a CUDA device or its driver cannot run is refused with the reason", "[loader][cuda]") {
  struct Case {
    const char *version, *arch, *name;
    int driver;
    adrt_status status;
    const char* says;
  };
  for (const Case& one : {
           Case{"6.0", "sm_90", "cuda:sm_90", 12040, ADRT_ERROR_NO_TARGET,
                "is for sm_90, the device is sm_80"},
           Case{"6.0", "sm_75a", "cuda:sm_75a", 12040, ADRT_ERROR_NO_TARGET, "is for sm_75a"},
           Case{"6.0", "gfx90a", "cuda:gfx90a", 12040, ADRT_ERROR_NO_TARGET, "no architecture"},
           Case{"8.5", "sm_80", "cuda:sm_80", 12040, ADRT_ERROR_DEVICE_FEATURE,
                "the code is PTX 8.5, and this driver reads PTX up to 8.4"},
           Case{"7.5", "sm_80", "cuda:sm_80:ptx75", 11040, ADRT_ERROR_NO_TARGET, "up to 7.4"},
           Case{"6.4", "sm_70", "cuda:sm_70", 10000, ADRT_ERROR_DEVICE_FEATURE, "up to 6.3"},
           Case{"8.4", "sm_80", "cuda:sm_80:ptx84", 12040, ADRT_OK, ""},
           Case{"8.5", "sm_80", "cuda:sm_80:ptx85", 12060, ADRT_OK, ""},
           Case{"6.0", "sm_80", "cuda:sm_80", 13000, ADRT_OK, ""},
       }) {
    FakeCuda fake;
    fake.driver_version = one.driver;
    {
      Device device;
      INFO(one.name << " on driver " << one.driver);
      CHECK(device.Load(fake, MakeCudaBundle(one.version, one.arch, one.name)) == one.status);
      INFO(device.error.text);
      CHECK((one.status == ADRT_OK || device.error.Says(one.says)));
    }
    CHECK(fake.IsClean());
    CHECK(fake.broken.empty());
  }
}

TEST_CASE("the driver's compiler is heard", "[loader][cuda]") {
  FakeCuda fake;
  fake.compile_log = "ptxas application ptx input, line 7; error : Unknown symbol 'foo'";
  Device device;
  CHECK(device.Load(fake, MakeCudaBundle()) == ADRT_ERROR_DRIVER);
  CHECK(device.error.native_code == 218);
  CHECK(device.error.Says("cuModuleLoadDataEx failed"));
  CHECK(device.error.Says("Unknown symbol 'foo'"));
  CHECK(device.error.section != 0xFFFFFFFFu);
}

TEST_CASE("wrapping takes the given context, or the current one; opening takes a number", "[loader][cuda]") {
  FakeCuda fake;
  adrt_host host = TrustingHost();
  adrt_cuda_desc desc = fake.Desc();
  ErrorBox error;
  adrt_device* device = nullptr;
  desc.context = nullptr;
  CHECK(adrt_device_wrap_cuda(&host, &desc, &device, &error) == ADRT_ERROR_ARGUMENT);
  CHECK(error.Says("no context is given"));
  fake.context_stack.push_back(fake.context());
  REQUIRE(adrt_device_wrap_cuda(&host, &desc, &device, &error) == ADRT_OK);
  adrt_device_release(device);
  CHECK(fake.context_stack.size() == 1);
  fake.context_stack.clear();
  desc.index = 1;
  CHECK(adrt_device_open_cuda(&host, &desc, &device, &error) == ADRT_ERROR_NOT_FOUND);
  CHECK(error.Says("no device 1: there are 1"));
  desc.index = 0;
  REQUIRE(adrt_device_open_cuda(&host, &desc, &device, &error) == ADRT_OK);
  CHECK(fake.primary == 1);
  adrt_device_release(device);
  CHECK(fake.IsClean());
  fake.missing = "cuMemAlloc_v2";
  CHECK(adrt_device_open_cuda(&host, &desc, &device, &error) == ADRT_ERROR_DRIVER);
  CHECK(error.Says("cuMemAlloc_v2"));
  desc.struct_size = 0;
  CHECK(adrt_device_open_cuda(&host, &desc, &device, &error) == ADRT_ERROR_ARGUMENT);
  CHECK(fake.broken.empty());
}

TEST_CASE("the caller's current context is what it was after every call", "[loader][cuda]") {
  FakeCuda fake;
  int other = 0;
  fake.context_stack.push_back(&other);
  {
    Device device;
    device.Must(device.Load(fake, MakeCudaBundle()));
    TapeArgs tape(100, 5);
    adrt_launch_plan* plan = nullptr;
    device.Must(device.Plan("tape", tape.Make(device), &plan));
    device.Must(adrt_run(plan, nullptr, &device.error));
    tape.Check(device);
    CHECK(fake.context_stack == std::vector<void*>{&other});
  }
  CHECK(fake.context_stack == std::vector<void*>{&other});
  CHECK(fake.broken.empty());
}

TEST_CASE("a launch on a device runs with words and rows as the code expects them", "[loader][cuda]") {
  FakeCuda fake;
  {
    Device device;
    device.Must(device.Load(fake, MakeCudaBundle()));
    // More iterations than threads at once: 2 processors times 2 blocks of 64.
    TapeArgs tape(1000, 7);
    adrt_launch_plan* plan = nullptr;
    device.Must(device.Plan("tape", tape.Make(device), &plan));
    adrt_task_report task = TaskReport(plan, 0);
    CHECK(task.lanes == 32);
    CHECK(task.threads == 256);
    CHECK(task.rows == 256);
    CHECK(task.row_bytes == 7 * 12 + 4);  // up to a multiple of 8
    CHECK(PlanReport(plan).heap_bytes == 256 * 88);
    CHECK(PlanReport(plan).heap_alignment == 256);
    device.Must(adrt_run(plan, nullptr, &device.error));
    tape.Check(device);
    REQUIRE(fake.launches.size() == 1);
    CHECK(fake.launches[0].blocks == 4);
    const std::vector<uint64_t>& words = fake.launches[0].words;
    CHECK(words[1] == 1000);
    CHECK(words[5] == 0);    // offset of the rows
    CHECK(words[6] == 88);   // stride
    CHECK(words[7] == 256);  // rows
    CHECK(words[15] == 1000);
    CHECK(words[16] == 256);
  }
  CHECK(fake.IsClean());
  CHECK(fake.broken.empty());
}

TEST_CASE("workers and budget lower the rows by whole blocks of lanes", "[loader][cuda]") {
  FakeCuda fake;
  Device device;
  device.Must(device.Load(fake, MakeCudaBundle()));
  TapeArgs tape(1000, 7);
  std::vector<adrt_arg> args = tape.Make(device);
  adrt_launch_plan* plan = nullptr;
  device.Must(device.Plan("tape", args, &plan, 40));
  CHECK(TaskReport(plan, 0).threads == 40);
  CHECK(TaskReport(plan, 0).rows == 64);
  device.Must(adrt_run(plan, nullptr, &device.error));
  tape.Check(device);
  device.Must(device.Plan("tape", args, &plan, 0, 100 * 88));
  CHECK(TaskReport(plan, 0).threads == 96);
  CHECK(TaskReport(plan, 0).rows == 96);
  CHECK(PlanReport(plan).heap_bytes == 96 * 88);
  device.Must(adrt_run(plan, nullptr, &device.error));
  tape.Check(device);
  CHECK(device.Plan("tape", args, &plan, 0, 31 * 88) == ADRT_ERROR_HEAP_TOO_SMALL);
  CHECK(device.error.needed_bytes == 32 * 88);
  CHECK(fake.broken.empty());
}

TEST_CASE("scratch begins as zeros and tasks follow each other", "[loader][cuda]") {
  FakeCuda fake;
  Device device;
  device.Must(device.Load(fake, MakeCudaBundle()));
  adrt_status status = ADRT_OK;
  std::vector<float> x = {1, 2, 3, 6}, y(4);
  adrt_memory *x_memory = device.Upload(x, &status), *y_memory = device.Upload(y, &status);
  std::vector<adrt_arg> args = {BufferArg("x", ADRT_TYPE_F32, adrt_memory_data(x_memory), {4}),
                                BufferArg("y", ADRT_TYPE_F32, adrt_memory_data(y_memory), {4})};
  adrt_launch_plan* plan = nullptr;
  device.Must(device.Plan("mean", args, &plan));
  adrt_heap* heap = nullptr;
  device.Must(adrt_heap_create_on(device.device, &heap, &device.error));
  adrt_run_desc run = RunDesc();
  run.heap = heap;
  for (int round = 0; round < 3; ++round) {
    device.Must(adrt_run(plan, &run, &device.error));
    device.Must(device.Download(y_memory, &y));
    CHECK(y == std::vector<float>{-2, -1, 0, 3});
  }
  CHECK(adrt_heap_bytes(heap) == 256);
  CHECK(fake.launches[0].blocks == 1);    // the serial task
  CHECK(fake.launches[0].words[9] == 1);  // one thread
  CHECK(fake.launches[1].words[9] == 4);
  adrt_heap_release(heap);
  CHECK(fake.broken.empty());
}

TEST_CASE("sizes that lie in device memory are read, and nothing else is", "[loader][cuda]") {
  FakeCuda fake;
  Device device;
  device.Must(device.Load(fake, MakeCudaBundle()));
  adrt_status status = ADRT_OK;
  std::vector<int32_t> start = {0, 1, 6, 6, 39, 41};
  std::vector<float> x(41, 1.0f), y(5);
  adrt_memory *start_memory = device.Upload(start, &status), *x_memory = device.Upload(x, &status),
              *y_memory = device.Upload(y, &status);
  std::vector<adrt_arg> args = {BufferArg("start", ADRT_TYPE_I32, adrt_memory_data(start_memory), {6}),
                                BufferArg("x", ADRT_TYPE_F32, adrt_memory_data(x_memory), {41}),
                                BufferArg("y", ADRT_TYPE_F32, adrt_memory_data(y_memory), {5})};
  adrt_launch_plan* plan = nullptr;

  SECTION("adrt_run copies what sizing reads") {
    device.Must(device.Plan("rows", args, &plan));
    CHECK(PlanReport(plan).resolved == 0);
    long copies = fake.copies;
    device.Must(adrt_run(plan, nullptr, &device.error));
    CHECK(fake.copies == copies + 2);  // `start`, and the status block
    CHECK(TaskReport(plan, 0).row_bytes == 136);
    device.Must(device.Download(y_memory, &y));
    CHECK(y == std::vector<float>{1, 5, 0, 33, 2});
  }
  SECTION("a stated version is read once, and a settled launch allocates nothing") {
    args[0].content_version = 7;
    device.Must(device.Plan("rows", args, &plan));
    adrt_heap* heap = nullptr;
    device.Must(adrt_heap_create_on(device.device, &heap, &device.error));
    adrt_run_desc run = RunDesc();
    run.heap = heap;
    device.Must(adrt_run(plan, &run, &device.error));
    long copies = fake.copies, allocations = fake.allocations;
    device.Must(adrt_run(plan, &run, &device.error));
    CHECK(fake.copies == copies + 1);  // the status block
    CHECK(fake.allocations == allocations);
    adrt_heap_release(heap);
  }
  SECTION("a readback settles the plan for recording") {
    device.Must(device.Plan("rows", args, &plan));
    adrt_readback_report piece = {};
    piece.struct_size = sizeof piece;
    device.Must(adrt_plan_readback(plan, 0, &piece, &device.error));
    CHECK(piece.count == 1);
    CHECK(std::string(piece.name) == "start");
    CHECK(piece.offset == 0);
    CHECK(piece.bytes == 24);
    CHECK(piece.total_bytes == 32);
    CHECK(adrt_plan_readback(plan, 1, &piece, &device.error) == ADRT_ERROR_ARGUMENT);
    std::vector<unsigned char> readback(32);
    std::memcpy(readback.data(), start.data(), 24);
    CHECK(adrt_plan_resolve(plan, readback.data(), 31, &device.error) == ADRT_ERROR_ARGUMENT);
    CHECK(adrt_plan_resolve(plan, nullptr, 0, &device.error) == ADRT_ERROR_ARGUMENT);
    long calls = fake.calls;
    device.Must(adrt_plan_resolve(plan, readback.data(), 32, &device.error));
    CHECK(PlanReport(plan).resolved == 1);
    CHECK(fake.calls == calls);
    adrt_memory *heap = nullptr, *block = nullptr;
    uint64_t heap_bytes = PlanReport(plan).heap_bytes;
    device.Must(adrt_memory_create(device.device, heap_bytes, &heap, &device.error));
    device.memory.push_back(heap);
    device.Must(adrt_memory_create(device.device, ADRT_STATUS_BYTES, &block, &device.error));
    device.memory.push_back(block);
    long allocations = fake.allocations, copies = fake.copies;
    device.Must(adrt_record_cuda(plan, nullptr, adrt_memory_data(heap), heap_bytes, adrt_memory_data(block),
                                 &device.error));
    CHECK(fake.allocations == allocations);
    CHECK(fake.copies == copies);
    std::vector<uint32_t> words(16, 1);
    device.Must(device.Download(block, &words));
    CHECK(adrt_status_read(plan, words.data(), &device.error) == ADRT_OK);
    device.Must(device.Download(y_memory, &y));
    CHECK(y == std::vector<float>{1, 5, 0, 33, 2});
  }
  SECTION("recording an open plan, or with too little, is refused") {
    device.Must(device.Plan("rows", args, &plan));
    adrt_memory* block = nullptr;
    device.Must(adrt_memory_create(device.device, 4096, &block, &device.error));
    device.memory.push_back(block);
    unsigned char* data = static_cast<unsigned char*>(adrt_memory_data(block));
    CHECK(adrt_record_cuda(plan, nullptr, data, 4096, data, &device.error) == ADRT_ERROR_NEEDS_DEVICE_DATA);
    CHECK(device.error.Says("adrt_plan_resolve"));
    device.Must(adrt_plan_with_cap(plan, 64 * 1024, &device.error));
    CHECK(adrt_record_cuda(plan, nullptr, data, 4096, data, &device.error) == ADRT_ERROR_HEAP_TOO_SMALL);
    CHECK(device.error.needed_bytes == PlanReport(plan).heap_bytes);
    CHECK(adrt_record_cuda(plan, nullptr, data + 64, 1 << 20, data, &device.error) == ADRT_ERROR_ARGUMENT);
    CHECK(adrt_record_cuda(plan, nullptr, data, 1 << 20, nullptr, &device.error) == ADRT_ERROR_ARGUMENT);
    CHECK(fake.launches.empty());
  }
  CHECK(fake.broken.empty());
}

TEST_CASE("sizes that depend on an earlier task are read when its turn comes", "[loader][cuda]") {
  FakeCuda fake;
  {
    Device device;
    device.Must(device.Load(fake, MakeCudaBundle()));
    adrt_status status = ADRT_OK;
    std::vector<int32_t> x = {3, -1, 5, 0, 7}, count = {-9}, out(5);
    adrt_memory *x_memory = device.Upload(x, &status), *count_memory = device.Upload(count, &status),
                *out_memory = device.Upload(out, &status);
    std::vector<adrt_arg> args = {BufferArg("x", ADRT_TYPE_I32, adrt_memory_data(x_memory), {5}),
                                  BufferArg("count", ADRT_TYPE_I32, adrt_memory_data(count_memory), {}),
                                  BufferArg("out", ADRT_TYPE_I32, adrt_memory_data(out_memory), {5})};
    adrt_launch_plan* plan = nullptr;
    device.Must(device.Plan("compact", args, &plan));
    device.Must(adrt_run(plan, nullptr, &device.error));
    device.Must(device.Download(out_memory, &out));
    CHECK(out == std::vector<int32_t>{6, 10, 14, 0, 0});
    adrt_memory* block = nullptr;
    device.Must(adrt_memory_create(device.device, 4096, &block, &device.error));
    device.memory.push_back(block);
    void* data = adrt_memory_data(block);
    CHECK(adrt_record_cuda(plan, nullptr, data, 4096, data, &device.error) == ADRT_ERROR_NEEDS_DEVICE_DATA);
    CHECK(device.error.Says("adrt_plan_with_cap"));
  }
  CHECK(fake.IsClean());
  CHECK(fake.broken.empty());
}

TEST_CASE("stacks are counted on the device, and rows behind a gate are claimed", "[loader][cuda]") {
  FakeCuda fake;
  {
    Device device;
    device.Must(device.Load(fake, MakeCudaBundle()));
    adrt_status status = ADRT_OK;
    std::vector<uint32_t> x(300, 1), expected(300, 0);
    x[7] = 27, expected[7] = 111;
    x[290] = 6, expected[290] = 8;
    adrt_memory* x_memory = device.Upload(x, &status);
    std::vector<adrt_arg> args = {BufferArg("x", ADRT_TYPE_U32, adrt_memory_data(x_memory), {300})};
    adrt_launch_plan* plan = nullptr;

    SECTION("by a size kernel") {
      device.Must(device.Plan("counted", args, &plan));
      device.Must(adrt_run(plan, nullptr, &device.error));
      REQUIRE(fake.launches.size() == 2);
      CHECK(fake.launches[0].symbol == "adc_counted_2Esize0_t0");
      // The counter lies before the rows; 111 u32 are 448 bytes a row.
      CHECK(fake.launches[1].words[2] == 256);
      CHECK(fake.launches[1].words[3] == 448);
      CHECK(fake.launches[1].words[5] == 0);
      // Behind a gate there is a row for each iteration that passes, up to whole blocks of lanes.
      CHECK(TaskReport(plan, 0).heap_bytes == 256 + 32 * 448);
    }
    SECTION("by the caller's stream, counts read back") {
      device.Must(device.Plan("counted", args, &plan));
      adrt_count_report counting = {};
      counting.struct_size = sizeof counting;
      device.Must(adrt_plan_counting(plan, &counting, &device.error));
      REQUIRE(counting.counts_bytes > 0);
      adrt_memory* memory = device.Upload(std::vector<uint8_t>(counting.memory_bytes), &status);
      void* data = adrt_memory_data(memory);
      CHECK(adrt_record_size_cuda(plan, nullptr, data, 16, &device.error) == ADRT_ERROR_HEAP_TOO_SMALL);
      device.Must(adrt_record_size_cuda(plan, nullptr, data, counting.memory_bytes, &device.error));
      REQUIRE(fake.launches.size() == 1);
      CHECK(fake.launches[0].symbol == "adc_counted_2Esize0_t0");
      adrt_readback_report piece = {};
      piece.struct_size = sizeof piece;
      device.Must(adrt_plan_readback(plan, 0, &piece, &device.error));
      REQUIRE(piece.count == 1);
      CHECK(piece.param == ADRT_READBACK_COUNTS);
      std::vector<uint8_t> counts(piece.total_bytes);
      device.Must(adrt_memory_read(memory, 0, counts.data(), counts.size(), &device.error));
      device.Must(adrt_plan_resolve(plan, counts.data(), counts.size(), &device.error));
      CHECK(TaskReport(plan, 0).resolved != 0);
      // Two of the iterations pass, and the deepest takes 111 u32.
      CHECK(TaskReport(plan, 0).row_bytes == 448);
      device.Must(adrt_run(plan, nullptr, &device.error));
    }
    SECTION("with a bound, launch after launch") {
      device.Must(device.Plan("collatz", args, &plan));
      CHECK(adrt_run(plan, nullptr, &device.error) == ADRT_ERROR_NEEDS_DEVICE_DATA);
      device.Must(adrt_plan_with_cap(plan, 1 << 20, &device.error));
      CHECK(PlanReport(plan).heap_bytes <= 1 << 20);
      device.Must(adrt_run(plan, nullptr, &device.error));
    }
    SECTION("with a bound that is too small") {
      device.Must(device.Plan("collatz", args, &plan, 32));
      device.Must(adrt_plan_with_cap(plan, 256 + 32 * 64, &device.error));
      CHECK(adrt_run(plan, nullptr, &device.error) == ADRT_ERROR_ADSTACK_OVERFLOW);
      CHECK(device.error.Says("would have needed at least 17 elements and has 16"));
      expected[7] = 16;
    }
    device.Must(device.Download(x_memory, &x));
    CHECK(x == expected);
  }
  CHECK(fake.IsClean());
  CHECK(fake.broken.empty());
}

TEST_CASE("what a kernel reports is read from the device", "[loader][cuda]") {
  FakeCuda fake;
  Device device;
  device.Must(device.Load(fake, MakeCudaBundle()));
  adrt_status status = ADRT_OK;
  std::vector<float> x(6, 1.0f), m(4, 1.0f);
  adrt_memory* memory = device.Upload(x, &status);
  int8_t k = -3, flag = 1;
  uint16_t u = 1;
  for (uint32_t code = 1; code <= 7; ++code) {
    adrt_arg matrix = ScalarArg("m", ADRT_TYPE_F32, m.data());
    matrix.rows = matrix.columns = 2;
    std::vector<adrt_arg> args = {BufferArg("x", ADRT_TYPE_F32, adrt_memory_data(memory), {2, 3}),
                                  matrix,
                                  ScalarArg("k", ADRT_TYPE_I8, &k),
                                  ScalarArg("u", ADRT_TYPE_U16, &u),
                                  ScalarArg("flag", ADRT_TYPE_I1, &flag),
                                  ScalarArg("code", ADRT_TYPE_U32, &code)};
    adrt_launch_plan* plan = nullptr;
    device.Must(device.Plan("check", args, &plan));
    const adrt_status kExpected[] = {ADRT_OK,
                                     ADRT_ERROR_ADSTACK_OVERFLOW,
                                     ADRT_ERROR_ASSERTION,
                                     ADRT_ERROR_INDEX_OUT_OF_BOUNDS,
                                     ADRT_ERROR_WRITE_PROMISE,
                                     ADRT_ERROR_ROWS_EXHAUSTED,
                                     ADRT_ERROR_ARGUMENT,
                                     ADRT_ERROR_ARGUMENT};
    uint32_t block[16] = {};
    adrt_run_desc run = RunDesc();
    run.status = block;
    CHECK(adrt_run(plan, &run, &device.error) == kExpected[code]);
    CHECK(block[0] == code);
    INFO(device.error.text);
    CHECK((code > 5 || device.error.Says("iteration 3")));
  }
  CHECK(fake.broken.empty());
}

TEST_CASE("heaps and memory are of the right device", "[loader][cuda]") {
  FakeCuda fake;
  {
    Device device;
    device.Must(device.Load(fake, MakeCudaBundle()));
    TapeArgs tape(10, 3);
    adrt_launch_plan* plan = nullptr;
    device.Must(device.Plan("tape", tape.Make(device), &plan));
    adrt_heap* heap = nullptr;
    adrt_host host = TrustingHost();
    device.Must(adrt_heap_create(&host, &heap, &device.error));
    adrt_run_desc run = RunDesc();
    run.heap = heap;
    CHECK(adrt_run(plan, &run, &device.error) == ADRT_ERROR_ARGUMENT);
    CHECK(device.error.Says("adrt_heap_create_on"));
    adrt_heap_release(heap);
    run.heap = nullptr;
    adrt_memory* memory = nullptr;
    device.Must(adrt_memory_create(device.device, 4096, &memory, &device.error));
    device.memory.push_back(memory);
    run.memory = static_cast<unsigned char*>(adrt_memory_data(memory)) + 64;
    run.memory_size = 4032;
    CHECK(adrt_run(plan, &run, &device.error) == ADRT_ERROR_ARGUMENT);
    CHECK(device.error.Says("aligned to 256"));
    run.memory = adrt_memory_data(memory);
    device.Must(adrt_run(plan, &run, &device.error));
    tape.Check(device);
    unsigned char byte = 0;
    CHECK(adrt_memory_read(memory, 4096, &byte, 1, &device.error) == ADRT_ERROR_ARGUMENT);
    CHECK(adrt_memory_write(memory, 1, &byte, UINT64_MAX, &device.error) == ADRT_ERROR_ARGUMENT);
    CHECK(adrt_memory_bytes(memory) == 4096);
  }
  CHECK(fake.IsClean());
  CHECK(fake.broken.empty());
}

TEST_CASE("a device without room says what was asked and what would fit", "[loader][cuda]") {
  FakeCuda fake;
  fake.memory_bytes = 20000;
  Device device;
  device.Must(device.Load(fake, MakeCudaBundle()));
  TapeArgs tape(1000, 7);
  tape.x.resize(200);
  tape.y.resize(200);
  adrt_launch_plan* plan = nullptr;
  device.Must(device.Plan("tape", tape.Make(device), &plan));
  CHECK(adrt_run(plan, nullptr, &device.error) == ADRT_ERROR_OUT_OF_DEVICE_MEMORY);
  CHECK(device.error.native_code == 2);
  CHECK(device.error.needed_bytes == 224 * 88);
  CHECK(device.error.Says("no room for 19712 bytes: 16800 of its 20000 bytes are free"));
  CHECK(fake.broken.empty());
}

TEST_CASE("a settled launch takes no memory of host or device", "[loader][cuda]") {
  FakeCuda fake;
  long host_calls = 0;
  adrt_host host = TrustingHost();
  host.user = &host_calls;
  host.allocate = [](void* user, size_t size, size_t alignment) {
    ++*static_cast<long*>(user);
    return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  };
  host.release = [](void*, void* memory, size_t, size_t) { std::free(memory); };
  Device device;
  device.Must(device.Load(fake, MakeCudaBundle(), false, &host));
  TapeArgs tape(1000, 7);
  adrt_launch_plan* plan = nullptr;
  device.Must(device.Plan("tape", tape.Make(device), &plan));
  adrt_heap* heap = nullptr;
  device.Must(adrt_heap_create_on(device.device, &heap, &device.error));
  adrt_run_desc run = RunDesc();
  run.heap = heap;
  device.Must(adrt_run(plan, &run, &device.error));
  long before = host_calls, allocations = fake.allocations, copies = fake.copies;
  for (int round = 0; round < 3; ++round) device.Must(adrt_run(plan, &run, &device.error));
  CHECK(host_calls == before);
  CHECK(fake.allocations == allocations);
  CHECK(fake.copies == copies + 3);  // the status blocks
  adrt_heap_release(heap);
  tape.Check(device);
}

TEST_CASE("a CUDA device survives every refusal of the host's memory", "[loader][cuda]") {
  struct Refusing {
    long calls = 0, refuse_at = 0, held = 0;
  };
  std::vector<uint8_t> file = MakeCudaBundle();
  long refusals = 0;
  for (long at = 1;; ++at) {
    FakeCuda fake;
    Refusing allocator;
    allocator.refuse_at = at;
    adrt_host host = TrustingHost();
    host.user = &allocator;
    host.allocate = [](void* user, size_t size, size_t alignment) -> void* {
      Refusing& own = *static_cast<Refusing*>(user);
      if (++own.calls == own.refuse_at) return nullptr;
      ++own.held;
      return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    };
    host.release = [](void* user, void* memory, size_t, size_t) {
      --static_cast<Refusing*>(user)->held;
      std::free(memory);
    };
    adrt_status status = ADRT_OK;
    {
      Device device;
      auto work = [&] {
        adrt_status done = device.Load(fake, file, true, &host);
        if (done != ADRT_OK) return done;
        std::vector<int32_t> start = {0, 1, 6};
        std::vector<float> floats(6, 1.0f);
        adrt_memory* s = device.Upload(start, &done);
        adrt_memory* x = done == ADRT_OK ? device.Upload(floats, &done) : nullptr;
        adrt_memory* y = done == ADRT_OK ? device.Upload(floats, &done) : nullptr;
        adrt_launch_plan* plan = nullptr;
        if (done == ADRT_OK) {
          done = device.Plan("rows",
                             {BufferArg("start", ADRT_TYPE_I32, adrt_memory_data(s), {3}),
                              BufferArg("x", ADRT_TYPE_F32, adrt_memory_data(x), {6}),
                              BufferArg("y", ADRT_TYPE_F32, adrt_memory_data(y), {2})},
                             &plan);
        }
        if (done == ADRT_OK) done = adrt_run(plan, nullptr, &device.error);
        if (done == ADRT_OK)
          done = device.Plan("counted", {BufferArg("x", ADRT_TYPE_U32, adrt_memory_data(s), {3})}, &plan);
        return done == ADRT_OK ? adrt_run(plan, nullptr, &device.error) : done;
      };
      status = work();
      INFO("allocation " << at << ": " << device.error.text);
      REQUIRE((status == ADRT_OK || status == ADRT_ERROR_OUT_OF_HOST_MEMORY));
    }
    REQUIRE(allocator.held == 0);
    REQUIRE(fake.IsClean());
    REQUIRE(fake.broken.empty());
    if (status == ADRT_OK) break;
    ++refusals;
  }
  CHECK(refusals > 100);
}

TEST_CASE("every call of the CUDA driver may fail", "[loader][cuda]") {
  struct Failure {
    int code;
    adrt_status status;
  };
  std::vector<uint8_t> file = MakeCudaBundle();
  for (bool open : {false, true}) {
    for (const Failure& failure : {Failure{1, ADRT_ERROR_DRIVER}, Failure{2, ADRT_ERROR_OUT_OF_DEVICE_MEMORY},
                                   Failure{719, ADRT_ERROR_DEVICE_LOST}, Failure{12345, ADRT_ERROR_DRIVER}}) {
      long failures = 0;
      for (long at = 1;; ++at) {
        FakeCuda fake;
        fake.fail_at = at;
        fake.fail_with = failure.code;
        // A counted launch, one with scratch, one that is recorded.
        auto work = [&](Device& device) {
          adrt_status status = device.Load(fake, file, open);
          if (status != ADRT_OK) return status;
          std::vector<uint32_t> values(40, 3);
          std::vector<float> floats(40, 1.0f);
          adrt_memory* x = device.Upload(values, &status);
          if (!x) return status;
          adrt_memory* y = device.Upload(floats, &status);
          if (!y) return status;
          adrt_memory* z = device.Upload(floats, &status);
          if (!z) return status;
          adrt_launch_plan* plan = nullptr;
          status = device.Plan("counted", {BufferArg("x", ADRT_TYPE_U32, adrt_memory_data(x), {40})}, &plan);
          if (status == ADRT_OK) status = adrt_run(plan, nullptr, &device.error);
          if (status != ADRT_OK) return status;
          std::vector<adrt_arg> args = {BufferArg("x", ADRT_TYPE_F32, adrt_memory_data(y), {40}),
                                        BufferArg("y", ADRT_TYPE_F32, adrt_memory_data(z), {40})};
          status = device.Plan("mean", args, &plan);
          if (status == ADRT_OK) status = adrt_run(plan, nullptr, &device.error);
          if (status != ADRT_OK) return status;
          adrt_memory* heap = device.Upload(std::vector<char>(1024), &status);
          if (!heap) return status;
          char* data = static_cast<char*>(adrt_memory_data(heap));
          status = adrt_record_cuda(plan, nullptr, data, 512, data + 512, &device.error);
          if (status != ADRT_OK) return status;
          return device.Download(x, &values);
        };
        adrt_status status = ADRT_OK;
        std::string text;
        int native = 0;
        {
          Device device;
          status = work(device);
          text = device.error.text;
          native = device.error.native_code;
        }
        INFO("call " << at << ", " << fake.failed << ": " << text);
        REQUIRE(fake.broken.empty());
        // Without a context nothing can be given back: a context that cannot be entered takes all with it.
        REQUIRE((fake.IsClean() || (status == ADRT_OK && fake.failed == "cuCtxPushCurrent")));
        if (fake.failed.empty()) break;
        // What only cleans up may fail unheard: what it was to end is ended.
        bool ends = fake.failed == "cuCtxPopCurrent" || fake.failed == "cuMemFree" ||
                    fake.failed == "cuModuleUnload" || fake.failed == "cuStreamDestroy" ||
                    fake.failed == "cuDevicePrimaryCtxRelease" || fake.failed == "cuCtxPushCurrent";
        if (status == ADRT_OK) {
          REQUIRE(ends);
          continue;
        }
        ++failures;
        REQUIRE(status == failure.status);
        REQUIRE(native == failure.code);
        bool room = failure.code == 2 && fake.failed == "cuMemAlloc";
        REQUIRE((room || text.find(fake.failed + " failed") != std::string::npos));
      }
      CHECK(failures > 60);
    }
  }
}
