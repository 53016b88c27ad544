#include <adrt/adrt_cpu.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <thread>

#include "session.h"

using namespace fixture;

namespace {

struct Record {
  adrt_cpu_record* record = nullptr;
  ErrorBox error;

  explicit Record(Session& session) {
    REQUIRE(adrt_cpu_record_create(session.device, &record, &error) == ADRT_OK);
  }
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;
  ~Record() { adrt_cpu_record_release(record); }

  adrt_status Add(Plan& plan, void* heap, uint64_t bytes, void* status) {
    return adrt_record_cpu(plan.plan, record, heap, bytes, status, &error);
  }
  adrt_cpu_stage_report Stage(uint32_t stage) {
    adrt_cpu_stage_report report = {};
    report.struct_size = sizeof report;
    REQUIRE(adrt_cpu_record_stage(record, stage, &report, &error) == ADRT_OK);
    return report;
  }
  uint32_t Stages() const { return adrt_cpu_record_stages(record); }
  /// Stage after stage, chunks from the last to the first; each stage says once that it is done.
  void RunBackwards() {
    for (uint32_t stage = 0; stage < Stages(); ++stage) {
      uint32_t ends = 0;
      for (uint32_t chunk = Stage(stage).chunk_count; chunk-- > 0;) {
        uint32_t finished = 7;
        REQUIRE(adrt_cpu_run_chunk(record, stage, chunk, &finished, &error) == ADRT_OK);
        CHECK(finished == (chunk == 0 ? 1u : 0u));
        ends += finished;
      }
      CHECK(ends == 1);
    }
  }
  /// A thread for each chunk.
  void RunOnThreads() {
    for (uint32_t stage = 0; stage < Stages(); ++stage) {
      std::atomic<uint32_t> ends{0};
      std::vector<std::thread> threads;
      for (uint32_t chunk = 0; chunk < Stage(stage).chunk_count; ++chunk) {
        threads.emplace_back([&, chunk] {
          uint32_t finished = 0;
          if (adrt_cpu_run_chunk(record, stage, chunk, &finished, nullptr) == ADRT_OK) ends += finished;
        });
      }
      for (std::thread& thread : threads) thread.join();
      CHECK(ends == 1);
    }
  }
  bool Waits(uint32_t stage, uint32_t for_stage) {
    adrt_cpu_stage_report report = Stage(stage);
    return std::count(report.waits, report.waits + report.wait_count, for_stage) > 0;
  }
  /// The first stage of a launch; each has two here, one that clears and the task.
  uint32_t First(uint32_t launch) {
    for (uint32_t stage = 0; stage < Stages(); ++stage) {
      if (Stage(stage).launch == launch) return stage;
    }
    FAIL("no such launch");
    return 0;
  }
};

struct Heap {
  void* memory;
  uint64_t bytes;
  explicit Heap(uint64_t size) : memory(std::aligned_alloc(64, (size + 63) / 64 * 64 + 64)), bytes(size) {
    std::memset(memory, 0xEE, size);
  }
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;
  ~Heap() { std::free(memory); }
};

struct Block {
  alignas(64) uint32_t words[16];
  Block() { std::memset(words, 0xAB, sizeof words); }
};

std::vector<adrt_arg> Saxpy(float* x, float* y, int64_t n, float* a) {
  return {BufferArg("x", ADRT_TYPE_F32, x, {n}), BufferArg("y", ADRT_TYPE_F32, y, {n}),
          ScalarArg("a", ADRT_TYPE_F32, a)};
}

}  // namespace

TEST_CASE("recorded chunks in any order compute what adrt_run computes, round after round", "[loader]") {
  for (uint32_t workers : {1u, 2u, 5u}) {
    Session session(workers);
    std::vector<double> x(997), y(997), expected;
    for (size_t index = 0; index < x.size(); ++index) x[index] = 0.001 * static_cast<double>(index);
    int32_t n = 20;
    std::vector<adrt_arg> args = {BufferArg("x", ADRT_TYPE_F64, x.data(), {997}),
                                  BufferArg("y", ADRT_TYPE_F64, y.data(), {997}),
                                  ScalarArg("n", ADRT_TYPE_I32, &n)};
    Record record(session);
    Block block;
    Heap heap(1 << 16);
    {
      Plan plan(session, "tape", args);
      REQUIRE(plan.Run() == ADRT_OK);
      expected = y;
      REQUIRE(plan.Info().heap_bytes <= heap.bytes);
      REQUIRE(record.Add(plan, heap.memory, heap.bytes, block.words) == ADRT_OK);
    }
    // The plan is gone: a record has what it runs with.
    REQUIRE(record.Stages() == 2);
    CHECK(record.Stage(0).task == ADRT_CPU_NO_TASK);
    CHECK(record.Stage(1).task == 0);
    CHECK(record.Stage(1).iterations == 997);
    CHECK(std::string(record.Stage(1).kernel) == "tape");
    CHECK(record.Stage(1).chunk_count <= workers);
    CHECK((workers == 1 || record.Stage(1).chunk_count > 1));
    for (int round = 0; round < 6; ++round) {
      std::fill(y.begin(), y.end(), -1.0);
      round % 2 == 0 ? record.RunBackwards() : record.RunOnThreads();
      REQUIRE(y == expected);
      CHECK(block.words[0] == 0);
    }
    std::fill(y.begin(), y.end(), -1.0);
    REQUIRE(adrt_cpu_record_run(record.record, nullptr, &record.error) == ADRT_OK);
    CHECK(y == expected);
  }
}

TEST_CASE("tasks of a record follow each other, and scratch begins as zero in each round", "[loader]") {
  Session session(3);
  std::vector<float> x(300), y(300);
  for (size_t index = 0; index < x.size(); ++index) x[index] = static_cast<float>(index);
  Plan plan(session, "mean",
            {BufferArg("x", ADRT_TYPE_F32, x.data(), {300}), BufferArg("y", ADRT_TYPE_F32, y.data(), {300})});
  Record record(session);
  Block block;
  Heap heap(64);
  REQUIRE(record.Add(plan, heap.memory, heap.bytes, block.words) == ADRT_OK);
  REQUIRE(record.Stages() == 3);
  CHECK(record.Waits(1, 0));
  CHECK(record.Waits(2, 1));
  for (int round = 0; round < 3; ++round) {
    std::fill(y.begin(), y.end(), -1.0f);
    std::memset(heap.memory, 0xFF, 64);
    record.RunOnThreads();
    CHECK(y[0] == -149.5f);
    CHECK(y[299] == 149.5f);
  }
}

TEST_CASE("launches of a record wait for those that touch what either writes, and for no others",
          "[loader]") {
  Session session(2);
  std::vector<float> memory(1000, 1.0f);
  float* base = memory.data();
  float a = 2;
  Block blocks[6];
  Record record(session);
  auto add = [&](uint32_t number, size_t x, size_t y) {
    Plan plan(session, "saxpy", Saxpy(base + x, base + y, 100, &a));
    REQUIRE(plan.status == ADRT_OK);
    REQUIRE(record.Add(plan, nullptr, 0, blocks[number].words) == ADRT_OK);
  };
  auto waits = [&](uint32_t later, uint32_t earlier) {
    return record.Waits(record.First(later), record.First(earlier) + 1);
  };
  add(0, 0, 100);    // writes [100, 200)
  add(1, 0, 300);    // reads what launch 0 reads: both may run at once
  add(2, 199, 400);  // reads the last element that launch 0 wrote
  add(3, 600, 99);   // writes the last element that launches 0 and 1 read, and what launch 0 wrote
  add(4, 600, 350);  // writes what launch 1 writes
  add(5, 700, 800);  // apart
  CHECK_FALSE(waits(1, 0));
  CHECK(waits(2, 0));
  CHECK_FALSE(waits(2, 1));
  CHECK(waits(3, 0));
  CHECK(waits(3, 1));
  CHECK_FALSE(waits(3, 2));
  CHECK(waits(4, 1));
  CHECK(waits(4, 2));  // [400, 450)
  CHECK_FALSE(waits(4, 0));
  CHECK(record.Stage(record.First(5)).wait_count == 0);
  std::vector<float> expected(1000, 1.0f);
  for (auto [x, y] : std::vector<std::pair<size_t, size_t>>{
           {0, 100}, {0, 300}, {199, 400}, {600, 99}, {600, 350}, {700, 800}}) {
    std::vector<float> before = expected;
    for (size_t i = 0; i < 100; ++i) expected[y + i] += a * before[x + i];
  }
  record.RunOnThreads();
  CHECK(memory == expected);

  // One heap, or one block: in turn, whatever else they touch.
  record.error = {};
  REQUIRE(adrt_cpu_record_reset(record.record, &record.error) == ADRT_OK);
  CHECK(record.Stages() == 0);
  add(0, 0, 100);
  add(0, 300, 500);
  CHECK(waits(1, 0));
}

TEST_CASE("a record stops a launch after an overflow, and goes on with others", "[loader]") {
  Session session(2);
  std::vector<int32_t> start = {0, 3, 40, 41};
  std::vector<float> x(64, 1.0f), y(3, -1.0f), z(3, 0.0f), ones(3, 1.0f);
  float a = 1;
  Plan plan(session, "rows",
            {BufferArg("start", ADRT_TYPE_I32, start.data(), {4}),
             BufferArg("x", ADRT_TYPE_F32, x.data(), {64}), BufferArg("y", ADRT_TYPE_F32, y.data(), {3})});
  REQUIRE(plan.status == ADRT_OK);
  Record record(session);
  Block block, other;
  Heap heap(1 << 14);
  CHECK(record.Add(plan, heap.memory, heap.bytes, block.words) == ADRT_ERROR_NEEDS_DEVICE_DATA);
  CHECK(record.Stages() == 0);
  REQUIRE(adrt_plan_with_cap(plan.plan, 256, &plan.error) == ADRT_OK);
  REQUIRE(record.Add(plan, heap.memory, heap.bytes, block.words) == ADRT_OK);
  Plan apart(session, "saxpy", Saxpy(ones.data(), z.data(), 3, &a));
  REQUIRE(record.Add(apart, nullptr, 0, other.words) == ADRT_OK);
  record.RunBackwards();
  CHECK(adrt_status_read(plan.plan, block.words, &plan.error) == ADRT_ERROR_ADSTACK_OVERFLOW);
  CHECK(adrt_status_read(apart.plan, other.words, &apart.error) == ADRT_OK);
  CHECK(z == ones);
  // A repetition ends where something was reported.
  adrt_cpu_rounds rounds = {};
  rounds.struct_size = sizeof rounds;
  rounds.most = 10;
  REQUIRE(adrt_cpu_record_run(record.record, &rounds, &record.error) == ADRT_OK);
  CHECK(rounds.done == 1);
  // With rows that fit, the same record says nothing.
  start = {0, 1, 2, 3};
  rounds.most = 3;
  REQUIRE(adrt_cpu_record_run(record.record, &rounds, &record.error) == ADRT_OK);
  CHECK(rounds.done == 3);
  CHECK(adrt_status_read(plan.plan, block.words, &plan.error) == ADRT_OK);
}

TEST_CASE("a record runs again until a flag is set, or for as many rounds as are allowed", "[loader]") {
  struct Flag {
    uint32_t value = 0, calls = 0, sets_at = 0;
  } flag;
  adrt_cpu_jobs jobs = {};
  jobs.struct_size = sizeof jobs;
  jobs.worker_count = 3;
  jobs.user = &flag;
  jobs.parallel_for = [](void* user, uint32_t count, void (*job)(void*, uint32_t), void* context) {
    Flag& of = *static_cast<Flag*>(user);
    while (count-- > 0) job(context, count);
    if (++of.calls == of.sets_at) of.value = 5;
  };
  Session session;
  adrt_host host = TrustingHost();
  adrt_module_release(session.module);
  adrt_device_release(session.device);
  REQUIRE(adrt_device_wrap_cpu(&host, &jobs, &session.device, &session.error) == ADRT_OK);
  REQUIRE(adrt_module_load(session.device, session.bundle, &session.module, &session.error) == ADRT_OK);
  std::vector<float> x(50, 1.0f), y(50, 0.0f);
  float a = 1;
  Plan plan(session, "saxpy", Saxpy(x.data(), y.data(), 50, &a));
  Record record(session);
  Block block;
  REQUIRE(record.Add(plan, nullptr, 0, block.words) == ADRT_OK);
  adrt_cpu_rounds rounds = {};
  rounds.struct_size = sizeof rounds;
  rounds.most = 9;
  rounds.until = &flag.value;
  flag.sets_at = 4;
  REQUIRE(adrt_cpu_record_run(record.record, &rounds, &record.error) == ADRT_OK);
  CHECK(rounds.done == 4);
  CHECK(y == std::vector<float>(50, 4.0f));
  flag = {};
  REQUIRE(adrt_cpu_record_run(record.record, &rounds, &record.error) == ADRT_OK);
  CHECK(rounds.done == 9);
  CHECK(y[49] == 13.0f);
  rounds.reserved[0] = 1;
  CHECK(adrt_cpu_record_run(record.record, &rounds, &record.error) == ADRT_ERROR_ARGUMENT);
}

TEST_CASE("recording and running again allocate nothing", "[loader]") {
  size_t taken = 0;
  adrt_host host = TrustingHost();
  host.user = &taken;
  host.allocate = [](void* user, size_t size, size_t alignment) {
    ++*static_cast<size_t*>(user);
    return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  };
  host.release = [](void*, void* memory, size_t, size_t) { std::free(memory); };
  Session session;
  adrt_module_release(session.module);
  adrt_device_release(session.device);
  REQUIRE(adrt_device_open_cpu(&host, 2, &session.device, &session.error) == ADRT_OK);
  REQUIRE(adrt_module_load(session.device, session.bundle, &session.module, &session.error) == ADRT_OK);
  std::vector<float> x(50, 1.0f), y(50, 0.0f);
  float a = 1;
  Plan plan(session, "saxpy", Saxpy(x.data(), y.data(), 50, &a));
  Record record(session);
  Block block;
  size_t before = 0;
  for (int round = 0; round < 5; ++round) {
    REQUIRE(adrt_cpu_record_reset(record.record, &record.error) == ADRT_OK);
    for (int launch = 0; launch < 3; ++launch) REQUIRE(record.Add(plan, nullptr, 0, block.words) == ADRT_OK);
    REQUIRE(adrt_cpu_record_run(record.record, nullptr, &record.error) == ADRT_OK);
    if (round == 0) before = taken;
  }
  CHECK(taken == before);
  CHECK(y[0] == 15.0f);
}

TEST_CASE("what cannot be recorded for jobs is refused, and leaves the record as it was", "[loader]") {
  Session session(2), elsewhere(2);
  std::vector<float> x(50, 1.0f), y(50, 0.0f);
  float a = 1;
  Plan plan(session, "saxpy", Saxpy(x.data(), y.data(), 50, &a));
  Plan foreign(elsewhere, "saxpy", Saxpy(x.data(), y.data(), 50, &a));
  Record record(session);
  Block block;
  REQUIRE(record.Add(plan, nullptr, 0, block.words) == ADRT_OK);
  auto refuse = [&](adrt_status status, adrt_status expected, const char* part) {
    INFO(record.error.text);
    CHECK(status == expected);
    CHECK(record.error.Says(part));
    CHECK(record.Stages() == 2);
  };
  refuse(record.Add(foreign, nullptr, 0, block.words), ADRT_ERROR_ARGUMENT, "record's device");
  refuse(record.Add(plan, nullptr, 0, nullptr), ADRT_ERROR_ARGUMENT, "null");
  refuse(record.Add(plan, nullptr, 0, reinterpret_cast<char*>(block.words) + 1), ADRT_ERROR_ARGUMENT,
         "status block");
  refuse(record.Add(plan, nullptr, 0, y.data()), ADRT_ERROR_ARGUMENT, "shares memory");
  double dx[4] = {}, dy[4] = {};
  int32_t n = 3;
  Plan tape(session, "tape",
            {BufferArg("x", ADRT_TYPE_F64, dx, {4}), BufferArg("y", ADRT_TYPE_F64, dy, {4}),
             ScalarArg("n", ADRT_TYPE_I32, &n)});
  refuse(record.Add(tape, nullptr, 0, block.words), ADRT_ERROR_HEAP_TOO_SMALL, "required");
  std::vector<int32_t> in(8, 1), out(8);
  int32_t count = 0;
  Plan compact(session, "compact",
               {BufferArg("x", ADRT_TYPE_I32, in.data(), {8}), BufferArg("count", ADRT_TYPE_I32, &count, {}),
                BufferArg("out", ADRT_TYPE_I32, out.data(), {8})});
  refuse(record.Add(compact, nullptr, 0, block.words), ADRT_ERROR_NEEDS_DEVICE_DATA, "use adrt_run");
  adrt_cpu_stage_report report = {};
  CHECK(adrt_cpu_record_stage(record.record, 0, &report, &record.error) == ADRT_ERROR_ARGUMENT);
  report.struct_size = sizeof report;
  CHECK(adrt_cpu_record_stage(record.record, 2, &report, &record.error) == ADRT_ERROR_ARGUMENT);
  CHECK(adrt_cpu_run_chunk(record.record, 2, 0, nullptr, &record.error) == ADRT_ERROR_ARGUMENT);
  CHECK(adrt_cpu_run_chunk(record.record, 1, 99, nullptr, &record.error) == ADRT_ERROR_ARGUMENT);
  CHECK(adrt_cpu_record_create(nullptr, nullptr, &record.error) == ADRT_ERROR_ARGUMENT);
  CHECK(adrt_cpu_record_run(nullptr, nullptr, &record.error) == ADRT_ERROR_ARGUMENT);
}
