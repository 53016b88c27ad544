#include <adrt/adrt_cpu.h>
#include <adrt/adrt_cuda.h>
#include <adrt/adrt_hip.h>
#include <adrt/adrt_sequence.h>

#include "cuda_session.h"
#include "fake_hip.h"

// Sequences of launches: on a CPU a list of stages, on CUDA and HIP a graph, whose edges a fake driver takes
// at their word: it runs the nodes in the order that is the least like that of the capture.

using namespace fixture;

namespace {

constexpr int64_t kCount = 300;

struct Sequence {
  adrt_sequence* sequence = nullptr;
  ErrorBox error;

  explicit Sequence(adrt_device* device) {
    INFO(error.text);
    REQUIRE(adrt_sequence_create(device, &sequence, &error) == ADRT_OK);
  }
  Sequence(const Sequence&) = delete;
  Sequence& operator=(const Sequence&) = delete;
  ~Sequence() { adrt_sequence_release(sequence); }

  adrt_sequence_report Info() {
    adrt_sequence_report report = {};
    report.struct_size = sizeof report;
    REQUIRE(adrt_sequence_info(sequence, &report, &error) == ADRT_OK);
    return report;
  }
  void Must(adrt_status status) {
    INFO(error.text);
    REQUIRE(status == ADRT_OK);
  }
};

std::vector<adrt_arg> Saxpy(void* x, void* y, float* a) {
  return {BufferArg("x", ADRT_TYPE_F32, x, {kCount}), BufferArg("y", ADRT_TYPE_F32, y, {kCount}),
          ScalarArg("a", ADRT_TYPE_F32, a)};
}

/// Four vectors, three saxpys and a mean, as host code computes them.
struct Expected {
  std::vector<float> x, y, z, w;

  Expected() : x(kCount), y(kCount, 1), z(kCount, 2), w(kCount, 3) {
    for (size_t index = 0; index < x.size(); ++index) x[index] = static_cast<float>(index % 7);
  }
  static void Add(const std::vector<float>& from, std::vector<float>& to, float a) {
    for (size_t index = 0; index < to.size(); ++index) to[index] += a * from[index];
  }
  /// y += 0.5 x; z += a y; w += 0.5 x; y = z - mean of z.
  void Step(float a) {
    Add(x, y, 0.5f);
    Add(y, z, a);
    Add(x, w, 0.5f);
    float sum = 0;
    for (float value : z) sum += value;
    for (size_t index = 0; index < y.size(); ++index) y[index] = z[index] - sum / static_cast<float>(kCount);
  }
};

/// The same on a device.
struct Work {
  StreamSession& device;
  Expected host;
  float a = 0.5f;
  adrt_memory *x, *y, *z, *w, *heap, *status;
  std::vector<adrt_launch_plan*> plans;

  explicit Work(StreamSession& session) : device(session) {
    x = Upload(host.x);
    y = Upload(host.y);
    z = Upload(host.z);
    w = Upload(host.w);
    heap = Upload(std::vector<char>(4096));
    status = Upload(std::vector<char>(4 * ADRT_STATUS_BYTES, 0x55));
    Plan("saxpy", Saxpy(adrt_memory_data(x), adrt_memory_data(y), &a));
    Plan("saxpy", Saxpy(adrt_memory_data(y), adrt_memory_data(z), &a));
    Plan("saxpy", Saxpy(adrt_memory_data(x), adrt_memory_data(w), &a));
    Plan("mean", {BufferArg("x", ADRT_TYPE_F32, adrt_memory_data(z), {kCount}),
                  BufferArg("y", ADRT_TYPE_F32, adrt_memory_data(y), {kCount})});
  }
  template <class T>
  adrt_memory* Upload(const std::vector<T>& values) {
    adrt_status result = ADRT_OK;
    adrt_memory* made = device.Upload(values, &result);
    device.Must(result);
    return made;
  }
  void Plan(const char* name, const std::vector<adrt_arg>& args) {
    adrt_launch_plan* plan = nullptr;
    device.Must(device.Plan(name, args, &plan));
    plans.push_back(plan);
  }
  void* Status(size_t launch) {
    return static_cast<char*>(adrt_memory_data(status)) + launch * ADRT_STATUS_BYTES;
  }
  adrt_status Add(Sequence& sequence, size_t launch, uint64_t heap_bytes = 4096) {
    return adrt_sequence_add(sequence.sequence, plans[launch], adrt_memory_data(heap), heap_bytes,
                             Status(launch), &sequence.error);
  }
  void AddAll(Sequence& sequence) {
    for (size_t launch = 0; launch < plans.size(); ++launch) sequence.Must(Add(sequence, launch));
  }
  void Check() {
    std::vector<float> got(kCount);
    const std::vector<float>* expected[] = {&host.y, &host.z, &host.w};
    adrt_memory* memory[] = {y, z, w};
    for (int index = 0; index < 3; ++index) {
      device.Must(device.Download(memory[index], &got));
      for (size_t n = 0; n < got.size(); ++n) REQUIRE(got[n] == Approx((*expected[index])[n]).epsilon(1e-4));
    }
    std::vector<uint32_t> words(4 * ADRT_STATUS_BYTES / 4);
    device.Must(device.Download(status, &words));
    for (size_t launch = 0; launch < plans.size(); ++launch) {
      const uint32_t* block = &words[launch * ADRT_STATUS_BYTES / 4];
      CHECK(adrt_status_read(plans[launch], block, nullptr) == ADRT_OK);
    }
  }
};

adrt_status LoadHip(StreamSession& session, FakeHip& fake) {
  adc::artifact::Metadata metadata = MakeMetadata();
  adc::artifact::TargetMeta target;
  target.name = "hip:gfx90a";
  target.kind = "hip";
  target.arch = "gfx90a";
  target.abi = "hsaco";
  AddDeviceTarget(&metadata, target);
  uint32_t number = static_cast<uint32_t>(metadata.targets.size()) - 1;
  adrt_hip_desc desc = fake.Desc();
  return session.Load(
      MakeDeviceBundle(metadata, adc::artifact::section::kHsaco, MakeHsaco(metadata, number, 0x3F)), desc,
      TrustingHost(), adrt_device_wrap_hip);
}

void RecordAndChange(StreamSession& device, FakeStreams& fake) {
  Work work(device);
  Sequence sequence(device.device);
  work.AddAll(sequence);
  fake.late = true;
  sequence.Must(adrt_sequence_record(sequence.sequence, nullptr, &sequence.error));
  work.host.Step(0.5f);
  work.Check();
  // Another value: another graph. The same again: the same graph.
  float other = -0.25f;
  adrt_arg arg = ScalarArg("a", ADRT_TYPE_F32, &other);
  device.Must(adrt_plan_update(work.plans[1], &arg, 1, &device.error));
  for (int turn = 0; turn < 2; ++turn) {
    sequence.Must(adrt_sequence_record(sequence.sequence, nullptr, &sequence.error));
    work.host.Step(other);
    work.Check();
    CHECK(sequence.Info().graph_count == 2);
  }
  CHECK(fake.graph_launches == 3);
}

}  // namespace

TEST_CASE("a sequence is one graph, made again where an argument has changed", "[loader][cuda][hip]") {
  {
    FakeCuda fake;
    {
      StreamSession device;
      device.Must(Load(device, fake, MakeCudaBundle()));
      RecordAndChange(device, fake);
    }
    CHECK(fake.IsClean());
    CHECK(fake.broken == "");
  }
  FakeHip fake;
  {
    StreamSession device;
    device.Must(LoadHip(device, fake));
    RecordAndChange(device, fake);
  }
  CHECK(fake.IsClean());
  CHECK(fake.broken == "");
}

TEST_CASE("launches that share no memory that one of them writes have no edge", "[loader][cuda]") {
  FakeCuda fake;
  StreamSession device;
  device.Must(Load(device, fake, MakeCudaBundle()));
  Work work(device);
  Sequence sequence(device.device);
  for (size_t launch : {0u, 1u, 2u}) sequence.Must(work.Add(sequence, launch));
  sequence.Must(adrt_sequence_record(sequence.sequence, nullptr, &sequence.error));
  // A fill of the status block each, and a task that waits for it; the second task reads what the first
  // writes.
  CHECK(sequence.Info().launch_count == 3);
  CHECK(sequence.Info().command_count == 6);
  CHECK(sequence.Info().wait_count == 4);
  REQUIRE(fake.last_graph.size() == 6);
  CHECK(fake.last_graph[0].waits.empty());
  CHECK(fake.last_graph[1].waits == std::vector<size_t>{1});
  CHECK(fake.last_graph[2].waits.empty());
  CHECK(fake.last_graph[3].waits == std::vector<size_t>{2, 3});
  CHECK(fake.last_graph[4].waits.empty());
  CHECK(fake.last_graph[5].waits == std::vector<size_t>{5});
  // With one status block they follow each other.
  adrt_sequence_reset(sequence.sequence, nullptr);
  for (size_t launch : {0u, 2u}) {
    sequence.Must(adrt_sequence_add(sequence.sequence, work.plans[launch], nullptr, 0, work.Status(0),
                                    &sequence.error));
  }
  sequence.Must(adrt_sequence_run(sequence.sequence, &sequence.error));
  CHECK(fake.last_graph[2].waits == std::vector<size_t>{2});
  CHECK(fake.broken == "");
}

TEST_CASE("what a sequence cannot record it refuses, and records nothing", "[loader][cuda]") {
  FakeCuda fake;
  StreamSession device;
  device.Must(Load(device, fake, MakeCudaBundle()));
  Work work(device);
  Sequence sequence(device.device);
  CHECK(adrt_sequence_add(sequence.sequence, nullptr, nullptr, 0, work.Status(0), &sequence.error) ==
        ADRT_ERROR_ARGUMENT);
  CHECK(adrt_sequence_add(sequence.sequence, work.plans[0], nullptr, 0, nullptr, &sequence.error) ==
        ADRT_ERROR_ARGUMENT);
  sequence.Must(adrt_sequence_record(sequence.sequence, nullptr, &sequence.error));  // nothing
  sequence.Must(work.Add(sequence, 0));
  sequence.Must(work.Add(sequence, 3, 16));
  size_t launches = fake.launches.size();
  CHECK(adrt_sequence_record(sequence.sequence, nullptr, &sequence.error) == ADRT_ERROR_HEAP_TOO_SMALL);
  CHECK(sequence.error.Says("kernel 'mean'"));
  CHECK(sequence.error.needed_bytes > 16);
  CHECK(fake.launches.size() == launches);
  CHECK(fake.graph_launches == 0);
  // The plans of another device.
  Session cpu;
  Sequence other(cpu.device);
  CHECK(work.Add(other, 0) == ADRT_ERROR_ARGUMENT);
  CHECK(other.error.Says("without a module of the sequence's device"));
  CHECK(fake.broken == "");
}

TEST_CASE("an old driver has no graphs: the error names the function, launches work", "[loader][cuda]") {
  FakeCuda fake;
  fake.missing = "cuGraphInstantiateWithFlags";
  StreamSession device;
  device.Must(Load(device, fake, MakeCudaBundle()));
  Work work(device);
  Sequence sequence(device.device);
  work.AddAll(sequence);
  CHECK(adrt_sequence_record(sequence.sequence, nullptr, &sequence.error) == ADRT_ERROR_DEVICE_FEATURE);
  CHECK(sequence.error.Says("cuGraphInstantiateWithFlags"));
  device.Must(adrt_run(work.plans[0], nullptr, &device.error));
  CHECK(fake.broken == "");
}

TEST_CASE("each call of the driver that makes or launches a graph fails in turn", "[loader][cuda]") {
  auto work = [](FakeCuda& fake, StreamSession& device) {
    adrt_status status = Load(device, fake, MakeCudaBundle(), true);
    if (status != ADRT_OK) return status;
    std::vector<float> values(40, 1);
    float a = 2;
    adrt_memory* x = device.Upload(values, &status);
    if (!x) return status;
    adrt_memory* y = device.Upload(values, &status);
    if (!y) return status;
    adrt_memory* block = device.Upload(std::vector<char>(ADRT_STATUS_BYTES), &status);
    if (!block) return status;
    std::vector<adrt_arg> args = {BufferArg("x", ADRT_TYPE_F32, adrt_memory_data(x), {40}),
                                  BufferArg("y", ADRT_TYPE_F32, adrt_memory_data(y), {40}),
                                  ScalarArg("a", ADRT_TYPE_F32, &a)};
    adrt_launch_plan* plan = nullptr;
    status = device.Plan("saxpy", args, &plan);
    if (status != ADRT_OK) return status;
    adrt_sequence* sequence = nullptr;
    status = adrt_sequence_create(device.device, &sequence, &device.error);
    if (status == ADRT_OK)
      status = adrt_sequence_add(sequence, plan, nullptr, 0, adrt_memory_data(block), &device.error);
    if (status == ADRT_OK) status = adrt_sequence_record(sequence, nullptr, &device.error);
    if (status == ADRT_OK) status = device.Download(y, &values);
    adrt_sequence_release(sequence);
    if (status == ADRT_OK) REQUIRE(values[7] == 3);
    return status;
  };
  auto ends = [](const std::string& call) {
    for (const char* one : {"cuModuleUnload", "cuMemFree", "cuStreamDestroy", "cuCtxPopCurrent",
                            "cuDevicePrimaryCtxRelease", "cuGraphDestroy", "cuGraphExecDestroy"}) {
      if (call == one) return true;
    }
    return false;
  };
  auto moves = [](const std::string& call) { return call == "cuCtxPushCurrent"; };
  FailEveryCall<FakeCuda>(kDriverFailures[0], "cuMemAlloc", work, ends, moves);
}

TEST_CASE("a sequence of launches on a CPU goes into a record, or runs", "[loader]") {
  Session session(3);
  Expected host;
  std::vector<float> x = host.x, y = host.y, z = host.z, w = host.w;
  float a = 0.5f;
  alignas(64) static uint32_t blocks[3][16];
  Plan first(session, "saxpy", Saxpy(x.data(), y.data(), &a)),
      second(session, "saxpy", Saxpy(y.data(), z.data(), &a)),
      third(session, "saxpy", Saxpy(x.data(), w.data(), &a));
  Sequence sequence(session.device);
  uint32_t number = 0;
  for (Plan* plan : {&first, &second, &third}) {
    sequence.Must(
        adrt_sequence_add(sequence.sequence, plan->plan, nullptr, 0, blocks[number++], &sequence.error));
  }
  CHECK(adrt_sequence_record(sequence.sequence, nullptr, &sequence.error) == ADRT_ERROR_ARGUMENT);
  sequence.Must(adrt_sequence_run(sequence.sequence, &sequence.error));
  Expected::Add(host.x, host.y, a);
  Expected::Add(host.y, host.z, a);
  Expected::Add(host.x, host.w, a);
  CHECK(y == host.y);
  CHECK(z == host.z);
  CHECK(w == host.w);
  adrt_cpu_record* record = nullptr;
  session.Must(adrt_cpu_record_create(session.device, &record, &session.error));
  sequence.Must(adrt_sequence_record(sequence.sequence, record, &sequence.error));
  CHECK(adrt_cpu_record_stages(record) == 6);
  adrt_cpu_stage_report stage = {};
  stage.struct_size = sizeof stage;
  session.Must(adrt_cpu_record_stage(record, 4, &stage, &session.error));
  CHECK(stage.launch == 2);
  CHECK(stage.wait_count == 0);
  adrt_cpu_record_release(record);
}

TEST_CASE("rounds of a sequence on a CPU end where a kernel has set the flag", "[loader]") {
  Session session(2);
  // w += z; z += y; y += x: what begins with zeros is not 0 any more in w after three rounds.
  std::vector<std::vector<float>> values(4, std::vector<float>(kCount));
  values[0].assign(kCount, 1);
  float one = 1;
  alignas(64) static uint32_t blocks[3][16];
  alignas(16) uint32_t done = 77;
  Plan first(session, "saxpy", Saxpy(values[2].data(), values[3].data(), &one)),
      second(session, "saxpy", Saxpy(values[1].data(), values[2].data(), &one)),
      third(session, "saxpy", Saxpy(values[0].data(), values[1].data(), &one));
  Sequence sequence(session.device);
  uint32_t number = 0;
  for (Plan* plan : {&first, &second, &third}) {
    sequence.Must(
        adrt_sequence_add(sequence.sequence, plan->plan, nullptr, 0, blocks[number++], &sequence.error));
  }
  adrt_sequence_rounds rounds = {};
  rounds.struct_size = sizeof rounds;
  rounds.most = 20;
  rounds.until = values[3].data();
  rounds.memory = &done;
  rounds.memory_size = sizeof done;
  sequence.Must(adrt_sequence_repeat(sequence.sequence, &rounds, &sequence.error));
  sequence.Must(adrt_sequence_run(sequence.sequence, &sequence.error));
  CHECK(done == 3);
  CHECK(values[1][0] == 3);
  CHECK(values[2][0] == 3);
  CHECK(values[3][0] == 1);
  adrt_cpu_record* record = nullptr;
  session.Must(adrt_cpu_record_create(session.device, &record, &session.error));
  CHECK(adrt_sequence_record(sequence.sequence, record, &sequence.error) == ADRT_ERROR_UNSUPPORTED);
  CHECK(adrt_cpu_record_stages(record) == 0);
  adrt_cpu_record_release(record);
}
