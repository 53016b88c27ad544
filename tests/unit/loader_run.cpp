#include <algorithm>
#include <cmath>
#include <thread>

#include "artifact/cpu_abi.h"
#include "session.h"

using namespace fixture;

namespace {

double Expected(double x, int32_t n) {
  double sum = 0;
  for (int32_t t = 0; t < n; ++t) sum += t * std::pow(x, t);
  return sum;
}

// check: reports `code` at iteration -k of a 2 x 3 buffer.
struct Check {
  float x[6] = {1, 1, 1, 1, 1, 1}, m[4] = {1, 2, 3, 4};
  int8_t k = -5;
  uint16_t u = 65535;
  uint8_t flag = 1;
  uint32_t code = 0;
  std::vector<adrt_arg> Args() {
    std::vector<adrt_arg> args = {
        BufferArg("x", ADRT_TYPE_F32, x, {2, 3}), ScalarArg("m", ADRT_TYPE_F32, m),
        ScalarArg("k", ADRT_TYPE_I8, &k),         ScalarArg("u", ADRT_TYPE_U16, &u),
        ScalarArg("flag", ADRT_TYPE_I1, &flag),   ScalarArg("code", ADRT_TYPE_U32, &code)};
    args[1].rows = args[1].columns = 2;
    return args;
  }
};

}  // namespace

TEST_CASE("every number of workers computes the same", "[loader]") {
  for (uint32_t workers : {1u, 2u, 3u, 8u}) {
    Session session(workers);
    std::vector<double> x(997), y(997);
    for (size_t index = 0; index < x.size(); ++index) x[index] = 0.001 * static_cast<double>(index);
    int32_t n = 20;
    Plan plan(session, "tape",
              {BufferArg("x", ADRT_TYPE_F64, x.data(), {997}), BufferArg("y", ADRT_TYPE_F64, y.data(), {997}),
               ScalarArg("n", ADRT_TYPE_I32, &n)});
    for (int round = 0; round < 20; ++round) {
      std::fill(y.begin(), y.end(), -1.0);
      INFO(plan.error.text);
      REQUIRE(plan.Run() == ADRT_OK);
      for (size_t index = 0; index < x.size(); ++index) REQUIRE(y[index] == Approx(Expected(x[index], n)));
    }
  }
}

TEST_CASE("the caller's job system may run jobs in any order, on any thread, or one by one", "[loader]") {
  using Order = void (*)(void*, uint32_t, void (*)(void*, uint32_t), void*);
  const Order backwards = [](void* user, uint32_t count, void (*job)(void*, uint32_t), void* context) {
    ++*static_cast<int*>(user);
    while (count-- > 0) job(context, count);
  };
  const Order threads = [](void* user, uint32_t count, void (*job)(void*, uint32_t), void* context) {
    ++*static_cast<int*>(user);
    std::vector<std::thread> started;
    for (uint32_t index = 0; index < count; ++index) started.emplace_back(job, context, index);
    for (std::thread& thread : started) thread.join();
  };
  for (Order order : {backwards, threads}) {
    int calls = 0;
    adrt_cpu_jobs jobs = {};
    jobs.struct_size = sizeof jobs;
    jobs.worker_count = 5;
    jobs.user = &calls;
    jobs.parallel_for = order;
    Session session;
    ErrorBox error;
    adrt_device* device = nullptr;
    adrt_module* module = nullptr;
    adrt_host host = TrustingHost();
    REQUIRE(adrt_device_wrap_cpu(&host, &jobs, &device, &error) == ADRT_OK);
    REQUIRE(adrt_module_load(device, session.bundle, &module, &error) == ADRT_OK);
    std::swap(module, session.module);
    std::vector<float> x(100, 2.0f), y(100, 1.0f);
    float a = 3;
    {
      Plan plan(session, "saxpy",
                {BufferArg("x", ADRT_TYPE_F32, x.data(), {100}),
                 BufferArg("y", ADRT_TYPE_F32, y.data(), {100}), ScalarArg("a", ADRT_TYPE_F32, &a)});
      CHECK(plan.Info().workers == 5);
      REQUIRE(plan.Run() == ADRT_OK);
    }
    CHECK(y == std::vector<float>(100, 7.0f));
    CHECK(calls == 1);
    adrt_module_release(module);
    adrt_device_release(device);
    CHECK(adrt_device_wrap_cpu(nullptr, &jobs, &device, &error) == ADRT_OK);
    adrt_device_release(device);
    jobs.worker_count = 0;
    CHECK(adrt_device_wrap_cpu(nullptr, &jobs, &device, &error) == ADRT_ERROR_ARGUMENT);
  }
}

TEST_CASE("tasks follow each other, and scratch begins as zero at every launch", "[loader]") {
  Session session(3);
  std::vector<float> x(300), y(300);
  for (size_t index = 0; index < x.size(); ++index) x[index] = static_cast<float>(index);
  Plan plan(session, "mean",
            {BufferArg("x", ADRT_TYPE_F32, x.data(), {300}), BufferArg("y", ADRT_TYPE_F32, y.data(), {300})});
  CHECK(plan.Info().scratch_bytes == 64);
  CHECK(plan.Info().heap_bytes == 64);
  alignas(64) unsigned char memory[64];
  adrt_run_desc run = RunDesc();
  run.memory = memory;
  run.memory_size = sizeof memory;
  for (int round = 0; round < 3; ++round) {
    std::memset(memory, 0xFF, sizeof memory);
    REQUIRE(plan.Run(&run) == ADRT_OK);
    CHECK(y[0] == -149.5f);
    CHECK(y[299] == 149.5f);
  }
}

TEST_CASE("a launch takes as many workers as its work is worth, or as many as are asked for", "[loader]") {
  constexpr uint32_t kWorkers = 5;
  struct Asked {
    uint32_t calls = 0, jobs = 0;
  } asked;
  adrt_cpu_jobs jobs = {};
  jobs.struct_size = sizeof jobs;
  jobs.worker_count = kWorkers;
  jobs.user = &asked;
  jobs.parallel_for = [](void* user, uint32_t count, void (*job)(void*, uint32_t), void* context) {
    auto& own = *static_cast<Asked*>(user);
    ++own.calls;
    own.jobs = count;
    for (uint32_t index = 0; index < count; ++index) job(context, index);
  };
  adc::artifact::Metadata metadata = MakeMetadata();
  for (adc::artifact::KernelMeta& kernel : metadata.kernels) {
    if (kernel.name == "saxpy") kernel.tasks[0].entries[0].block_size = 5000;
  }
  Session session(1, MakeBundle(metadata, ReadImage()));
  adrt_host host = TrustingHost();
  adrt_module_release(session.module);
  adrt_device_release(session.device);
  session.module = nullptr;
  REQUIRE(adrt_device_wrap_cpu(&host, &jobs, &session.device, &session.error) == ADRT_OK);
  REQUIRE(adrt_module_load(session.device, session.bundle, &session.module, &session.error) == ADRT_OK);
  // Jobs that a launch has, and whether the plan says so; 1: the caller alone.
  auto jobs_of = [&](const char* kernel, int64_t count) {
    std::vector<float> x(static_cast<size_t>(count), 1.0f), y(static_cast<size_t>(count), 0.0f);
    std::vector<double> wide_x(x.begin(), x.end()), wide_y(y.begin(), y.end());
    float a = 2;
    int32_t n = 1;
    bool is_saxpy = std::string(kernel) == "saxpy";
    std::vector<adrt_arg> args;
    if (is_saxpy) {
      args = {BufferArg("x", ADRT_TYPE_F32, x.data(), {count}),
              BufferArg("y", ADRT_TYPE_F32, y.data(), {count}), ScalarArg("a", ADRT_TYPE_F32, &a)};
    } else {
      args = {BufferArg("x", ADRT_TYPE_F64, wide_x.data(), {count}),
              BufferArg("y", ADRT_TYPE_F64, wide_y.data(), {count}), ScalarArg("n", ADRT_TYPE_I32, &n)};
    }
    Plan plan(session, kernel, args);
    asked = {};
    REQUIRE(plan.Run() == ADRT_OK);
    if (is_saxpy) CHECK(y == std::vector<float>(static_cast<size_t>(count), 2.0f));
    CHECK(asked.calls <= 1);
    uint32_t taken = asked.calls == 0 ? 1 : asked.jobs;
    CHECK(taken == std::min<uint64_t>(plan.Task(0).chunks, kWorkers));
    // A row for each worker all the same.
    CHECK(plan.Task(0).threads == kWorkers);
    return taken;
  };
  CHECK(jobs_of("saxpy", 100) == 1);
  CHECK(jobs_of("saxpy", 4096) == 1);
  uint32_t some = jobs_of("saxpy", 16384);
  CHECK(some > 1);
  CHECK(some < kWorkers);
  CHECK(jobs_of("saxpy", 1 << 20) == kWorkers);
  // Data decide how long an iteration runs.
  CHECK(jobs_of("tape", 100) == kWorkers);
  session.workers = kWorkers;
  CHECK(jobs_of("saxpy", 100) == kWorkers);
}

TEST_CASE("a task's sizes may depend on what an earlier task wrote", "[loader]") {
  Session session(4);
  std::vector<int32_t> x, out(1000, -1);
  for (int32_t index = 0; index < 1000; ++index) x.push_back(index % 3 == 0 ? index : -index);
  int32_t count = 12345678;  // stale: sizes must come from what the launch itself writes
  Plan plan(session, "compact",
            {BufferArg("x", ADRT_TYPE_I32, x.data(), {1000}), BufferArg("count", ADRT_TYPE_I32, &count, {}),
             BufferArg("out", ADRT_TYPE_I32, out.data(), {1000})});
  REQUIRE(plan.status == ADRT_OK);
  CHECK(plan.Task(1).resolved == 0);
  CHECK(plan.Info().resolved == 0);
  INFO(plan.error.text);
  REQUIRE(plan.Run() == ADRT_OK);
  CHECK(count == 333);
  CHECK(out[0] == 2 * 3);
  CHECK(out[332] == 2 * 999);
  CHECK(out[333] == -1);
  CHECK(plan.Task(1).iterations == 333);
  CHECK(plan.Stack(1, 0).capacity == 333);
  std::fill(x.begin(), x.end(), -1);
  REQUIRE(plan.Run() == ADRT_OK);
  CHECK(count == 0);
  CHECK(plan.Task(1).iterations == 0);
}

TEST_CASE("every report of a kernel reaches the caller with its place", "[loader]") {
  Session session(2);
  struct Row {
    uint32_t code;
    adrt_status status;
    std::vector<const char*> says;
  };
  for (const Row& row : {Row{ADRT_CPU_ASSERTION,
                             ADRT_ERROR_ASSERTION,
                             {"fixture.ir:4:5", "%k is where it should be", "iteration 5"}},
                         Row{ADRT_CPU_INDEX_OUT_OF_BOUNDS,
                             ADRT_ERROR_INDEX_OUT_OF_BOUNDS,
                             {"fixture.ir:8:5", "'x'", "iteration 5"}},
                         Row{ADRT_CPU_WRITE_PROMISE_BROKEN,
                             ADRT_ERROR_WRITE_PROMISE,
                             {"fixture.ir:8:5: x is not written as it is promised"}},
                         Row{ADRT_CPU_ADSTACK_OVERFLOW, ADRT_ERROR_ADSTACK_OVERFLOW, {"task 0"}},
                         Row{99, ADRT_ERROR_ARGUMENT, {"not a status block"}}}) {
    Check check;
    check.code = row.code;
    Plan plan(session, "check", check.Args());
    REQUIRE(plan.status == ADRT_OK);
    uint32_t status[16];
    std::memset(status, 0xFF, sizeof status);
    adrt_run_desc run = RunDesc();
    run.status = status;
    CHECK(plan.Run(&run) == row.status);
    INFO(plan.error.text);
    CHECK(plan.error.Says("'check'"));
    for (const char* part : row.says) CHECK(plan.error.Says(part));
    CHECK(status[0] == row.code);
    ErrorBox again;
    CHECK(adrt_status_read(plan.plan, status, &again) == row.status);
    CHECK(std::string(again.text) == plan.error.text);
    // The next launch is clean.
    check.flag = 0;
    Plan clean(session, "check", check.Args());
    CHECK(clean.Run(&run) == ADRT_OK);
    CHECK(status[0] == 0);
  }
}

TEST_CASE("an overflow is reported and the next launch is clean", "[loader]") {
  Session session(2);
  std::vector<int32_t> start = {0, 1, 2, 9};
  std::vector<float> x(9, 1.0f), y(3, -1.0f);
  std::vector<adrt_arg> args = {BufferArg("start", ADRT_TYPE_I32, start.data(), {4}),
                                BufferArg("x", ADRT_TYPE_F32, x.data(), {9}),
                                BufferArg("y", ADRT_TYPE_F32, y.data(), {3})};
  args[0].content_version = 1;
  start[3] = 3;
  Plan plan(session, "rows", args);
  REQUIRE(plan.Run() == ADRT_OK);
  start[3] = 9;  // the promise of an unchanged buffer is broken
  CHECK(plan.Run() == ADRT_ERROR_ADSTACK_OVERFLOW);
  CHECK(plan.error.Says("needed 7 elements and has 1"));
  CHECK(plan.error.Says("iteration 2"));
  CHECK(y[2] == 1);  // of the launch before: nothing was written past the row
  start[3] = 3;
  CHECK(plan.Run() == ADRT_OK);
}

TEST_CASE("by-value arguments arrive whole, whatever their type", "[loader]") {
  Session session;
  Check check;
  check.code = ADRT_CPU_ASSERTION;
  check.u = 0;
  check.x[5] = -10;  // the sum x + u + 1 + 2 + 3 + 4 is then 0, so that nothing is reported
  Plan quiet(session, "check", check.Args());
  CHECK(quiet.Run() == ADRT_OK);
  check.u = 1;
  Plan loud(session, "check", check.Args());
  CHECK(loud.Run() == ADRT_ERROR_ASSERTION);
  check.k = -128;  // no such iteration
  Plan far(session, "check", check.Args());
  CHECK(far.Run() == ADRT_OK);
}

TEST_CASE("a heap grows by doubling, or by what is needed where that is refused", "[loader]") {
  struct Arena {
    size_t limit = 0, largest = 0;
    long held = 0;
  } arena;
  adrt_host host = {};
  host.struct_size = sizeof host;
  host.user = &arena;
  host.allocate = [](void* user, size_t size, size_t alignment) -> void* {
    Arena& own = *static_cast<Arena*>(user);
    if (own.limit > 0 && size > own.limit) return nullptr;
    own.largest = std::max(own.largest, size);
    ++own.held;
    return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  };
  host.release = [](void* user, void* memory, size_t, size_t) {
    --static_cast<Arena*>(user)->held;
    std::free(memory);
  };
  adrt_heap* heap = nullptr;
  ErrorBox error;
  REQUIRE(adrt_heap_create(&host, &heap, &error) == ADRT_OK);
  Session session;
  auto run = [&](int32_t n) {
    std::vector<double> x(10, 0.5), y(10);
    Plan plan(session, "tape",
              {BufferArg("x", ADRT_TYPE_F64, x.data(), {10}), BufferArg("y", ADRT_TYPE_F64, y.data(), {10}),
               ScalarArg("n", ADRT_TYPE_I32, &n)});
    adrt_run_desc desc = RunDesc();
    desc.heap = heap;
    adrt_status status = plan.Run(&desc);
    error = plan.error;
    return status;
  };
  CHECK(run(100) == ADRT_OK);
  CHECK(adrt_heap_bytes(heap) == 1216);  // 100 f64 and 100 i32, in 64-byte lines
  CHECK(run(50) == ADRT_OK);
  CHECK(adrt_heap_bytes(heap) == 1216);
  CHECK(run(110) == ADRT_OK);
  CHECK(adrt_heap_bytes(heap) == 2432);
  arena.limit = 3000;
  CHECK(run(210) == ADRT_OK);
  CHECK(adrt_heap_bytes(heap) == 2560);
  CHECK(run(1000) == ADRT_ERROR_OUT_OF_HOST_MEMORY);
  CHECK(error.needed_bytes == 12032);
  arena.limit = 0;
  CHECK(run(1000) == ADRT_OK);
  adrt_heap_retain(heap);
  adrt_heap_release(heap);
  adrt_heap_release(heap);
  CHECK(arena.held == 0);
}

TEST_CASE("launches from several threads take turns on one pool", "[loader]") {
  Session session(3);
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, -1);
  for (size_t number = 0; number < wrong.size(); ++number) {
    threads.emplace_back([&, number] {
      std::vector<double> x(200, 0.25 * static_cast<double>(number + 1)), y(200);
      int32_t n = 12;
      adrt_arg args[] = {BufferArg("x", ADRT_TYPE_F64, x.data(), {200}),
                         BufferArg("y", ADRT_TYPE_F64, y.data(), {200}), ScalarArg("n", ADRT_TYPE_I32, &n)};
      adrt_plan_desc desc = {};
      desc.struct_size = sizeof desc;
      desc.args = args;
      desc.arg_count = 3;
      desc.module = session.module;
      const adrt_kernel* kernel = nullptr;
      wrong[number] = adrt_bundle_find_kernel(session.bundle, "tape", 0, &kernel, nullptr);
      for (int round = 0; round < 50; ++round) {
        adrt_launch_plan* plan = nullptr;
        wrong[number] += adrt_plan(kernel, &desc, &plan, nullptr) != ADRT_OK;
        wrong[number] += adrt_run(plan, nullptr, nullptr) != ADRT_OK;
        for (double value : y) wrong[number] += std::abs(value - Expected(x[0], n)) > 1e-9;
        adrt_plan_release(plan);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(4, 0));
}
