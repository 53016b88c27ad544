#pragma once
// Counting and launching in the caller's own queue, with nothing but what the public functions say: memory
// for the counts, a readback, a plan that it settles, a launch, its status block.

#include "../support/recorder.h"
#include "guard_cases.h"

namespace adc::test {

/// Memory of the device with a region that is all of it, or begins `shift` bytes in.
class DeviceBytes {
 public:
  DeviceBytes(OnDevice& device, uint64_t bytes, uint64_t shift = 0) : device_(&device) {
    device.Must(adrt_memory_create(device.device(), bytes + shift, &memory_, device.Error()));
    std::vector<std::byte> dirt(bytes + shift, std::byte{0x5A});
    device.Must(adrt_memory_write(memory_, 0, dirt.data(), dirt.size(), device.Error()));
    region_ = Region(device.kind(), memory_, shift, bytes);
  }
  ~DeviceBytes() { adrt_memory_release(memory_); }
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;
  Region& region() { return region_; }
  void Read(void* to, uint64_t bytes) {
    device_->Must(adrt_memory_read(memory_, 0, to, bytes, device_->Error()));
  }

 private:
  OnDevice* device_;
  adrt_memory* memory_ = nullptr;
  Region region_;
};

/// Counts, reads back and resolves until the plan is settled. Returns how many times it counted.
inline uint32_t CountAndResolve(OnDevice& device, Recorder& recorder, OnDevice::Launch& launch,
                                const interp::Arguments& contents) {
  for (uint32_t rounds = 1;; ++rounds) {
    REQUIRE(rounds < 50);
    adrt_count_report counting = {};
    counting.struct_size = sizeof counting;
    device.Must(adrt_plan_counting(launch.plan(), &counting, device.Error()));
    REQUIRE(counting.counts_bytes > 0);
    REQUIRE(counting.counts_bytes % 8 == 0);
    REQUIRE(counting.memory_bytes >= counting.counts_bytes);
    DeviceBytes memory(device, counting.memory_bytes);
    device.Must(recorder.RecordSize(launch.plan(), memory.region(), device.Error()));
    recorder.Submit();
    // Buffers first, then the counts, as they lie at the start of the memory.
    adrt_readback_report piece = {};
    piece.struct_size = sizeof piece;
    device.Must(adrt_plan_readback(launch.plan(), 0, &piece, device.Error()));
    std::vector<std::byte> readback(piece.total_bytes);
    uint64_t end = 0;
    for (uint32_t index = 0, count = piece.count; index < count; ++index) {
      device.Must(adrt_plan_readback(launch.plan(), index, &piece, device.Error()));
      CHECK(piece.offset % 8 == 0);
      CHECK(piece.offset >= end);
      end = piece.offset + piece.bytes;
      REQUIRE(end <= readback.size());
      CHECK((piece.param == ADRT_READBACK_COUNTS) == (index + 1 == count));
      if (piece.param == ADRT_READBACK_COUNTS) {
        CHECK(piece.bytes == counting.counts_bytes);
        memory.Read(readback.data() + piece.offset, piece.bytes);
      } else {
        std::memcpy(readback.data() + piece.offset, contents[piece.param].tensor.data.data(), piece.bytes);
      }
    }
    CHECK(end == piece.total_bytes);
    device.Must(adrt_plan_resolve(launch.plan(), readback.data(), readback.size(), device.Error()));
    if (launch.Report().resolved) return rounds;
  }
}

/// Records a launch of a settled plan and runs it; the status block goes to `status`.
inline void RecordAndRun(OnDevice& device, Recorder& recorder, OnDevice::Launch& launch,
                         std::vector<uint32_t>& status) {
  uint64_t heap_bytes = launch.Report().heap_bytes;
  DeviceBytes heap(device, std::max<uint64_t>(heap_bytes, 256)), block(device, ADRT_STATUS_BYTES);
  device.Must(recorder.RecordLaunch(launch.plan(), &heap.region(), block.region(), device.Error()));
  recorder.Submit();
  status.assign(ADRT_STATUS_BYTES / 4, 0xFFFFFFFF);
  block.Read(status.data(), ADRT_STATUS_BYTES);
}

/// Whether the launch left what the CPU leaves.
inline bool AsOnCpu(OnDevice& cpu, const std::string& kernel, OnDevice::Launch& launch,
                    const interp::Arguments& given) {
  interp::Arguments expected = given, found = given;
  cpu.Run(kernel, expected);
  launch.Read(found);
  return Difference(expected, found) < 1e-5;
}

/// Stacks whose depths only running tells: recorded counts settle the plan, in one round or in several; a
/// change behind them is reported by the launch's status block, and the next count is good again.
inline void CheckRecordedCounts(OnDevice& device, Recorder& recorder, OnDevice& cpu) {
  constexpr int64_t kCount = 200;
  std::vector<uint32_t> status;
  for (const char* kernel : {"decay", "rounds"}) {
    INFO(kernel << " on " << device.kind());
    std::string gradient = kernel + std::string(".grad");
    interp::Arguments near = GradientOf(kernel, kCount, 1, Many(kCount, 0.5)),
                      far = GradientOf(kernel, kCount, 1, Many(kCount, 0.05));
    OnDevice::Launch launch(device, gradient, near);
    launch.Plan();
    CHECK(launch.Report().resolved == 0);
    DeviceBytes block(device, ADRT_STATUS_BYTES);
    CHECK(recorder.RecordLaunch(launch.plan(), nullptr, block.region(), device.Error()) ==
          ADRT_ERROR_NEEDS_DEVICE_DATA);
    uint32_t rounds = CountAndResolve(device, recorder, launch, near);
    CHECK((kernel == std::string("decay") ? rounds == 1 : rounds > 1));
    RecordAndRun(device, recorder, launch, status);
    device.Must(adrt_status_read(launch.plan(), status.data(), device.Error()));
    CHECK(AsOnCpu(cpu, gradient, launch, near));
    // Deeper than it was counted for.
    launch.Write(far);
    RecordAndRun(device, recorder, launch, status);
    CHECK(adrt_status_read(launch.plan(), status.data(), device.Error()) == ADRT_ERROR_ADSTACK_OVERFLOW);
    INFO(device.text());
    for (const char* part :
         {"at least", "'low'", "size again (adrt_plan_resolve, or adrt_run) after what writes it"})
      CHECK(Says(device, part));
    launch.Write(far);
    CountAndResolve(device, recorder, launch, far);
    RecordAndRun(device, recorder, launch, status);
    device.Must(adrt_status_read(launch.plan(), status.data(), device.Error()));
    CHECK(AsOnCpu(cpu, gradient, launch, far));
  }
}

/// A stack whose depth only running tells, within a budget that whole tapes do not fit: counted once more,
/// with the length of the segments that what was counted asks for.
inline void CheckRecordedCheckpoints(OnDevice& device, Recorder& recorder, OnDevice& cpu) {
  constexpr int64_t kCount = 200;
  std::vector<uint32_t> status;
  interp::Arguments near = GradientOf("kept", kCount, 1, Many(kCount, 0.5)),
                    far = GradientOf("kept", kCount, 1, Many(kCount, 0.01));
  OnDevice::Launch launch(device, "kept.grad", far);
  auto segment = [&] {
    adrt_task_report task = {};
    task.struct_size = sizeof task;
    device.Must(adrt_plan_task(launch.plan(), 0, &task, device.Error()));
    return task.segment;
  };
  launch.Plan();
  uint32_t rounds = CountAndResolve(device, recorder, launch, far);
  CHECK(segment() == 0);
  uint64_t whole = launch.Report().heap_bytes, budget = whole / 4;
  launch.Plan(budget);
  CHECK(CountAndResolve(device, recorder, launch, far) > rounds);
  CHECK(segment() > 0);
  CHECK(launch.Report().heap_bytes <= budget);
  RecordAndRun(device, recorder, launch, status);
  device.Must(adrt_status_read(launch.plan(), status.data(), device.Error()));
  CHECK(AsOnCpu(cpu, "kept.grad", launch, far));
  // Other contents are counted with the length that there is.
  launch.Write(near);
  CountAndResolve(device, recorder, launch, near);
  CHECK(launch.Report().heap_bytes <= budget);
  RecordAndRun(device, recorder, launch, status);
  device.Must(adrt_status_read(launch.plan(), status.data(), device.Error()));
  CHECK(AsOnCpu(cpu, "kept.grad", launch, near));
}

/// Rows behind a gate, counted in the caller's queue.
inline void CheckRecordedRows(OnDevice& device, Recorder& recorder, OnDevice& cpu) {
  constexpr int64_t kCount = 1000;
  std::vector<uint32_t> status;
  interp::Arguments few = GradientOf("gated", kCount, 0.5, Gates(kCount, 40)),
                    many = GradientOf("gated", kCount, 0.5, Gates(kCount, 500));
  OnDevice::Launch launch(device, "gated.grad", few, {.threshold = 1});
  launch.Plan();
  uint64_t worst = launch.Report().heap_bytes;
  CHECK(CountAndResolve(device, recorder, launch, few) == 1);
  CountedRows rows = ReadCountedRows(launch.plan());
  REQUIRE(rows.groups.size() == 1);
  CHECK(rows.groups[0].counted);
  CHECK(rows.groups[0].iterations == 40);
  CHECK(rows.groups[0].rows == 64);
  CHECK(rows.heap_bytes < worst);
  RecordAndRun(device, recorder, launch, status);
  device.Must(adrt_status_read(launch.plan(), status.data(), device.Error()));
  CHECK(AsOnCpu(cpu, "gated.grad", launch, few));
  launch.Write(many);
  RecordAndRun(device, recorder, launch, status);
  CHECK(adrt_status_read(launch.plan(), status.data(), device.Error()) == ADRT_ERROR_ROWS_EXHAUSTED);
  INFO(device.text());
  CHECK(Says(device, "500 threads passed the gate at waves.ir:24:5, more than the 64 rows"));
  CHECK(device.error().needed_bytes > rows.heap_bytes);
  launch.Write(many);
  CHECK(CountAndResolve(device, recorder, launch, many) == 1);
  RecordAndRun(device, recorder, launch, status);
  device.Must(adrt_status_read(launch.plan(), status.data(), device.Error()));
  CHECK(AsOnCpu(cpu, "gated.grad", launch, many));
}

/// Loops whose iterations code has to count: a round for that, and one for what depends on it; a count that
/// is another one the next time; and what only adrt_run can do is refused with its place.
inline void CheckRecordedTrips(OnDevice& device, Recorder& recorder, OnDevice& cpu) {
  constexpr int64_t kCount = 90;
  std::vector<uint32_t> status;
  auto run_both = [&](const std::string& kernel, OnDevice::Launch& launch, const interp::Arguments& given,
                      uint64_t iterations, uint32_t rounds) {
    INFO(kernel << " of " << iterations << " iterations on " << device.kind());
    CHECK(CountAndResolve(device, recorder, launch, given) == rounds);
    adrt_task_report task = {};
    task.struct_size = sizeof task;
    device.Must(adrt_plan_task(launch.plan(), 0, &task, device.Error()));
    CHECK(task.counted_axes == 1);
    CHECK(task.iterations == iterations);
    RecordAndRun(device, recorder, launch, status);
    device.Must(adrt_status_read(launch.plan(), status.data(), device.Error()));
    CHECK(AsOnCpu(cpu, kernel, launch, given));
  };
  interp::Arguments many = GradientOf("some", kCount, 1, Many(kCount, 0.5)),
                    few = GradientOf("some", kCount, 1, Many(kCount, 0.125)),
                    none = GradientOf("some", kCount, 1, Many(kCount, -1));
  OnDevice::Launch some(device, "some.grad", many);
  some.Plan();
  CHECK(some.Report().resolved == 0);
  DeviceBytes block(device, ADRT_STATUS_BYTES);
  CHECK(recorder.RecordLaunch(some.plan(), nullptr, block.region(), device.Error()) ==
        ADRT_ERROR_NEEDS_DEVICE_DATA);
  INFO(device.text());
  CHECK(Says(device, "its iterations must be counted"));
  CHECK(Says(device, "waves.ir:57:3"));
  run_both("some.grad", some, many, 50, 2);
  some.Write(few);
  run_both("some.grad", some, few, 13, 2);
  // With this content none of its loops ends: nothing may run by the trip count that there was.
  some.Write(none);
  run_both("some.grad", some, none, 0, 1);
  some.Write(few);
  run_both("some.grad", some, few, 13, 2);

  interp::Arguments half = GradientOf("summed", kCount, 0.5, Many(kCount, 0.5)),
                    all = GradientOf("summed", kCount, 0.5, Many(kCount, 1));
  OnDevice::Launch summed(device, "summed.grad", half);
  summed.Plan();
  run_both("summed.grad", summed, half, 45, 1);
  summed.Write(all);
  run_both("summed.grad", summed, all, 90, 1);

  auto program = Program::OfFile(waves_file, "late");
  program->Buffer("x", {kCount}, Many(kCount, 3));
  program->Buffer("low", {kCount}, Many(kCount, 6));
  program->Zeros("y", {kCount});
  OnDevice::Launch late(device, "late", program->arguments());
  late.Plan();
  CHECK(recorder.RecordLaunch(late.plan(), nullptr, block.region(), device.Error()) ==
        ADRT_ERROR_NEEDS_DEVICE_DATA);
  INFO(device.text());
  CHECK(Says(device, "its iterations depend on what the kernel computes: use adrt_run"));
  recorder.Submit();
  interp::Arguments by_run = program->arguments(), expected = by_run;
  device.Run("late", by_run);
  cpu.Run("late", expected);
  CHECK(Difference(expected, by_run) == 0);
  CHECK(by_run[2].tensor.Get(6) == 3);
  CHECK(by_run[2].tensor.Get(7) == 0);
}

/// A bound that code has counted and that changes on the queue after the plan was resolved: no iteration past
/// it, and the launch says where.
inline void CheckRecordedMoves(OnDevice& device, Recorder& recorder) {
  constexpr int64_t kCount = 40;
  std::vector<uint32_t> status;
  auto with = [&](int64_t bound) {
    auto program = Program::OfFile(waves_file, "told");
    program->Buffer("x", {kCount}, Many(kCount, 3));
    program->Buffer("low", {1}, {static_cast<double>(bound)});
    program->Buffer("y", {kCount}, Many(kCount, -1));
    return program->arguments();
  };
  auto check_run_to = [&](OnDevice::Launch& launch, int64_t bound) {
    interp::Arguments found = with(bound);
    launch.Read(found);
    for (int64_t i = 0; i < kCount; ++i)
      REQUIRE((found[2].tensor.Get(i) == -1 || (i < bound && found[2].tensor.Get(i) == 9)));
    return found[2].tensor.Get(0) == 9;
  };
  for (auto [counted, met] : {std::pair{13, 30}, {30, 13}, {0, 7}, {7, 0}}) {
    INFO(counted << " iterations counted, " << met << " met on " << device.kind());
    OnDevice::Launch launch(device, "told", with(counted));
    launch.Plan();
    CHECK(CountAndResolve(device, recorder, launch, with(counted)) == 1);
    RecordAndRun(device, recorder, launch, status);
    device.Must(adrt_status_read(launch.plan(), status.data(), device.Error()));
    CHECK(check_run_to(launch, counted) == (counted > 0));
    launch.Write(with(met));
    RecordAndRun(device, recorder, launch, status);
    CHECK(adrt_status_read(launch.plan(), status.data(), device.Error()) == ADRT_ERROR_ADSTACK_OVERFLOW);
    INFO(device.text());
    for (const std::string& part :
         {std::string("kernel 'told', task 0"), std::string("waves.ir:82:3"),
          "made for " + std::to_string(counted) + " iterations", "come to " + std::to_string(met) + " now",
          std::string("the content of 'low'")})
      CHECK(Says(device, part));
    CHECK(!check_run_to(launch, met));
    launch.Write(with(met));
    CHECK(CountAndResolve(device, recorder, launch, with(met)) == 1);
    RecordAndRun(device, recorder, launch, status);
    device.Must(adrt_status_read(launch.plan(), status.data(), device.Error()));
    CHECK(check_run_to(launch, met) == (met > 0));
  }
}

/// A status block where no descriptor can begin, of code that has nothing else: refused before anything is
/// recorded.
inline void CheckOddStatus(OnDevice& device, Recorder& recorder) {
  constexpr int64_t kCount = 16;
  interp::Arguments given = GradientOf("waves", kCount, 0.5, Many(kCount, 32));
  OnDevice::Launch launch(device, "waves.grad", given);
  launch.Plan();
  Resolve(device, launch, given);
  DeviceBytes heap(device, std::max<uint64_t>(launch.Report().heap_bytes, 256)),
      block(device, ADRT_STATUS_BYTES, 24);
  CHECK(recorder.RecordLaunch(launch.plan(), &heap.region(), block.region(), device.Error()) ==
        ADRT_ERROR_DEVICE_FEATURE);
  INFO(device.text());
  CHECK(Says(device, "no descriptor reaches 'status block': it begins at byte 24"));
  recorder.Submit();
}

/// A bound that is read back, an overflow in a recorded launch, and what recording refuses.
inline void CheckRecordedOverflow(OnDevice& device, Recorder& recorder, OnDevice& cpu) {
  constexpr int64_t kCount = 16;
  std::vector<uint32_t> status;
  interp::Arguments small = GradientOf("waves", kCount, 0.5, Many(kCount, 32)),
                    large = GradientOf("waves", kCount, 0.5, Many(kCount, 64));
  OnDevice::Launch launch(device, "waves.grad", small);
  launch.Plan();
  Resolve(device, launch, small);
  RecordAndRun(device, recorder, launch, status);
  device.Must(adrt_status_read(launch.plan(), status.data(), device.Error()));
  CHECK(AsOnCpu(cpu, "waves.grad", launch, small));
  launch.Write(large);
  RecordAndRun(device, recorder, launch, status);
  CHECK(adrt_status_read(launch.plan(), status.data(), device.Error()) == ADRT_ERROR_ADSTACK_OVERFLOW);
  INFO(device.text());
  CHECK(Says(device, "would have needed 64 elements and has 32"));
  CHECK(Says(device, "the content of 'n'"));
  launch.Write(large);
  Resolve(device, launch, large);
  RecordAndRun(device, recorder, launch, status);
  device.Must(adrt_status_read(launch.plan(), status.data(), device.Error()));
  CHECK(AsOnCpu(cpu, "waves.grad", launch, large));

  OnDevice::Launch counted(device, "decay.grad", GradientOf("decay", kCount, 1, Many(kCount, 0.5)));
  counted.Plan();
  adrt_count_report counting = {};
  counting.struct_size = sizeof counting;
  device.Must(adrt_plan_counting(counted.plan(), &counting, device.Error()));
  DeviceBytes little(device, 256), shifted(device, counting.memory_bytes, counting.memory_alignment / 2);
  if (counting.memory_bytes > 256) {
    CHECK(recorder.RecordSize(counted.plan(), little.region(), device.Error()) == ADRT_ERROR_HEAP_TOO_SMALL);
    CHECK(device.error().needed_bytes == counting.memory_bytes);
  }
  CHECK(recorder.RecordSize(counted.plan(), shifted.region(), device.Error()) == ADRT_ERROR_ARGUMENT);
  CHECK(Says(device, "not aligned"));
  recorder.Submit();
}

}  // namespace adc::test
