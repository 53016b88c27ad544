#include <cstdlib>

#include "cuda_session.h"

// Launches through the loader's CUDA part: words, rows, scratch, sizes and counts, over a driver that runs on
// the host.

using namespace fixture;

TEST_CASE("a launch on a device runs with words and rows as the code expects them", "[loader][cuda]") {
  FakeCuda fake;
  {
    StreamSession device;
    device.Must(Load(device, fake, MakeCudaBundle()));
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
  StreamSession device;
  device.Must(Load(device, fake, MakeCudaBundle()));
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

namespace {

/// The kernel @tape with tapes of segments as a launch chooses them: n / S + S values, 0 for S = n.
adc::artifact::Metadata SegmentedTape(bool cheap_replay) {
  using namespace adc::artifact;
  Metadata metadata = MakeMetadata();
  for (KernelMeta& kernel : metadata.kernels) {
    if (kernel.name != "tape") continue;
    ParamMeta param;
    param.name = "segment";
    param.kind = ParamKind::kSegment;
    param.role = ParamRole::kSegment;
    param.type = ScalarType::kI32;
    param.access = Access::kRead;
    auto position = static_cast<uint32_t>(kernel.params.size());
    kernel.params.push_back(param);
    SizeExprPool& pool = kernel.exprs;
    for (StackMeta& stack : kernel.tasks[0].plans[0].stacks) {
      NodeId whole = stack.capacity, length = pool.Arg(position);
      NodeId cut = pool.Add(pool.CeilDiv(whole, length), length);
      NodeId is_cut = pool.Binary(SizeOp::kGt, length, pool.Const(0));
      stack.capacity = pool.Select(is_cut, cut, whole);
    }
    kernel.tasks[0].cheap_replay = cheap_replay;
  }
  return metadata;
}

}  // namespace

TEST_CASE("tapes that the device cannot cache are cut where that is cheap", "[loader][cuda]") {
  constexpr uint64_t kCache = 50 << 20;
  FakeCuda fake;
  StreamSession cheap, dear;
  cheap.Must(Load(cheap, fake, MakeCudaBundleOf(SegmentedTape(true))));
  dear.Must(Load(dear, fake, MakeCudaBundleOf(SegmentedTape(false))));
  struct Case {
    int32_t n;
    uint64_t budget;
    uint64_t segment;
  };
  const Case cases[] = {
      {1000, 0, 0},                     // within the cache
      {190000, 0, 0},                   // a quarter of the threads takes less than three times as much
      {220000, 0, 512},                 // more
      {1000000, 0, 1024},               //
      {1000000, uint64_t{1} << 40, 0},  // a budget is what the caller wants
      {2000000000, 0, 0},               // so are segments
  };
  for (const Case& one : cases) {
    INFO(one.n << " iterations, budget " << one.budget);
    TapeArgs tape(1000, one.n);
    adrt_launch_plan *plan = nullptr, *whole = nullptr;
    cheap.Must(cheap.Plan("tape", tape.Make(cheap), &plan, 0, one.budget));
    dear.Must(dear.Plan("tape", tape.Make(dear), &whole, 0, one.budget));
    CHECK(TaskReport(plan, 0).segment == one.segment);
    CHECK(TaskReport(whole, 0).segment == 0);
    CHECK(TaskReport(plan, 0).threads >= TaskReport(whole, 0).threads);
    if (one.segment > 0) {
      CHECK(TaskReport(whole, 0).heap_bytes > 3 * kCache);
      CHECK(TaskReport(plan, 0).heap_bytes <= kCache);
    } else {
      CHECK(TaskReport(plan, 0).heap_bytes == TaskReport(whole, 0).heap_bytes);
    }
  }
}

TEST_CASE("scratch begins as zeros and tasks follow each other", "[loader][cuda]") {
  FakeCuda fake;
  StreamSession device;
  device.Must(Load(device, fake, MakeCudaBundle()));
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
  StreamSession device;
  device.Must(Load(device, fake, MakeCudaBundle()));
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
    StreamSession device;
    device.Must(Load(device, fake, MakeCudaBundle()));
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
    CHECK(device.error.Says("task 1"));
    CHECK(device.error.Says("use adrt_run"));
    // A cap says nothing of iterations, so it is not what is missing.
    CHECK(!device.error.Says("adrt_plan_with_cap"));
    // Resolving would go on for ever.
    CHECK(adrt_plan_resolve(plan, nullptr, 0, &device.error) == ADRT_ERROR_NEEDS_DEVICE_DATA);
    CHECK(device.error.Says("use adrt_run"));
  }
  CHECK(fake.IsClean());
  CHECK(fake.broken.empty());
}

TEST_CASE("stacks are counted on the device, and rows behind a gate are claimed", "[loader][cuda]") {
  FakeCuda fake;
  {
    StreamSession device;
    device.Must(Load(device, fake, MakeCudaBundle()));
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
  StreamSession device;
  device.Must(Load(device, fake, MakeCudaBundle()));
  adrt_status status = ADRT_OK;
  std::vector<float> x(6, 1.0f), m(4, 1.0f);
  adrt_memory* memory = device.Upload(x, &status);
  int8_t k = -3, flag = 1;
  uint16_t u = 1;
  for (uint32_t code = 1; code <= 9; ++code) {
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
                                     ADRT_ERROR_ADSTACK_OVERFLOW,
                                     ADRT_ERROR_DRIVER,
                                     ADRT_ERROR_ARGUMENT,  // no bounds record here
                                     ADRT_ERROR_ARGUMENT};
    uint32_t block[16] = {};
    adrt_run_desc run = RunDesc();
    run.status = block;
    CHECK(adrt_run(plan, &run, &device.error) == kExpected[code]);
    CHECK(block[0] == code);
    INFO(device.error.text);
    CHECK((code > 5 || device.error.Says("iteration 3")));
    CHECK((code != 6 || device.error.Says("its bounds come to 0 now")));
  }
  CHECK(fake.broken.empty());
}

TEST_CASE("heaps and memory are of the right device", "[loader][cuda]") {
  FakeCuda fake;
  {
    StreamSession device;
    device.Must(Load(device, fake, MakeCudaBundle()));
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
  StreamSession device;
  device.Must(Load(device, fake, MakeCudaBundle(), false, host));
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
