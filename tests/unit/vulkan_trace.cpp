#include "vulkan_session.h"

// What a host is told of the memory of launches on Vulkan. That every figure is the plan's is looked at
// wherever a test runs something (LogBox).

using namespace fixture;

TEST_CASE("a host is told of launches on Vulkan: formula, what is kept, growth and budget",
          "[vulkan][trace]") {
  VulkanSession session;
  constexpr int64_t kCount = 100;
  adrt_memory *x = session.Upload(std::vector<double>(kCount, 0.5)),
              *y = session.Upload(std::vector<double>(kCount));
  int32_t n = 20;
  std::vector<adrt_arg> args = {BufferArg("x", ADRT_TYPE_F64, adrt_memory_data(x), {kCount}),
                                BufferArg("y", ADRT_TYPE_F64, adrt_memory_data(y), {kCount}),
                                ScalarArg("n", ADRT_TYPE_I32, &n)};
  adrt_heap* heap = nullptr;
  session.Must(adrt_heap_create_on(session.device, &heap, &session.error));
  adrt_run_desc run = RunDesc();
  run.heap = heap;
  adrt_launch_plan* plan = session.Plan("tape", args);
  uint64_t before = 0;
  for (uint32_t source : {ADRT_SIZES_FORMULA, ADRT_SIZES_CACHED}) {
    session.Must(adrt_run(plan, &run, &session.error));
    std::vector<adrt_heap_trace> told = session.log.traces.Next(2);
    CHECK(told[0].source == source);
    CHECK(told[0].row_bytes == 240);  // 20 f64 and 20 i32
    CHECK(told[0].rows == 128);       // 100 threads, in blocks of 32 lanes
    CHECK(told[0].heap_bytes == 128 * 240);
    CHECK(told[0].threads == kCount);
    CHECK(std::string(told[1].target) == "vulkan:1.2");
    CHECK(told[1].heap_bytes >= told[0].heap_bytes);  // and the words of the launch
    CHECK(told[1].held_before == before);
    CHECK(told[1].held >= told[1].heap_bytes);
    CHECK(told[1].held == adrt_heap_bytes(heap));
    before = told[1].held;
  }
  n = 200;
  session.Must(adrt_plan_update(plan, &args[2], 1, &session.error));
  session.Must(adrt_run(plan, &run, &session.error));
  std::vector<adrt_heap_trace> told = session.log.traces.Next(2);
  CHECK(told[0].source == ADRT_SIZES_FORMULA);
  CHECK(told[0].heap_bytes == 128 * 2400);
  CHECK(told[1].held_before == before);
  CHECK(told[1].held == adrt_heap_bytes(heap));
  CHECK(told[1].held > before);
  adrt_plan_release(plan);
  n = 20;
  constexpr uint64_t kBudget = 16 << 10;
  session.Must(session.Run("tape", args, kBudget));
  told = session.log.traces.Next(2);
  CHECK(told[0].rows == 64);
  CHECK(told[0].threads == 64);
  CHECK(told[0].wanted_threads == kCount);
  CHECK(told[0].budget == kBudget);
  CHECK(told[1].heap_bytes <= kBudget);
  adrt_heap_release(heap);
}
