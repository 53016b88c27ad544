// The loader's Metal part against Metal on the host: everything between a bundle and results, and each
// failure.

#include <adrt/adrt_metal.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "artifact/bundle.h"
#include "metal_host_api.h"
#include "session.h"

namespace {

using namespace adc::artifact;
using adc::msl_host::MetalHost;
using fixture::ErrorBox;

// sums: task 0 adds up x into a scratch buffer, task 1 writes, per element, what it summed of n multiples of
// x[i] on a stack, plus the sum. ranged: as many elements of y become 7 as count[0] says. words of sums: x 0
// 1, y 2 3, n 4, sum 5 6, group 7 to 10, stack 11 12, heap, status, total 15, threads 16.
const char* kSource = R"(#include <metal_stdlib>
using namespace metal;

kernel void adc_sums_t0(const device ulong* words [[buffer(0)]], const device float* x [[buffer(1)]], device float* sum [[buffer(2)]], uint3 id [[thread_position_in_grid]])
{
    if (id.x >= words[16 - 6]) return;
    for (ulong i = 0; i < words[1]; ++i) sum[0] += x[i];
}

struct Table { device float* heap [[id(0)]]; device atomic_uint* status [[id(1)]]; };

kernel void adc_sums_t1(const device ulong* words [[buffer(0)]], const device float* x [[buffer(1)]], device float* y [[buffer(2)]], const device float* sum [[buffer(3)]], constant Table& table [[buffer(30)]], uint3 id [[thread_position_in_grid]])
{
    device float* heap = table.heap;
    device atomic_uint* status = table.status;
    ulong row = id.x;
    if (row >= words[16]) return;
    device float* mine = heap + (words[7] + row / 32 * words[8] * 32 + words[11] * 32 + row % 32 * 4) / 4;
    for (ulong i = row; i < words[15]; i += words[16])
    {
        uint n = uint(words[4]);
        for (uint k = 0; k < n; ++k) mine[k * 32] = x[i] * float(k);
        float total = sum[0];
        for (uint k = 0; k < n; ++k) total += mine[k * 32];
        y[i] = total;
    }
    if (row == 0) atomic_fetch_add_explicit(&status[3], 1u, memory_order_relaxed);
}

kernel void adc_ranged_t0(const device ulong* words [[buffer(0)]], device float* y [[buffer(1)]], uint3 id [[thread_position_in_grid]])
{
    for (ulong i = id.x; i < words[5] && id.x < words[6]; i += words[6]) y[i] = 7.0;
}
)";

ParamMeta Buffer(const char* name, ScalarType type, uint32_t rank, Access access) {
  ParamMeta param;
  param.name = name;
  param.type = type;
  param.rank = rank;
  param.access = access;
  return param;
}

TaskMeta Task(const char* symbol, Vector<NodeId> extents, Vector<BindingMeta> bindings) {
  TaskMeta task;
  task.kind = extents.empty() ? TaskKind::kSerial : TaskKind::kParallel;
  task.place = "metal.ir:1:1";
  task.extents = extents;
  EntryMeta entry;
  entry.symbol = symbol;
  entry.block_size = 64;
  entry.bindings = bindings;
  task.entries.push_back(entry);
  return task;
}

KernelMeta Sums() {
  KernelMeta kernel;
  kernel.name = "sums";
  kernel.place = "metal.ir:1:1";
  kernel.params.push_back(Buffer("x", ScalarType::kF32, 1, Access::kRead));
  kernel.params.push_back(Buffer("y", ScalarType::kF32, 1, Access::kWrite));
  ParamMeta n = Buffer("n", ScalarType::kI32, 0, Access::kRead);
  n.kind = ParamKind::kScalar;
  kernel.params.push_back(n);
  ParamMeta sum = Buffer("sum.0", ScalarType::kF32, 1, Access::kReadWrite);
  sum.kind = ParamKind::kScratch;
  sum.role = ParamRole::kScratch;
  sum.extents.push_back(kernel.exprs.Const(1));
  kernel.params.push_back(sum);
  kernel.tasks.push_back(Task("adc_sums_t0", {},
                              {{0, BindingOf::kWords, kNoIndex, ScalarType::kU64},
                               {1, BindingOf::kParam, 0, ScalarType::kF32},
                               {2, BindingOf::kParam, 3, ScalarType::kF32}}));
  kernel.tasks.push_back(Task("adc_sums_t1", {kernel.exprs.Shape(0, 0)},
                              {{0, BindingOf::kWords, kNoIndex, ScalarType::kU64},
                               {1, BindingOf::kParam, 0, ScalarType::kF32},
                               {2, BindingOf::kParam, 1, ScalarType::kF32},
                               {3, BindingOf::kParam, 3, ScalarType::kF32},
                               {30, BindingOf::kHeap, kNoIndex, ScalarType::kF32},
                               {31, BindingOf::kStatus, kNoIndex, ScalarType::kU32}}));
  TaskMeta& task = kernel.tasks[1];
  task.plans.push_back({});
  task.plans[0].lanes = 32;
  task.plans[0].groups.push_back({});
  StackMeta stack;
  stack.capacity = kernel.exprs.Clamp0(kernel.exprs.Arg(2));
  stack.place = "metal.ir:4:7";
  task.plans[0].stacks.push_back(stack);
  task.entries[0].plan = 0;
  return kernel;
}

KernelMeta Ranged() {
  KernelMeta kernel;
  kernel.name = "ranged";
  kernel.place = "metal.ir:9:1";
  kernel.params.push_back(Buffer("count", ScalarType::kI32, 0, Access::kRead));
  kernel.params.push_back(Buffer("y", ScalarType::kF32, 1, Access::kWrite));
  kernel.tasks.push_back(Task(
      "adc_ranged_t0", {kernel.exprs.Read(0, {})},
      {{0, BindingOf::kWords, kNoIndex, ScalarType::kU64}, {1, BindingOf::kParam, 1, ScalarType::kF32}}));
  return kernel;
}

std::vector<uint8_t> MakeBundle(const std::string& source = kSource,
                                const std::function<void(Metadata&)>& change = {}) {
  Metadata metadata;
  metadata.producer = "test";
  metadata.sources.push_back("metal.ir");
  TargetMeta target;
  target.name = "metal:2.4";
  target.kind = "metal";
  target.arch = "2.4";
  target.abi = "msl";
  metadata.targets.push_back(target);
  metadata.kernels.push_back(Sums());
  metadata.kernels.push_back(Ranged());
  if (change) change(metadata);
  FinishMetadata(&metadata);
  Error error;
  String json;
  INFO(error.text);
  REQUIRE(WriteMetadata(metadata, &json, &error));
  SectionInput sections[2];
  sections[0].kind = section::kMsl;
  sections[0].target = 0;
  sections[0].bytes = {reinterpret_cast<const uint8_t*>(source.data()), source.size()};
  sections[1].kind = section::kMeta;
  sections[1].required = true;
  sections[1].bytes = {reinterpret_cast<const uint8_t*>(json.data()), json.size()};
  adc::artifact::Vector<uint8_t> file;
  REQUIRE(WriteBundle({sections, 2}, &file, &error));
  return {file.begin(), file.end()};
}

adrt_metal_desc Desc(const MetalHost& metal) {
  adrt_metal_desc desc = {};
  desc.struct_size = sizeof desc;
  desc.threads = 96;
  desc.api = metal.api();
  return desc;
}

// Handles that release themselves, in the order in which a program lets go of them.
struct Handles {
  adrt_bundle* bundle = nullptr;
  adrt_device* device = nullptr;
  adrt_module* module = nullptr;
  adrt_launch_plan* plan = nullptr;
  std::vector<adrt_memory*> memories;
  ErrorBox error;

  Handles() = default;
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;
  ~Handles() {
    adrt_plan_release(plan);
    for (adrt_memory* memory : memories) adrt_memory_release(memory);
    adrt_module_release(module);
    adrt_device_release(device);
    adrt_bundle_release(bundle);
  }

  adrt_status Open(const std::vector<uint8_t>& file, const adrt_metal_desc& desc) {
    adrt_host host = fixture::TrustingHost();
    adrt_status status = adrt_bundle_open(&host, file.data(), file.size(), ADRT_BUNDLE_COPY, &bundle, &error);
    if (status == ADRT_OK) {
      status = desc.device ? adrt_device_wrap_metal(&host, &desc, &device, &error)
                           : adrt_device_open_metal(&host, &desc, &device, &error);
    }
    return status == ADRT_OK ? adrt_module_load(device, bundle, &module, &error) : status;
  }
  adrt_status Take(uint64_t bytes, void** data) {
    adrt_memory* memory = nullptr;
    adrt_status status = adrt_memory_create(device, bytes, &memory, &error);
    if (status != ADRT_OK) return status;
    memories.push_back(memory);
    *data = adrt_memory_data(memory);
    return ADRT_OK;
  }
  adrt_status Plan(const char* name, std::vector<adrt_arg> args) {
    const adrt_kernel* kernel = nullptr;
    adrt_status status = adrt_bundle_find_kernel(bundle, name, 0, &kernel, &error);
    if (status != ADRT_OK) return status;
    adrt_plan_desc desc = {};
    desc.struct_size = sizeof desc;
    desc.args = args.data();
    desc.arg_count = static_cast<uint32_t>(args.size());
    desc.module = module;
    return adrt_plan(kernel, &desc, &plan, &error);
  }
};

constexpr int kCount = 200;  // more than threads, and not a multiple of them

std::vector<float> Input() {
  std::vector<float> x(kCount);
  for (int i = 0; i < kCount; ++i) x[i] = 0.25f * static_cast<float>(i % 7);
  return x;
}

void CheckSums(const std::vector<float>& y) {
  std::vector<float> x = Input();
  float sum = 0;
  for (float value : x) sum += value;
  for (int i = 0; i < kCount; ++i) CHECK(y[i] == sum + 6 * x[i]);  // 0 + 1 + 2 + 3 times x
}

// The whole way of a tool. The first status that is not 0, or 0 and the results.
adrt_status RunSums(const MetalHost& metal, const std::vector<uint8_t>& file, std::vector<float>* y,
                    ErrorBox* error) {
  Handles handles;
  std::vector<float> x = Input();
  int32_t n = 4;
  y->assign(kCount, 0);
  auto run = [&] {
    void *x_data = nullptr, *y_data = nullptr;
    if (adrt_status status = handles.Open(file, Desc(metal))) return status;
    if (adrt_status status = handles.Take(kCount * 4, &x_data)) return status;
    if (adrt_status status = handles.Take(kCount * 4, &y_data)) return status;
    if (adrt_status status =
            adrt_memory_write(handles.memories[0], 0, x.data(), kCount * 4, &handles.error)) {
      return status;
    }
    if (adrt_status status = handles.Plan("sums", {fixture::BufferArg("x", ADRT_TYPE_F32, x_data, {kCount}),
                                                   fixture::BufferArg("y", ADRT_TYPE_F32, y_data, {kCount}),
                                                   fixture::ScalarArg("n", ADRT_TYPE_I32, &n)})) {
      return status;
    }
    // Twice: scratch begins with zeros each time.
    for (int time = 0; time < 2; ++time) {
      if (adrt_status status = adrt_run(handles.plan, nullptr, &handles.error)) return status;
    }
    return adrt_memory_read(handles.memories[1], 0, y->data(), kCount * 4, &handles.error);
  };
  adrt_status status = run();
  *error = handles.error;
  return status;
}

}  // namespace

TEST_CASE("a Metal bundle runs: source to pipelines, words, scratch, rows of the heap", "[metal]") {
  MetalHost metal;
  std::vector<float> y;
  ErrorBox error;
  adrt_status status = RunSums(metal, MakeBundle(), &y, &error);
  INFO(error.text);
  REQUIRE(status == ADRT_OK);
  CheckSums(y);
  CHECK(metal.LiveObjects() == 0);
}

TEST_CASE("an opened Metal device says what it is", "[metal]") {
  MetalHost metal;
  metal.SetLanguage(24);
  Handles handles;
  REQUIRE(handles.Open(MakeBundle(), Desc(metal)) == ADRT_OK);
  adrt_device_report report = {};
  report.struct_size = sizeof report;
  REQUIRE(adrt_device_info(handles.device, &report, nullptr) == ADRT_OK);
  CHECK(std::string(report.kind) == "metal");
  CHECK(std::string(report.arch) == "2.4");
  CHECK(std::string(report.name) == "Metal on the host");
  CHECK(report.worker_count == 96);
}

TEST_CASE("an engine records a launch into its own command buffer", "[metal]") {
  MetalHost metal;
  const adrt_metal_api& api = *metal.api();
  void* device = metal.NewDevice();
  void* queue = metal.NewQueue(device);
  // Private storage: the loader must not look into it.
  void *x = metal.NewPrivateBuffer(device, 64 + kCount * 4), *y = metal.NewPrivateBuffer(device, kCount * 4),
       *status = metal.NewPrivateBuffer(device, ADRT_STATUS_BYTES);
  std::vector<float> input = Input();
  std::memcpy(MetalHost::BytesOf(x) + 64, input.data(), kCount * 4);
  std::memset(MetalHost::BytesOf(y), 0, kCount * 4);
  {
    Handles handles;
    adrt_metal_desc desc = Desc(metal);
    desc.device = device;
    desc.queue = queue;
    REQUIRE(handles.Open(MakeBundle(), desc) == ADRT_OK);
    adrt_metal_buffer x_part = {sizeof(adrt_metal_buffer), 0, x, 64, 0, {}},
                      y_part = {sizeof(adrt_metal_buffer), 0, y, 0, kCount * 4, {}},
                      status_part = {sizeof(adrt_metal_buffer), 0, status, 0, 0, {}};
    int32_t n = 4;
    REQUIRE(handles.Plan("sums", {fixture::BufferArg("x", ADRT_TYPE_F32, &x_part, {kCount}),
                                  fixture::BufferArg("y", ADRT_TYPE_F32, &y_part, {kCount}),
                                  fixture::ScalarArg("n", ADRT_TYPE_I32, &n)}) == ADRT_OK);
    adrt_plan_report report = {};
    report.struct_size = sizeof report;
    REQUIRE(adrt_plan_info(handles.plan, &report, nullptr) == ADRT_OK);
    // Rows of 96 threads, 4 floats each, behind 256 bytes of scratch.
    CHECK(report.heap_bytes == 256 + 96 * 16);
    void* heap = metal.NewPrivateBuffer(device, report.heap_bytes);
    adrt_metal_buffer heap_part = {sizeof(adrt_metal_buffer), 0, heap, 0, 0, {}};
    adrt_metal_launch launch = {sizeof(adrt_metal_launch), 0, &heap_part, &status_part, {}};
    void* commands = api.new_commands(api.user, queue);

    adrt_metal_launch bad = launch;
    bad.heap = nullptr;
    CHECK(adrt_record_metal(handles.plan, commands, &bad, &handles.error) == ADRT_ERROR_HEAP_TOO_SMALL);
    CHECK(handles.error.needed_bytes == report.heap_bytes);
    bad = launch;
    bad.status = nullptr;
    CHECK(adrt_record_metal(handles.plan, commands, &bad, &handles.error) == ADRT_ERROR_ARGUMENT);
    CHECK(handles.error.Says("status"));
    adrt_metal_buffer past = {sizeof(adrt_metal_buffer), 0, heap, 512, report.heap_bytes, {}};
    bad.heap = &past;
    CHECK(adrt_record_metal(handles.plan, commands, &bad, &handles.error) == ADRT_ERROR_ARGUMENT);
    CHECK(handles.error.Says("past its MTLBuffer"));

    REQUIRE(adrt_record_metal(handles.plan, commands, &launch, &handles.error) == ADRT_OK);
    CHECK(MetalHost::BytesOf(y)[kCount * 4 - 1] == 0);  // nothing ran yet
    int32_t code = 0;
    char text[256] = {};
    int32_t outcome = api.commit_and_wait(api.user, commands, &code, text, sizeof text);
    INFO(text);
    CHECK(outcome == ADRT_METAL_DONE);
    std::vector<float> results(kCount);
    std::memcpy(results.data(), MetalHost::BytesOf(y), kCount * 4);
    CheckSums(results);
    uint32_t words[ADRT_STATUS_BYTES / 4];
    std::memcpy(words, MetalHost::BytesOf(status), sizeof words);
    CHECK(words[3] == 1);  // cleared, then counted by task 1 alone
    CHECK(adrt_status_read(handles.plan, words, nullptr) == ADRT_OK);
    for (void* object : {commands, heap}) api.release(api.user, object);
  }
  for (void* object : {x, y, status, queue, device}) api.release(api.user, object);
  CHECK(metal.LiveObjects() == 0);
}

TEST_CASE("sizes that lie in a private buffer are copied out and read", "[metal]") {
  MetalHost metal;
  const adrt_metal_api& api = *metal.api();
  void* device = metal.NewDevice();
  void *count = metal.NewPrivateBuffer(device, 4), *y = metal.NewPrivateBuffer(device, 40);
  int32_t wanted = 6;
  std::memcpy(MetalHost::BytesOf(count), &wanted, 4);
  std::memset(MetalHost::BytesOf(y), 0, 40);
  {
    Handles handles;
    adrt_metal_desc desc = Desc(metal);
    desc.device = device;
    REQUIRE(handles.Open(MakeBundle(), desc) == ADRT_OK);
    adrt_metal_buffer count_part = {sizeof(adrt_metal_buffer), 0, count, 0, 0, {}},
                      y_part = {sizeof(adrt_metal_buffer), 0, y, 0, 0, {}};
    REQUIRE(handles.Plan("ranged", {fixture::BufferArg("count", ADRT_TYPE_I32, &count_part, {}),
                                    fixture::BufferArg("y", ADRT_TYPE_F32, &y_part, {10})}) == ADRT_OK);
    adrt_status status = adrt_run(handles.plan, nullptr, &handles.error);
    INFO(handles.error.text);
    REQUIRE(status == ADRT_OK);
    float results[10];
    std::memcpy(results, MetalHost::BytesOf(y), 40);
    for (int i = 0; i < 10; ++i) CHECK(results[i] == (i < wanted ? 7.0f : 0.0f));
  }
  for (void* object : {count, y, device}) api.release(api.user, object);
  CHECK(metal.LiveObjects() == 0);
}

TEST_CASE("every call of Metal may fail: an error with a text, and nothing left behind", "[metal]") {
  std::vector<uint8_t> file = MakeBundle();
  std::vector<float> y;
  ErrorBox error;
  uint32_t calls = 0;
  {
    MetalHost metal;
    REQUIRE(RunSums(metal, file, &y, &error) == ADRT_OK);
    calls = metal.CallsThatCanFail();
  }
  CHECK(calls > 15);
  for (uint32_t call = 1; call <= calls; ++call) {
    MetalHost metal;
    metal.FailCall(call);
    adrt_status status = RunSums(metal, file, &y, &error);
    INFO("call " << call << ": " << error.text);
    CHECK(status != ADRT_OK);
    CHECK(status == error.status);
    CHECK(std::strlen(error.text) > 0);
    CHECK(metal.LiveObjects() == 0);
  }
}

TEST_CASE("what a Metal device cannot take is refused with the reason", "[metal]") {
  std::vector<float> y;
  ErrorBox error;
  SECTION("a newer language") {
    MetalHost metal;
    metal.SetLanguage(23);
    CHECK(RunSums(metal, MakeBundle(), &y, &error) == ADRT_ERROR_NO_TARGET);
    CHECK(error.Says("needs Metal 2.4, the system has 2.3"));
  }
  SECTION("blocks that are too large") {
    MetalHost metal;
    metal.SetMostThreads(32);
    CHECK(RunSums(metal, MakeBundle(), &y, &error) == ADRT_ERROR_DEVICE_FEATURE);
    CHECK(error.Says("blocks of 64 threads"));
  }
  SECTION("source that does not compile") {
    MetalHost metal;
    std::string source = kSource;
    source.replace(source.find("y[i] = total;"), 13, "y[i] = lost;");
    CHECK(RunSums(metal, MakeBundle(source), &y, &error) == ADRT_ERROR_DRIVER);
    CHECK(error.Says("newLibraryWithSource"));
    CHECK(error.Says("lost"));
  }
  SECTION("a table of addresses where the system tells none") {
    MetalHost metal;
    metal.HideAddresses();
    CHECK(RunSums(metal, MakeBundle(), &y, &error) == ADRT_ERROR_DEVICE_FEATURE);
    CHECK(error.Says("macOS 13"));
    CHECK(metal.LiveObjects() == 0);
  }
  SECTION("a table of addresses on a device whose argument buffers are of tier 1") {
    MetalHost metal;
    metal.SetTableTier(1);
    CHECK(RunSums(metal, MakeBundle(), &y, &error) == ADRT_ERROR_DEVICE_FEATURE);
    CHECK(error.Says("'adc_sums_t1' takes more than 30 buffers"));
    CHECK(error.Says("tier 2"));
    CHECK(metal.LiveObjects() == 0);
  }
  SECTION("words that are no buffer of their own") {
    MetalHost metal;
    auto file = MakeBundle(kSource, [](Metadata& metadata) {
      metadata.kernels[1].tasks[0].entries[0].bindings = {
          {30, BindingOf::kWords, kNoIndex, ScalarType::kU64}};
    });
    CHECK(RunSums(metal, file, &y, &error) == ADRT_ERROR_MALFORMED);
    CHECK(error.Says("words"));
    CHECK(error.rule == 10);
    CHECK(metal.LiveObjects() == 0);
  }
  SECTION("memory that runs out") {
    MetalHost metal;
    metal.SetMemory(2000);
    CHECK(RunSums(metal, MakeBundle(), &y, &error) == ADRT_ERROR_OUT_OF_DEVICE_MEMORY);
    CHECK(error.Says("bytes of device memory"));
    CHECK(error.needed_bytes > 0);
    CHECK(metal.LiveObjects() == 0);
  }
  SECTION("a feature that nobody knows") {
    MetalHost metal;
    auto file = MakeBundle(
        kSource, [](Metadata& metadata) { metadata.targets[0].features.push_back(String("rayQuery")); });
    CHECK(RunSums(metal, file, &y, &error) == ADRT_ERROR_NO_TARGET);
    CHECK(error.Says("rayQuery"));
  }
}

TEST_CASE("wrong ways to get a Metal device are named", "[metal]") {
  MetalHost metal;
  adrt_device* device = nullptr;
  ErrorBox error;
  adrt_metal_desc desc = Desc(metal);
  CHECK(adrt_device_wrap_metal(nullptr, &desc, &device, &error) == ADRT_ERROR_ARGUMENT);
  CHECK(error.Says("device is null"));
  desc.device = &metal;
  CHECK(adrt_device_open_metal(nullptr, &desc, &device, &error) == ADRT_ERROR_ARGUMENT);
  CHECK(error.Says("wrap_metal"));
  desc.struct_size = 0;
  CHECK(adrt_device_wrap_metal(nullptr, &desc, &device, &error) == ADRT_ERROR_ARGUMENT);
  CHECK(error.Says("struct_size"));
#if !defined(__APPLE__)
  CHECK(adrt_device_open_metal(nullptr, nullptr, &device, &error) == ADRT_ERROR_UNSUPPORTED);
#endif
}

namespace {

/// A device that goes in the middle: from the n-th of the calls that reach it, all of them fail.
struct Losing {
  const adrt_metal_api* real = nullptr;
  uint32_t calls = 0, lose_at = 0;

  bool IsLost() { return ++calls >= lose_at && lose_at > 0; }
};
Losing* losing = nullptr;  // the table's functions know the host's Metal alone

adrt_metal_api LosingTable(const MetalHost& metal) {
  adrt_metal_api table = *metal.api();
  table.new_buffer = [](void* user, void* device, uint64_t bytes) -> void* {
    return losing->IsLost() ? nullptr : losing->real->new_buffer(user, device, bytes);
  };
  table.new_commands = [](void* user, void* queue) -> void* {
    return losing->IsLost() ? nullptr : losing->real->new_commands(user, queue);
  };
  table.begin_compute = [](void* user, void* commands) -> void* {
    return losing->IsLost() ? nullptr : losing->real->begin_compute(user, commands);
  };
  table.begin_copy = [](void* user, void* commands) -> void* {
    return losing->IsLost() ? nullptr : losing->real->begin_copy(user, commands);
  };
  table.commit_and_wait = [](void* user, void* commands, int32_t* code, char* text, uint32_t text_size) {
    if (!losing->IsLost()) return losing->real->commit_and_wait(user, commands, code, text, text_size);
    *code = 11;
    std::snprintf(text, text_size, "the device was removed");
    return int32_t{ADRT_METAL_LOST};
  };
  return table;
}

/// The kernel @sums planned once, to be run again and again.
struct SumsLaunch {
  MetalHost& metal;
  adrt_metal_api table = LosingTable(metal);
  Losing state;
  Handles handles;

  explicit SumsLaunch(MetalHost& from) : metal(from) {
    state.real = metal.api();
    losing = &state;
    adrt_metal_desc desc = Desc(metal);
    desc.api = &table;
    Must(handles.Open(MakeBundle(), desc));
    void *x = nullptr, *y = nullptr;
    Must(handles.Take(kCount * 4, &x));
    Must(handles.Take(kCount * 4, &y));
    std::vector<float> input = Input();
    Must(adrt_memory_write(handles.memories[0], 0, input.data(), kCount * 4, &handles.error));
    int32_t n = 4;
    Must(handles.Plan("sums", {fixture::BufferArg("x", ADRT_TYPE_F32, x, {kCount}),
                               fixture::BufferArg("y", ADRT_TYPE_F32, y, {kCount}),
                               fixture::ScalarArg("n", ADRT_TYPE_I32, &n)}));
  }
  void Must(adrt_status status) {
    INFO(handles.error.text);
    REQUIRE(status == ADRT_OK);
  }
  /// Launches and reads; what comes out right is compared.
  adrt_status Run() {
    std::vector<float> y(kCount);
    adrt_status status = adrt_run(handles.plan, nullptr, &handles.error);
    if (status == ADRT_OK)
      status = adrt_memory_read(handles.memories[1], 0, y.data(), kCount * 4, &handles.error);
    if (status == ADRT_OK) CheckSums(y);
    return status;
  }
};

}  // namespace

TEST_CASE("Metal launches go on after each fault of a call", "[metal][faults]") {
  uint32_t faults = 0;
  for (bool failed = true; failed;) {
    MetalHost metal;
    {
      SumsLaunch sums(metal);
      metal.FailCall(++faults);
      failed = sums.Run() != ADRT_OK;
      INFO("call " << faults << ": " << sums.handles.error.text);
      metal.FailCall(0);
      REQUIRE(sums.Run() == ADRT_OK);
    }
    REQUIRE(metal.LiveObjects() == 0);
  }
  CHECK(faults > 5);
}

TEST_CASE("a Metal device that is lost in the middle leaves nothing behind, and the next one works",
          "[metal][faults]") {
  uint32_t at = 0;
  bool seen = false;
  for (bool lost = true; lost;) {
    MetalHost metal;
    {
      SumsLaunch sums(metal);
      sums.state.calls = 0;
      sums.state.lose_at = ++at;
      adrt_status status = sums.Run();
      INFO("call " << at << ": " << sums.handles.error.text);
      lost = sums.state.calls >= at;
      REQUIRE((status != ADRT_OK) == lost);
      seen = seen || status == ADRT_ERROR_DEVICE_LOST;
      if (lost) REQUIRE(sums.Run() != ADRT_OK);
    }
    REQUIRE(metal.LiveObjects() == 0);
    MetalHost next;
    REQUIRE(SumsLaunch(next).Run() == ADRT_OK);
  }
  CHECK(seen);
  CHECK(at > 4);
}
