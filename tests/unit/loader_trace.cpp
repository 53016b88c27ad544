#include <adrt/adrt_cpu.h>

#include <cstdlib>

#include "session.h"

// What a host is told of the memory of launches: the figures of each task, where they come from, what grows.

using namespace fixture;

namespace {

/// A host that is told, counts what is taken of it, and may refuse large blocks.
struct TracedHost : adrt_host {
  HeapTraces traces;
  long calls = 0;
  size_t limit = SIZE_MAX;

  TracedHost() : adrt_host(TrustingHost()) {
    user = this;
    trace_heap = [](void* own, const adrt_heap_trace* told) {
      static_cast<TracedHost*>(own)->traces.Take(*told);
    };
    allocate = [](void* own, size_t size, size_t alignment) -> void* {
      auto* host = static_cast<TracedHost*>(own);
      ++host->calls;
      if (size > host->limit) return nullptr;
      return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    };
    release = [](void*, void* memory, size_t, size_t) { std::free(memory); };
  }
};

/// The arguments of the kernel tape: a row of n f64 and n i32.
struct Tape {
  std::vector<double> x = std::vector<double>(10, 0.5), y = std::vector<double>(10);
  int32_t n;
  explicit Tape(int32_t steps) : n(steps) {}
  std::vector<adrt_arg> Args() {
    return {BufferArg("x", ADRT_TYPE_F64, x.data(), {10}), BufferArg("y", ADRT_TYPE_F64, y.data(), {10}),
            ScalarArg("n", ADRT_TYPE_I32, &n)};
  }
};

/// The fixture, whose kernel `counted` only reads what decides about its stack.
std::vector<uint8_t> BundleThatReads() {
  adc::artifact::Metadata metadata = MakeMetadata();
  for (adc::artifact::KernelMeta& kernel : metadata.kernels) {
    if (kernel.name == "counted") kernel.params[0].access = adc::artifact::Access::kRead;
  }
  FinishMetadata(&metadata);
  return MakeBundle(metadata, ReadImage());
}

}  // namespace

TEST_CASE("a host is told of each task and of the launch, by formula and then from what is kept",
          "[loader][trace]") {
  TracedHost host;
  Session session(4, MakeBundle(), host);
  Tape tape(100);
  std::vector<adrt_arg> args = tape.Args();
  Plan plan(session, "tape", args);
  REQUIRE(plan.status == ADRT_OK);
  CHECK(host.traces.told.empty());  // a plan is no launch
  REQUIRE(plan.Run() == ADRT_OK);
  std::vector<adrt_heap_trace> told = host.traces.Next(2);
  CHECK(told[0].task == 0);
  CHECK(told[0].source == ADRT_SIZES_FORMULA);
  CHECK(told[0].status == ADRT_OK);
  CHECK(told[0].rows == 4);
  CHECK(told[0].row_bytes == 1216);  // 100 f64 and 100 i32, in 64-byte lines
  CHECK(told[0].heap_bytes == 4 * 1216);
  CHECK(told[0].threads == 4);
  CHECK(told[0].wanted_threads == 4);
  CHECK(told[0].held == 0);
  CHECK(std::string(told[0].kernel) == "tape");
  CHECK(std::string(told[0].place) == "fixture.ir:2:3");
  CHECK(told[1].task == ADRT_TRACE_LAUNCH);
  CHECK(told[1].status == ADRT_OK);
  CHECK(told[1].heap_bytes == 4 * 1216);
  CHECK(told[1].budget == 0);
  CHECK(told[1].held_before == 0);
  CHECK(told[1].held == 4 * 1216);
  CHECK(std::string(told[1].target).substr(0, 4) == "cpu:");
  CHECK(std::string(told[1].place) == "fixture.ir:1:1");
  REQUIRE(plan.Run() == ADRT_OK);
  CHECK(host.traces.Next(2)[0].source == ADRT_SIZES_CACHED);
  // A number on which sizes depend, then another memory of the same shape.
  tape.n = 50;
  REQUIRE(adrt_plan_update(plan.plan, &args[2], 1, &plan.error) == ADRT_OK);
  REQUIRE(plan.Run() == ADRT_OK);
  told = host.traces.Next(2);
  CHECK(told[0].source == ADRT_SIZES_FORMULA);
  CHECK(told[0].row_bytes == 640);
  std::vector<double> other(10, 0.25);
  args[0].data = other.data();
  REQUIRE(adrt_plan_update(plan.plan, args.data(), 1, &plan.error) == ADRT_OK);
  REQUIRE(plan.Run() == ADRT_OK);
  CHECK(host.traces.Next(2)[0].source == ADRT_SIZES_CACHED);
}

TEST_CASE("a host is told how the heap grows, and that it is refused", "[loader][trace]") {
  TracedHost host;
  Session session(1, MakeBundle(), host);
  adrt_heap* heap = nullptr;
  session.Must(adrt_heap_create(&host, &heap, &session.error));
  auto launch = [&](int32_t n) {
    Tape tape(n);
    Plan plan(session, "tape", tape.Args());
    adrt_run_desc run = RunDesc();
    run.heap = heap;
    adrt_status status = plan.Run(&run);
    std::vector<adrt_heap_trace> told = host.traces.Next(2);
    CHECK(told[0].task == 0);
    CHECK(told[0].status == ADRT_OK);
    CHECK(told[1].task == ADRT_TRACE_LAUNCH);
    CHECK(told[1].status == status);
    return told[1];
  };
  struct Step {
    int32_t n;
    uint64_t needed, before, held;
  };
  for (const Step& step : {Step{100, 1216, 0, 1216}, {50, 640, 1216, 1216}, {110, 1344, 1216, 2432}}) {
    adrt_heap_trace told = launch(step.n);
    CHECK(told.heap_bytes == step.needed);
    CHECK(told.held_before == step.before);
    CHECK(told.held == step.held);
  }
  host.limit = 10000;
  adrt_heap_trace told = launch(1000);
  CHECK(told.status == ADRT_ERROR_OUT_OF_HOST_MEMORY);
  CHECK(told.heap_bytes == 12032);
  CHECK(told.held_before == 2432);
  CHECK(told.held == 0);
  // The caller's memory is what it is.
  host.limit = SIZE_MAX;
  Tape tape(100);
  Plan plan(session, "tape", tape.Args());
  alignas(64) static unsigned char memory[4096];
  adrt_run_desc run = RunDesc();
  run.memory = memory;
  run.memory_size = sizeof memory;
  REQUIRE(plan.Run(&run) == ADRT_OK);
  told = host.traces.Next(2)[1];
  CHECK(told.heap_bytes == 1216);
  CHECK(told.held_before == 4096);
  CHECK(told.held == 4096);
  long calls = host.calls;
  REQUIRE(plan.Run(&run) == ADRT_OK);
  CHECK(host.calls == calls);  // telling takes no memory
  adrt_heap_release(heap);
}

TEST_CASE("a host is told what a budget costs", "[loader][trace]") {
  TracedHost host;
  Session session(4, MakeBundle(), host);
  Tape tape(100);
  Plan plan(session, "tape", tape.Args(), 3000);
  REQUIRE(plan.Run() == ADRT_OK);
  std::vector<adrt_heap_trace> told = host.traces.Next(2);
  CHECK(told[0].threads == 2);
  CHECK(told[0].wanted_threads == 4);
  CHECK(told[0].rows == 2);
  CHECK(told[0].budget == 3000);
  CHECK(told[1].budget == 3000);
  CHECK(told[1].heap_bytes == 2432);
  // Where sizes are read, the launch is what is refused: the row that does not fit is told, and the launch.
  std::vector<int32_t> start = {0, 1, 2, 900};
  std::vector<float> x(900, 1.0f), y(3);
  Plan rows(session, "rows",
            {BufferArg("start", ADRT_TYPE_I32, start.data(), {4}),
             BufferArg("x", ADRT_TYPE_F32, x.data(), {900}), BufferArg("y", ADRT_TYPE_F32, y.data(), {3})},
            3000);
  REQUIRE(rows.status == ADRT_OK);
  CHECK(rows.Run() == ADRT_ERROR_HEAP_TOO_SMALL);
  told = host.traces.Next(2);
  CHECK(told[0].source == ADRT_SIZES_OPEN);
  CHECK(told[0].status == ADRT_ERROR_HEAP_TOO_SMALL);
  CHECK(told[0].row_bytes == 3648);  // 898 f32
  CHECK(told[1].task == ADRT_TRACE_LAUNCH);
  CHECK(told[1].status == ADRT_ERROR_HEAP_TOO_SMALL);
  // They are read for every launch, as the buffer has no version.
  start[3] = 300;
  for (int turn = 0; turn < 2; ++turn) {
    REQUIRE(rows.Run() == ADRT_OK);
    told = host.traces.Next(2);
    CHECK(told[0].source == ADRT_SIZES_FORMULA);
    CHECK(told[0].row_bytes == 1216);
    CHECK(told[0].threads == 2);
    CHECK(told[0].wanted_threads == 3);
  }
}

TEST_CASE("a host is told whether a kernel has counted for this launch", "[loader][trace]") {
  TracedHost host;
  Session session(2, BundleThatReads(), host);
  std::vector<uint32_t> x;
  adrt_arg arg = BufferArg("x", ADRT_TYPE_U32, nullptr, {300});
  auto fill = [&](uint32_t longest) {
    x.assign(300, 1);
    x[7] = longest;
    arg.data = x.data();
  };
  fill(27);
  arg.content_version = 1;
  Plan plan(session, "counted", {arg});
  auto launch = [&](uint32_t longest) {
    fill(longest);  // the kernel leaves its steps there
    INFO(plan.error.text);
    REQUIRE(plan.Run() == ADRT_OK);
    adrt_heap_trace told = host.traces.Next(2)[0];
    CHECK(told.row_bytes == (longest == 27 ? 448 : 512));  // 111 and 118 steps of 4 bytes
    CHECK(told.rows == 2);
    return told.source;
  };
  CHECK(launch(27) == ADRT_SIZES_COUNTED);
  CHECK(launch(27) == ADRT_SIZES_CACHED);
  REQUIRE(adrt_plan_update(plan.plan, &arg, 1, &plan.error) == ADRT_OK);
  CHECK(launch(27) == ADRT_SIZES_CACHED);
  arg.content_version = 2;
  REQUIRE(adrt_plan_update(plan.plan, &arg, 1, &plan.error) == ADRT_OK);
  CHECK(launch(97) == ADRT_SIZES_COUNTED);
  CHECK(launch(97) == ADRT_SIZES_CACHED);
  // Nobody says what the buffer holds.
  arg.content_version = 0;
  REQUIRE(adrt_plan_update(plan.plan, &arg, 1, &plan.error) == ADRT_OK);
  CHECK(launch(97) == ADRT_SIZES_COUNTED);
  CHECK(launch(97) == ADRT_SIZES_COUNTED);
  // A cap takes the place of counting.
  fill(27);
  REQUIRE(adrt_plan_with_cap(plan.plan, 4096, &plan.error) == ADRT_OK);
  for (int turn = 0; turn < 2; ++turn) {
    fill(27);
    REQUIRE(plan.Run() == ADRT_OK);
    adrt_heap_trace told = host.traces.Next(2)[0];
    CHECK(told.source == ADRT_SIZES_CAPPED);
    CHECK(told.budget == 4096);
    CHECK(told.heap_bytes <= 4096);
  }
}

TEST_CASE("a host is told of a task that is sized at its turn behind the launch", "[loader][trace]") {
  TracedHost host;
  Session session(4, MakeBundle(), host);
  std::vector<int32_t> x, out(1000, -1);
  for (int32_t index = 0; index < 1000; ++index) x.push_back(index % 3 == 0 ? index : -index);
  int32_t count = 0;
  Plan plan(session, "compact",
            {BufferArg("x", ADRT_TYPE_I32, x.data(), {1000}), BufferArg("count", ADRT_TYPE_I32, &count, {}),
             BufferArg("out", ADRT_TYPE_I32, out.data(), {1000})});
  uint64_t before = 0;
  for (int turn = 0; turn < 2; ++turn) {
    REQUIRE(plan.Run() == ADRT_OK);
    std::vector<adrt_heap_trace> told = host.traces.Next(3);
    CHECK(told[0].task == 0);
    CHECK(told[0].rows == 0);
    CHECK(told[1].task == ADRT_TRACE_LAUNCH);
    CHECK(told[1].heap_bytes == 0);
    CHECK(told[2].task == 1);
    CHECK(told[2].source == ADRT_SIZES_FORMULA);
    CHECK(told[2].rows == 4);
    CHECK(told[2].row_bytes == 1344);  // 333 i32
    CHECK(told[2].heap_bytes == 4 * 1344);
    CHECK(told[2].held_before == before);
    CHECK(told[2].held == 4 * 1344);
    before = told[2].held;
  }
}

TEST_CASE("a host is told of a recorded launch when it is recorded", "[loader][trace]") {
  TracedHost host;
  Session session(2, MakeBundle(), host);
  Tape tape(100);
  Plan plan(session, "tape", tape.Args());
  adrt_cpu_record* record = nullptr;
  session.Must(adrt_cpu_record_create(session.device, &record, &session.error));
  alignas(64) static unsigned char heap[4096];
  alignas(64) uint32_t status[ADRT_STATUS_BYTES / 4] = {};
  for (uint32_t source : {ADRT_SIZES_FORMULA, ADRT_SIZES_CACHED}) {
    session.Must(adrt_record_cpu(plan.plan, record, heap, sizeof heap, status, &session.error));
    std::vector<adrt_heap_trace> told = host.traces.Next(2);
    CHECK(told[0].source == source);
    CHECK(told[0].heap_bytes == 2432);
    CHECK(told[1].heap_bytes == 2432);
    CHECK(told[1].held_before == sizeof heap);
    CHECK(told[1].held == sizeof heap);
  }
  session.Must(adrt_cpu_record_run(record, nullptr, &session.error));
  CHECK(host.traces.told.empty());
  CHECK(adrt_record_cpu(plan.plan, record, heap, 64, status, &session.error) == ADRT_ERROR_HEAP_TOO_SMALL);
  CHECK(host.traces.told.empty());  // nothing was recorded
  adrt_cpu_record_release(record);
}
