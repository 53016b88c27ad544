#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "cuda_session.h"

// What a plan knows is what the launch meets: sizes that have moved, memory that is used twice, caps, and
// loops of the caller that must end.

using namespace fixture;

namespace {

/// x and y of the kernel @mean on a fake device, in one piece of memory.
struct Mean {
  std::vector<float> x = {1, 2, 3, 6}, y = std::vector<float>(4);
  adrt_memory *x_memory = nullptr, *y_memory = nullptr;
  adrt_launch_plan* plan = nullptr;

  explicit Mean(StreamSession& device) {
    adrt_status status = ADRT_OK;
    x_memory = device.Upload(x, &status);
    y_memory = device.Upload(y, &status);
    device.Must(device.Plan("mean", Args(), &plan));
  }
  std::vector<adrt_arg> Args() const {
    return {BufferArg("x", ADRT_TYPE_F32, adrt_memory_data(x_memory), {4}),
            BufferArg("y", ADRT_TYPE_F32, adrt_memory_data(y_memory), {4})};
  }
};

/// @compact is its second task, which runs over %count, here given by the caller.
adc::artifact::Metadata CompactedMetadata() {
  adc::artifact::Metadata metadata = MakeMetadata();
  for (adc::artifact::KernelMeta& kernel : metadata.kernels) {
    if (kernel.name != "compact") continue;
    kernel.params[1].access = adc::artifact::Access::kRead;
    adc::artifact::TaskMeta second = kernel.tasks[1];
    kernel.tasks.clear();
    kernel.tasks.push_back(second);
  }
  FinishMetadata(&metadata);
  return metadata;
}

unsigned char* DataOf(adrt_memory* memory) {
  return static_cast<unsigned char*>(adrt_memory_data(memory));
}

}  // namespace

TEST_CASE("arguments may lie where the last launch had its scratch", "[loader][state]") {
  SECTION("recorded") {
    FakeCuda fake;
    StreamSession device;
    device.Must(Load(device, fake, MakeCudaBundle()));
    Mean mean(device);
    adrt_status status = ADRT_OK;
    adrt_memory *heap = device.Upload(std::vector<char>(512), &status),
                *block = device.Upload(std::vector<char>(64), &status);
    device.Must(adrt_record_cuda(mean.plan, nullptr, DataOf(heap), 512, DataOf(block), &device.error));
    // The heap is the caller's again.
    adrt_arg y = BufferArg("y", ADRT_TYPE_F32, DataOf(heap), {4});
    device.Must(adrt_plan_update(mean.plan, &y, 1, &device.error));
    // But not while a launch has it.
    CHECK(adrt_record_cuda(mean.plan, nullptr, DataOf(heap), 512, DataOf(block), &device.error) ==
          ADRT_ERROR_ARGUMENT);
    CHECK(device.error.Says("heap shares memory with parameter 'y'"));
    adrt_memory* other = device.Upload(std::vector<char>(512), &status);
    device.Must(adrt_record_cuda(mean.plan, nullptr, DataOf(other), 512, DataOf(block), &device.error));
    device.Must(device.Download(heap, &mean.y));
    CHECK(mean.y == std::vector<float>{-2, -1, 0, 3});
  }
  SECTION("run") {
    Session session;
    std::vector<float> x = {1, 2, 3, 6}, y(4);
    Plan plan(session, "mean",
              {BufferArg("x", ADRT_TYPE_F32, x.data(), {4}), BufferArg("y", ADRT_TYPE_F32, y.data(), {4})});
    alignas(64) unsigned char memory[256] = {};
    adrt_run_desc run = RunDesc();
    run.memory = memory;
    run.memory_size = sizeof memory;
    REQUIRE(plan.Run(&run) == ADRT_OK);
    adrt_arg other = BufferArg("y", ADRT_TYPE_F32, memory, {4});
    REQUIRE(adrt_plan_update(plan.plan, &other, 1, &plan.error) == ADRT_OK);
    CHECK(plan.Run(&run) == ADRT_ERROR_ARGUMENT);
    CHECK(plan.error.Says("heap shares memory with parameter 'y'"));
    run.memory = memory + 64;
    run.memory_size = 128;
    REQUIRE(plan.Run(&run) == ADRT_OK);
    float first = 0;
    std::memcpy(&first, memory, sizeof first);
    CHECK(first == -2);
  }
}

TEST_CASE("what a launch writes shares memory with nothing", "[loader][state]") {
  FakeCuda fake;
  StreamSession device;
  device.Must(Load(device, fake, MakeCudaBundle()));
  Mean mean(device);
  adrt_status status = ADRT_OK;
  adrt_memory* heap = device.Upload(std::vector<char>(1024), &status);
  unsigned char *data = DataOf(heap), *x = DataOf(mean.x_memory);
  auto record = [&](unsigned char* heap_at, unsigned char* status_at) {
    return adrt_record_cuda(mean.plan, nullptr, heap_at, 512, status_at, &device.error);
  };
  REQUIRE(PlanReport(mean.plan).heap_bytes == 256);
  CHECK(record(data, data) == ADRT_ERROR_ARGUMENT);
  CHECK(device.error.Says("status block lies in the 256 bytes of its heap"));
  CHECK(record(data, data + 252) == ADRT_ERROR_ARGUMENT);
  CHECK(record(data, x - 48) == ADRT_ERROR_ARGUMENT);
  CHECK(device.error.Says("status block shares memory with parameter 'x'"));
  CHECK(record(data, x) == ADRT_ERROR_ARGUMENT);
  CHECK(fake.launches.empty());
  device.Must(record(data, data + 256));
  // On a CPU the block that adrt_run copies to the caller as well.
  Session session;
  alignas(64) float y[20] = {}, z[4] = {1, 2, 3, 6};
  Plan plan(session, "mean", {BufferArg("x", ADRT_TYPE_F32, z, {4}), BufferArg("y", ADRT_TYPE_F32, y, {4})});
  adrt_run_desc run = RunDesc();
  run.status = y + 3;
  CHECK(plan.Run(&run) == ADRT_ERROR_ARGUMENT);
  CHECK(plan.error.Says("status block shares memory with parameter 'y'"));
  run.status = y + 4;
  CHECK(plan.Run(&run) == ADRT_OK);
}

TEST_CASE("a cap is kept or refused", "[loader][state]") {
  FakeCuda fake;
  StreamSession device;
  device.Must(Load(device, fake, MakeCudaBundle()));
  adrt_launch_plan* plan = nullptr;
  SECTION("where sizes are known it lowers the rows as a budget does") {
    TapeArgs tape(1000, 7);
    device.Must(device.Plan("tape", tape.Make(device), &plan));
    REQUIRE(PlanReport(plan).heap_bytes == 256 * 88);
    device.Must(adrt_plan_with_cap(plan, 100 * 88, &device.error));
    CHECK(PlanReport(plan).heap_bytes == 96 * 88);
    CHECK(adrt_plan_with_cap(plan, 31 * 88, &device.error) == ADRT_ERROR_HEAP_TOO_SMALL);
    CHECK(device.error.needed_bytes == 32 * 88);
    CHECK(PlanReport(plan).heap_bytes == 96 * 88);
    device.Must(adrt_run(plan, nullptr, &device.error));
    tape.Check(device);
  }
  SECTION("scratch counts") {
    Mean mean(device);
    CHECK(adrt_plan_with_cap(mean.plan, 255, &device.error) == ADRT_ERROR_HEAP_TOO_SMALL);
    CHECK(device.error.needed_bytes == 256);
    device.Must(adrt_plan_with_cap(mean.plan, 256, &device.error));
    CHECK(device.Plan("mean", mean.Args(), &plan, 0, 255) == ADRT_ERROR_HEAP_TOO_SMALL);
    CHECK(device.error.needed_bytes == 256);
    device.Must(device.Plan("mean", mean.Args(), &plan, 0, 256));
  }
  SECTION("what it does not settle is said, and nothing changes") {
    adrt_status status = ADRT_OK;
    std::vector<int32_t> x = {3, -1, 5, 0, 7};
    adrt_memory *x_memory = device.Upload(x, &status),
                *count = device.Upload(std::vector<int32_t>(1), &status), *out = device.Upload(x, &status);
    device.Must(device.Plan("compact",
                            {BufferArg("x", ADRT_TYPE_I32, adrt_memory_data(x_memory), {5}),
                             BufferArg("count", ADRT_TYPE_I32, adrt_memory_data(count), {}),
                             BufferArg("out", ADRT_TYPE_I32, adrt_memory_data(out), {5})},
                            &plan));
    // Its iterations are what the kernel computes: a cap leaves them to adrt_run, which it lets do so.
    device.Must(adrt_plan_with_cap(plan, 1 << 20, &device.error));
    CHECK(PlanReport(plan).resolved == 0);
    device.Must(adrt_run(plan, nullptr, &device.error));
    device.Must(device.Download(out, &x));
    CHECK(x == std::vector<int32_t>{6, 10, 14, 0, 7});
  }
  CHECK(fake.broken.empty());
}

TEST_CASE("what an overflow would have taken is stated in bytes", "[loader][state]") {
  Session session(2);
  std::vector<uint32_t> x = {1, 6, 27, 97};
  Plan plan(session, "collatz", {BufferArg("x", ADRT_TYPE_U32, x.data(), {4})});
  REQUIRE(adrt_plan_with_cap(plan.plan, 512, &plan.error) == ADRT_OK);
  uint64_t cap = 512;
  int rounds = 0;
  for (adrt_status status = plan.Run(); status != ADRT_OK && rounds < 100; ++rounds) {
    REQUIRE(status == ADRT_ERROR_ADSTACK_OVERFLOW);
    REQUIRE(plan.error.needed_bytes > cap);
    cap = plan.error.needed_bytes;
    CHECK(plan.error.Says("a cap of at least "));
    REQUIRE(adrt_plan_with_cap(plan.plan, cap, &plan.error) == ADRT_OK);
    x = {1, 6, 27, 97};
    status = plan.Run();
  }
  CHECK(x == std::vector<uint32_t>{0, 8, 111, 118});
  CHECK(cap == 2 * 512);

  // What lies in the data: the heap that the launch would have taken.
  std::vector<int32_t> start = {0, 1, 6};
  std::vector<float> values(80, 1.0f), y(2);
  std::vector<adrt_arg> args = {BufferArg("start", ADRT_TYPE_I32, start.data(), {3}),
                                BufferArg("x", ADRT_TYPE_F32, values.data(), {80}),
                                BufferArg("y", ADRT_TYPE_F32, y.data(), {2})};
  args[0].content_version = 1;
  Plan rows(session, "rows", args);
  REQUIRE(rows.Run() == ADRT_OK);
  start = {0, 1, 78};
  REQUIRE(rows.Run() == ADRT_ERROR_ADSTACK_OVERFLOW);
  uint64_t needed = rows.error.needed_bytes;
  REQUIRE(rows.Run() == ADRT_OK);
  CHECK(rows.Info().heap_bytes == needed);
  CHECK(needed == 2 * 320);
}

TEST_CASE("a parallel's iterations that are not those of its launch are an error", "[loader][state]") {
  Session session(2, MakeBundle(CompactedMetadata(), ReadImage()));
  std::vector<int32_t> x = {1}, out(100, 1);
  int32_t count = 100;
  adrt_arg arg = BufferArg("count", ADRT_TYPE_I32, &count, {});
  arg.content_version = 1;
  Plan plan(session, "compact",
            {BufferArg("x", ADRT_TYPE_I32, x.data(), {1}), arg,
             BufferArg("out", ADRT_TYPE_I32, out.data(), {100})});
  REQUIRE(plan.Run() == ADRT_OK);
  CHECK(out == std::vector<int32_t>(100, 2));
  for (int32_t now : {10, 90, 0, 77}) {
    count = now;
    CHECK(plan.Run() == ADRT_ERROR_ADSTACK_OVERFLOW);
    INFO(plan.error.text);
    CHECK(plan.error.Says("kernel 'compact', task 0 (fixture.ir:12:3)"));
    CHECK(plan.error.Says(("bounds come to " + std::to_string(now) + " now").c_str()));
    CHECK(plan.error.Says("the content of 'count': give it another content_version"));
    std::vector<int32_t> before = out;
    // The next launch looks.
    REQUIRE(plan.Run() == ADRT_OK);
    for (size_t i = 0; i < before.size(); ++i) before[i] *= i < static_cast<size_t>(now) ? 2 : 1;
    CHECK(out == before);
  }
}

TEST_CASE("no iteration at all is launched all the same where its number may have grown", "[loader][state]") {
  FakeCuda fake;
  StreamSession device;
  device.Must(Load(device, fake, MakeCudaBundleOf(CompactedMetadata())));
  adrt_status status = ADRT_OK;
  std::vector<int32_t> count = {0};
  adrt_memory *x = device.Upload(std::vector<int32_t>{1}, &status),
              *out = device.Upload(std::vector<int32_t>(9, 1), &status),
              *bound = device.Upload(count, &status);
  adrt_arg arg = BufferArg("count", ADRT_TYPE_I32, adrt_memory_data(bound), {});
  arg.content_version = 1;
  adrt_launch_plan* plan = nullptr;
  device.Must(device.Plan("compact",
                          {BufferArg("x", ADRT_TYPE_I32, adrt_memory_data(x), {1}), arg,
                           BufferArg("out", ADRT_TYPE_I32, adrt_memory_data(out), {9})},
                          &plan));
  auto read = [&] {
    std::vector<int32_t> values(9);
    device.Must(device.Download(out, &values));
    return values;
  };
  device.Must(adrt_run(plan, nullptr, &device.error));
  CHECK(read() == std::vector<int32_t>(9, 1));
  count[0] = 5;
  device.Must(adrt_memory_write(bound, 0, count.data(), sizeof(int32_t), &device.error));
  CHECK(adrt_run(plan, nullptr, &device.error) == ADRT_ERROR_ADSTACK_OVERFLOW);
  INFO(device.error.text);
  CHECK(
      device.error.Says("kernel 'compact', task 0 (fixture.ir:12:3): the launch was made for 0 iterations"));
  CHECK(device.error.Says("bounds come to 5 now"));
  CHECK(read() == std::vector<int32_t>(9, 1));
  // The next launch reads.
  device.Must(adrt_run(plan, nullptr, &device.error));
  CHECK(read() == std::vector<int32_t>{2, 2, 2, 2, 2, 1, 1, 1, 1});
  CHECK(fake.broken.empty());
}

TEST_CASE("the first report of launches that follow each other stands", "[loader][state]") {
  FakeCuda fake;
  StreamSession device;
  device.Must(Load(device, fake, MakeCudaBundle()));
  adrt_status status = ADRT_OK;
  std::vector<float> x(6, 1.0f), m(4, 1.0f);
  adrt_memory* memory = device.Upload(x, &status);
  adrt_memory* block = device.Upload(std::vector<uint32_t>(16), &status);
  int8_t k = -3, flag = 1;
  uint16_t u = 1;
  uint32_t code = 2;
  adrt_arg matrix = ScalarArg("m", ADRT_TYPE_F32, m.data());
  matrix.rows = matrix.columns = 2;
  adrt_arg arg_k = ScalarArg("k", ADRT_TYPE_I8, &k), arg_flag = ScalarArg("flag", ADRT_TYPE_I1, &flag);
  std::vector<adrt_arg> args = {BufferArg("x", ADRT_TYPE_F32, adrt_memory_data(memory), {2, 3}),
                                matrix,
                                arg_k,
                                ScalarArg("u", ADRT_TYPE_U16, &u),
                                arg_flag,
                                ScalarArg("code", ADRT_TYPE_U32, &code)};
  adrt_launch_plan* plan = nullptr;
  device.Must(device.Plan("check", args, &plan));
  auto record = [&] {
    device.Must(adrt_record_cuda(plan, nullptr, nullptr, 0, DataOf(block), &device.error));
  };
  auto read = [&] {
    std::vector<uint32_t> words(16);
    device.Must(device.Download(block, &words));
    return adrt_status_read(plan, words.data(), &device.error);
  };
  for (bool chained : {false, true}) {
    k = -3;
    flag = 1;
    adrt_arg both[] = {arg_k, arg_flag};
    device.Must(adrt_plan_update(plan, both, 2, &device.error));
    device.Must(adrt_plan_chain_status(plan, 0, &device.error));
    record();
    device.Must(adrt_plan_chain_status(plan, chained, &device.error));
    k = -4;
    device.Must(adrt_plan_update(plan, both, 2, &device.error));
    record();
    flag = 0;
    device.Must(adrt_plan_update(plan, both, 2, &device.error));
    record();
    CHECK(read() == (chained ? ADRT_ERROR_ASSERTION : ADRT_OK));
    if (chained) CHECK(device.error.Says("iteration 3"));
  }
  // adrt_run launches repeatedly under one block as well.
  flag = 1;
  device.Must(adrt_plan_update(plan, &arg_flag, 1, &device.error));
  adrt_run_desc run = RunDesc();
  run.repeat = 3;
  CHECK(adrt_run(plan, &run, &device.error) == ADRT_ERROR_ASSERTION);
}

TEST_CASE("counts that must be there and are not are asked for", "[loader][state]") {
  FakeCuda fake;
  StreamSession device;
  device.Must(Load(device, fake, MakeCudaBundle()));
  adrt_status status = ADRT_OK;
  adrt_memory* x = device.Upload(std::vector<uint32_t>(300, 3), &status);
  adrt_launch_plan* plan = nullptr;
  device.Must(device.Plan("counted", {BufferArg("x", ADRT_TYPE_U32, adrt_memory_data(x), {300})}, &plan));
  CHECK(adrt_plan_resolve(plan, nullptr, 0, &device.error) == ADRT_ERROR_ARGUMENT);
  CHECK(device.error.Says("takes 16 bytes with what must be counted, given 0"));
  CHECK(PlanReport(plan).resolved == 0);
}

// The thread sanitizer lets no child of a program with threads have threads of its own.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
constexpr bool kThreadSanitizer = true;
#else
constexpr bool kThreadSanitizer = false;
#endif
#else
constexpr bool kThreadSanitizer = false;
#endif

TEST_CASE("a pool's device says in a forked child that it has no threads, and goes", "[loader][state]") {
  Session session(3);
  std::vector<double> x(100, 0.5), y(100, -1);
  int32_t n = 4;
  Plan plan(session, "tape",
            {BufferArg("x", ADRT_TYPE_F64, x.data(), {100}), BufferArg("y", ADRT_TYPE_F64, y.data(), {100}),
             ScalarArg("n", ADRT_TYPE_I32, &n)});
  REQUIRE(plan.Run() == ADRT_OK);
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(20);  // a child that hangs is killed
    bool refused = plan.Run() == ADRT_ERROR_DRIVER && plan.error.Says("process that forked");
    adrt_device* own = nullptr;
    bool opens = kThreadSanitizer || adrt_device_open_cpu(nullptr, 2, &own, nullptr) == ADRT_OK;
    adrt_device_release(own);
    adrt_plan_release(plan.plan);
    adrt_module_release(session.module);
    adrt_device_release(session.device);
    _exit(refused && opens ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  REQUIRE(plan.Run() == ADRT_OK);
}

TEST_CASE("resolving counts what no version vouches for again, and what is open says nothing old",
          "[loader][state]") {
  Session session(1);
  std::vector<uint32_t> x = {3, 3}, other = {6, 6};
  adrt_arg arg = BufferArg("x", ADRT_TYPE_U32, x.data(), {2});
  Plan plan(session, "counted", {arg});
  REQUIRE(adrt_plan_resolve(plan.plan, nullptr, 0, &plan.error) == ADRT_OK);
  CHECK(plan.Stack(0, 0).capacity == 7);
  x = {27, 27};
  REQUIRE(adrt_plan_resolve(plan.plan, nullptr, 0, &plan.error) == ADRT_OK);
  CHECK(plan.Stack(0, 0).capacity == 111);
  CHECK(plan.Info().heap_bytes >= 111 * sizeof(uint32_t));
  arg.content_version = 1;
  REQUIRE(adrt_plan_update(plan.plan, &arg, 1, &plan.error) == ADRT_OK);
  auto is_blank = [&] {
    adrt_group_report group = {};
    group.struct_size = sizeof group;
    REQUIRE(adrt_plan_group(plan.plan, 0, 0, &group, &plan.error) == ADRT_OK);
    adrt_task_report task = plan.Task(0);
    CHECK(task.resolved == 0);
    CHECK((group.rows | group.row_bytes | task.rows | task.row_bytes | task.heap_bytes) == 0);
    CHECK(plan.Stack(0, 0).capacity == 0);
  };
  is_blank();
  REQUIRE(adrt_plan_resolve(plan.plan, nullptr, 0, &plan.error) == ADRT_OK);
  CHECK(plan.Stack(0, 0).capacity == 111);
  arg.data = other.data();
  REQUIRE(adrt_plan_update(plan.plan, &arg, 1, &plan.error) == ADRT_OK);
  is_blank();
}
