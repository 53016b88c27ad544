#include <adrt/adrt_sequence.h>

#include <algorithm>
#include <cmath>

#include "fake_vulkan.h"
#include "vulkan_session.h"

// Sequences on Vulkan: what comes out with the validation layer on, and which barriers lie between the
// commands.

using namespace fixture;

namespace {

constexpr int64_t kCount = 1000;

struct Sequence {
  adrt_sequence* sequence = nullptr;
  ErrorBox error;

  explicit Sequence(adrt_device* device) {
    REQUIRE(adrt_sequence_create(device, &sequence, &error) == ADRT_OK);
  }
  Sequence(const Sequence&) = delete;
  Sequence& operator=(const Sequence&) = delete;
  ~Sequence() { adrt_sequence_release(sequence); }

  void Add(adrt_launch_plan* plan, void* heap, void* status) {
    Must(adrt_sequence_add(sequence, plan, heap, UINT64_MAX, status, &error));
  }
  adrt_sequence_report Info() {
    adrt_sequence_report report = {};
    report.struct_size = sizeof report;
    Must(adrt_sequence_info(sequence, &report, &error));
    return report;
  }
  void Must(adrt_status status) {
    INFO(error.text);
    REQUIRE(status == ADRT_OK);
  }
};

/// y += a x; z += a y; w += a x, and the values that y, z and w have.
template <class Session>
struct Saxpys {
  Session& session;
  std::vector<float> x, y, z, w;
  float a = 0.5f;
  adrt_memory *x_memory, *y_memory, *z_memory, *w_memory;
  std::vector<adrt_memory*> heaps, blocks;
  std::vector<adrt_launch_plan*> plans;

  explicit Saxpys(Session& from) : session(from), x(kCount), y(kCount, 1), z(kCount, 2), w(kCount, 3) {
    for (size_t index = 0; index < x.size(); ++index) x[index] = static_cast<float>(index % 13);
    x_memory = session.Upload(x);
    y_memory = session.Upload(y);
    z_memory = session.Upload(z);
    w_memory = session.Upload(w);
    adrt_memory* pairs[][2] = {{x_memory, y_memory}, {y_memory, z_memory}, {x_memory, w_memory}};
    for (auto& [from_memory, to_memory] : pairs) {
      plans.push_back(session.Plan(
          "saxpy", {Buffer("x", from_memory), Buffer("y", to_memory), ScalarArg("a", ADRT_TYPE_F32, &a)}));
      heaps.push_back(session.Upload(std::vector<char>(4096, 0x55)));
      blocks.push_back(session.Upload(std::vector<char>(ADRT_STATUS_BYTES, 0x55)));
    }
  }
  ~Saxpys() {
    for (adrt_launch_plan* plan : plans) adrt_plan_release(plan);
  }
  static adrt_arg Buffer(const char* name, adrt_memory* memory) {
    return BufferArg(name, ADRT_TYPE_F32, adrt_memory_data(memory), {kCount});
  }
  void AddTo(Sequence& sequence, bool one_heap = false) {
    for (size_t index = 0; index < plans.size(); ++index) {
      sequence.Add(plans[index], adrt_memory_data(heaps[one_heap ? 0 : index]),
                   adrt_memory_data(blocks[index]));
    }
  }
  void Step() {
    auto add = [](const std::vector<float>& from, std::vector<float>& to, float factor) {
      for (size_t index = 0; index < to.size(); ++index) to[index] += factor * from[index];
    };
    add(x, y, 0.5f);
    add(y, z, a);
    add(x, w, 0.5f);
  }
  void Check() {
    REQUIRE(session.template Download<float>(y_memory) == y);
    REQUIRE(session.template Download<float>(z_memory) == z);
    REQUIRE(session.template Download<float>(w_memory) == w);
    for (adrt_memory* block : blocks) {
      for (uint32_t word : session.template Download<uint32_t>(block)) CHECK(word == 0);
    }
  }
};

}  // namespace

TEST_CASE("a sequence computes what its launches compute, with the arguments of now", "[vulkan]") {
  VulkanSession session;
  for (bool one_heap : {false, true}) {
    Saxpys<VulkanSession> work(session);
    Sequence sequence(session.device);
    work.AddTo(sequence, one_heap);
    for (int round = 0; round < 4; ++round) {
      sequence.Must(adrt_sequence_run(sequence.sequence, &sequence.error));
      work.Step();
      work.Check();
      work.a = work.a == 0.5f ? -0.25f : 0.5f;
      adrt_arg arg = ScalarArg("a", ADRT_TYPE_F32, &work.a);
      session.Must(adrt_plan_update(work.plans[1], &arg, 1, &session.error));
    }
    // Fills and words of all launches; the first and the third task; the second. With one heap each waits
    // for the one before.
    CHECK(sequence.Info().command_count == 6);
    CHECK(sequence.Info().barrier_count == (one_heap ? 5u : 2u));
  }
}

TEST_CASE("tasks of a kernel follow each other beside another kernel's", "[vulkan]") {
  VulkanSession session;
  constexpr int64_t kRows = 3000;
  std::vector<double> tape_x(kRows);
  for (size_t index = 0; index < tape_x.size(); ++index) tape_x[index] = 0.0003 * static_cast<double>(index);
  std::vector<float> x(kCount);
  for (size_t index = 0; index < x.size(); ++index) x[index] = static_cast<float>(index);
  int32_t n = 20;
  adrt_memory *from = session.Upload(tape_x), *to = session.Upload(tape_x), *mean_from = session.Upload(x),
              *mean_to = session.Upload(x);
  adrt_launch_plan* plans[] = {
      session.Plan("tape", {BufferArg("x", ADRT_TYPE_F64, adrt_memory_data(from), {kRows}),
                            BufferArg("y", ADRT_TYPE_F64, adrt_memory_data(to), {kRows}),
                            ScalarArg("n", ADRT_TYPE_I32, &n)}),
      session.Plan("mean", {BufferArg("x", ADRT_TYPE_F32, adrt_memory_data(mean_from), {kCount}),
                            BufferArg("y", ADRT_TYPE_F32, adrt_memory_data(mean_to), {kCount})})};
  Sequence sequence(session.device);
  for (adrt_launch_plan* plan : plans) {
    adrt_plan_report report = {};
    report.struct_size = sizeof report;
    session.Must(adrt_plan_info(plan, &report, &session.error));
    adrt_memory* heap = session.Upload(std::vector<char>(report.heap_bytes, 0x55));
    adrt_memory* block = session.Upload(std::vector<char>(ADRT_STATUS_BYTES, 0x55));
    sequence.Add(plan, adrt_memory_data(heap), adrt_memory_data(block));
    adrt_plan_release(plan);  // the sequence retains it
  }
  for (int round = 0; round < 3; ++round) {
    sequence.Must(adrt_sequence_run(sequence.sequence, &sequence.error));
    for (float value : session.Download<float>(mean_to)) REQUIRE(value == 499.5f);
    std::vector<double> got = session.Download<double>(to);
    for (size_t index = 0; index < got.size(); ++index) {
      double expected = 0;
      for (int32_t t = 0; t < n; ++t) expected += t * std::pow(tape_x[index], t);
      REQUIRE(got[index] == Approx(expected).epsilon(1e-12));
    }
  }
  // Fills; a task of each kernel; the second task of the mean.
  CHECK(sequence.Info().barrier_count == 2);
}

namespace {

/// The fixture on the driver that computes nothing.
struct FakeSession {
  FakeVulkan fake;
  adrt_bundle* bundle = nullptr;
  adrt_device* device = nullptr;
  adrt_module* module = nullptr;
  std::vector<adrt_memory*> memory;
  ErrorBox error;

  FakeSession() {
    adrt_host host = TrustingHost();
    std::vector<uint8_t> file = MakeVulkanBundle();
    Must(adrt_bundle_open(&host, file.data(), file.size(), ADRT_BUNDLE_COPY, &bundle, &error));
    adrt_vk_open_desc open = {};
    open.struct_size = sizeof open;
    open.get_instance_proc_addr = FakeVulkan::EntryPoint();
    Must(adrt_device_open_vk(&host, &open, &device, &error));
    Must(adrt_module_load(device, bundle, &module, &error));
  }
  FakeSession(const FakeSession&) = delete;
  FakeSession& operator=(const FakeSession&) = delete;
  ~FakeSession() {
    for (adrt_memory* one : memory) adrt_memory_release(one);
    adrt_module_release(module);
    adrt_device_release(device);
    adrt_bundle_release(bundle);
  }
  void Must(adrt_status status) {
    INFO(error.text);
    REQUIRE(status == ADRT_OK);
  }
  template <class T>
  adrt_memory* Upload(const std::vector<T>& from) {
    adrt_memory* made = nullptr;
    Must(adrt_memory_create(device, from.size() * sizeof(T), &made, &error));
    memory.push_back(made);
    return made;
  }
  adrt_launch_plan* Plan(const char* name, std::vector<adrt_arg> args) {
    const adrt_kernel* kernel = nullptr;
    Must(adrt_bundle_find_kernel(bundle, name, 0, &kernel, &error));
    adrt_plan_desc desc = {};
    desc.struct_size = sizeof desc;
    desc.args = args.data();
    desc.arg_count = static_cast<uint32_t>(args.size());
    desc.module = module;
    adrt_launch_plan* plan = nullptr;
    Must(adrt_plan(kernel, &desc, &plan, &error));
    return plan;
  }
};

}  // namespace

TEST_CASE("between kernels without a conflict lies no barrier", "[vulkan]") {
  FakeSession session;
  Saxpys<FakeSession> work(session);
  Sequence sequence(session.device);
  work.AddTo(sequence);
  session.fake.commands.clear();
  sequence.Must(adrt_sequence_run(sequence.sequence, &sequence.error));
  // "F": a fill, "W": words, "D": a dispatch, "|": a barrier. The first two come before all that the queue's
  // owner orders (one of the queue, one of the sequence), the last two after.
  std::string order;
  for (const std::string& command : session.fake.commands) {
    if (command.starts_with("vkCmdFillBuffer")) order += 'F';
    if (command.starts_with("vkCmdUpdateBuffer")) order += 'W';
    if (command.starts_with("vkCmdDispatch")) order += 'D';
    if (command.starts_with("vkCmdPipelineBarrier")) order += '|';
  }
  CHECK(order == "||FWFWFW|DD|D||");
  CHECK(sequence.Info().barrier_count == 2);
}

TEST_CASE("a sequence that is refused leaves the command buffer as it was", "[vulkan]") {
  FakeSession session;
  Saxpys<FakeSession> work(session);
  Sequence sequence(session.device);
  CHECK(adrt_sequence_record(sequence.sequence, nullptr, &sequence.error) == ADRT_ERROR_ARGUMENT);
  CHECK(sequence.error.Says("VkCommandBuffer"));
  work.AddTo(sequence);
  adrt_vk_buffer small = *static_cast<const adrt_vk_buffer*>(adrt_memory_data(work.heaps[0]));
  small.size = 8;
  sequence.Must(adrt_sequence_add(sequence.sequence, work.plans[0], &small, 4096,
                                  adrt_memory_data(work.blocks[0]), &sequence.error));
  session.fake.commands.clear();
  CHECK(adrt_sequence_run(sequence.sequence, &sequence.error) == ADRT_ERROR_HEAP_TOO_SMALL);
  CHECK(std::count_if(session.fake.commands.begin(), session.fake.commands.end(), [](const std::string& one) {
          return one.starts_with("vkCmdDispatch") || one.starts_with("vkCmdFillBuffer");
        }) == 0);
}

namespace {

/// w += z; z += y; y += x: what begins with zeros is not 0 any more in w after three rounds.
struct Chain {
  VulkanSession& session;
  float one = 1;
  std::vector<adrt_memory*> values, blocks;
  adrt_memory* memory = nullptr;
  Sequence sequence;

  explicit Chain(VulkanSession& from) : session(from), sequence(from.device) {
    for (float value : {1.0f, 0.0f, 0.0f, 0.0f})
      values.push_back(session.Upload(std::vector<float>(kCount, value)));
    for (size_t index = 3; index-- > 0;) {
      adrt_launch_plan* plan = session.Plan("saxpy", {Saxpys<VulkanSession>::Buffer("x", values[index]),
                                                      Saxpys<VulkanSession>::Buffer("y", values[index + 1]),
                                                      ScalarArg("a", ADRT_TYPE_F32, &one)});
      adrt_memory* heap = session.Upload(std::vector<char>(4096, 0x55));
      blocks.push_back(session.Upload(std::vector<char>(ADRT_STATUS_BYTES, 0x55)));
      sequence.Add(plan, adrt_memory_data(heap), adrt_memory_data(blocks.back()));
      adrt_plan_release(plan);
    }
    memory = session.Upload(std::vector<char>(sequence.Info().rounds_bytes, 0x55));
  }
  adrt_status Repeat(uint32_t most, adrt_memory* until) {
    adrt_sequence_rounds rounds = {};
    rounds.struct_size = sizeof rounds;
    rounds.most = most;
    rounds.until = until ? adrt_memory_data(until) : nullptr;
    rounds.memory = adrt_memory_data(memory);
    rounds.memory_size = adrt_memory_bytes(memory);
    return adrt_sequence_repeat(sequence.sequence, &rounds, &sequence.error);
  }
  float First(size_t index) { return session.Download<float>(values[index])[0]; }
  uint32_t Rounds() { return session.Download<uint32_t>(memory)[0]; }
};

}  // namespace

TEST_CASE("rounds end on the device where a kernel has set the flag", "[vulkan]") {
  VulkanSession session;
  for (uint32_t most : {1u, 2u, 3u, 4u, 20u}) {
    Chain chain(session);
    chain.sequence.Must(chain.Repeat(most, chain.values[3]));
    chain.sequence.Must(adrt_sequence_run(chain.sequence.sequence, &chain.sequence.error));
    uint32_t ran = most < 3 ? most : 3;
    CHECK(chain.Rounds() == ran);
    CHECK(chain.First(1) == static_cast<float>(ran));
    CHECK(chain.First(2) == static_cast<float>(ran * (ran - 1) / 2));
    CHECK(chain.First(3) == (ran == 3 ? 1.0f : 0.0f));
    // Again, with the flag set: one round. Without rounds: one as well.
    chain.sequence.Must(adrt_sequence_run(chain.sequence.sequence, &chain.sequence.error));
    if (most >= 3) CHECK(chain.Rounds() == 1);
    float before = chain.First(1);
    chain.sequence.Must(adrt_sequence_repeat(chain.sequence.sequence, nullptr, &chain.sequence.error));
    chain.sequence.Must(adrt_sequence_run(chain.sequence.sequence, &chain.sequence.error));
    CHECK(chain.First(1) == before + 1);
  }
  // Without a flag all rounds run.
  Chain chain(session);
  chain.sequence.Must(chain.Repeat(7, nullptr));
  chain.sequence.Must(adrt_sequence_run(chain.sequence.sequence, &chain.sequence.error));
  CHECK(chain.Rounds() == 7);
  CHECK(chain.First(1) == 7);
}

TEST_CASE("a round that reports something is the last, and its report stands", "[vulkan]") {
  VulkanSession session;
  float minus = -1;
  adrt_memory *one = session.Upload(std::vector<float>(kCount, 1)),
              *falling = session.Upload(std::vector<float>(kCount, 2.5f));
  adrt_launch_plan* plans[] = {session.Plan("saxpy", {Saxpys<VulkanSession>::Buffer("x", one),
                                                      Saxpys<VulkanSession>::Buffer("y", falling),
                                                      ScalarArg("a", ADRT_TYPE_F32, &minus)}),
                               session.Plan("stop", {Saxpys<VulkanSession>::Buffer("x", falling)})};
  Sequence sequence(session.device);
  std::vector<adrt_memory*> blocks;
  for (adrt_launch_plan* plan : plans) {
    adrt_memory* heap = session.Upload(std::vector<char>(4096, 0x55));
    blocks.push_back(session.Upload(std::vector<char>(ADRT_STATUS_BYTES, 0x55)));
    sequence.Add(plan, adrt_memory_data(heap), adrt_memory_data(blocks.back()));
  }
  adrt_memory* memory = session.Upload(std::vector<char>(sequence.Info().rounds_bytes));
  adrt_sequence_rounds rounds = {};
  rounds.struct_size = sizeof rounds;
  rounds.most = 10;
  rounds.memory = adrt_memory_data(memory);
  rounds.memory_size = adrt_memory_bytes(memory);
  sequence.Must(adrt_sequence_repeat(sequence.sequence, &rounds, &sequence.error));
  sequence.Must(adrt_sequence_run(sequence.sequence, &sequence.error));
  CHECK(session.Download<uint32_t>(memory)[0] == 3);
  CHECK(session.Download<float>(falling)[0] == -0.5f);
  CHECK(adrt_status_read(plans[0], session.Download<uint32_t>(blocks[0]).data(), &session.error) == ADRT_OK);
  CHECK(adrt_status_read(plans[1], session.Download<uint32_t>(blocks[1]).data(), &session.error) ==
        ADRT_ERROR_ASSERTION);
  for (adrt_launch_plan* plan : plans) adrt_plan_release(plan);
}

TEST_CASE("rounds that cannot be are refused", "[vulkan]") {
  FakeSession session;
  Saxpys<FakeSession> work(session);
  Sequence sequence(session.device);
  work.AddTo(sequence);
  adrt_sequence_rounds rounds = {};
  rounds.struct_size = sizeof rounds;
  CHECK(adrt_sequence_repeat(sequence.sequence, &rounds, &sequence.error) == ADRT_ERROR_ARGUMENT);
  CHECK(sequence.error.Says("1 to 65535 rounds, given 0"));
  rounds.most = 5;
  rounds.memory = adrt_memory_data(work.heaps[0]);
  rounds.memory_size = 32;
  sequence.Must(adrt_sequence_repeat(sequence.sequence, &rounds, &sequence.error));
  session.fake.commands.clear();
  CHECK(adrt_sequence_run(sequence.sequence, &sequence.error) == ADRT_ERROR_HEAP_TOO_SMALL);
  CHECK(sequence.error.needed_bytes == sequence.Info().rounds_bytes);
  CHECK(sequence.error.needed_bytes > 32);
  CHECK_FALSE(session.fake.Recorded("vkCmdDispatch 1"));
  // Each call fails in turn until none is left: what made the guard says so, and nothing is left behind.
  rounds.memory_size = 4096;
  sequence.Must(adrt_sequence_repeat(sequence.sequence, &rounds, &sequence.error));
  std::string failed;
  adrt_status status = ADRT_ERROR_DRIVER;
  for (long turn = 1; status != ADRT_OK; ++turn) {
    REQUIRE(turn < 20);
    adrt_sequence_release(sequence.sequence);
    sequence.Must(adrt_sequence_create(session.device, &sequence.sequence, &sequence.error));
    work.AddTo(sequence);
    sequence.Must(adrt_sequence_repeat(sequence.sequence, &rounds, &sequence.error));
    session.fake.fail_at = session.fake.calls + turn;
    session.fake.failed_call.clear();
    status = adrt_sequence_run(sequence.sequence, &sequence.error);
    failed += session.fake.failed_call + " ";
  }
  for (const char* call : {"vkCreateShaderModule", "vkCreatePipelineLayout", "vkCreateComputePipelines"})
    CHECK(failed.find(call) != std::string::npos);
  CHECK(session.fake.Recorded("vkCmdDispatchIndirect 0") == false);
}
