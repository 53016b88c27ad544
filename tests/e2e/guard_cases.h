#pragma once
// The guard in front of every tape, on a device: what does not fit is not written, is reported once with
// everything one wants to know, and the next launch knows nothing of it. Sizes hold unless what they were
// computed from has changed: what a launch computes is right, or it is reported.

#include <cmath>
#include <filesystem>
#include <fstream>
#include <thread>

#include "../support/numbers.h"
#include "../support/on_device.h"
#include "../support/program.h"

namespace adc::test {

/// The kernels of guard/waves.ir; who runs elsewhere says where they are.
inline std::string waves_file = std::string(ADC_TESTS) + "/guard/waves.ir";

/// A file that goes with the object.
struct PassingFile {
  std::filesystem::path path;
  explicit PassingFile(const std::string& text) {
    static int number = 0;
    path = std::filesystem::temp_directory_path() /
           ("adc-guard-" + std::to_string(getpid()) + "-" + std::to_string(number++) + ".ir");
    std::ofstream(path) << text;
  }
  ~PassingFile() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
};

inline std::vector<double> Many(int64_t count, double value) {
  return std::vector<double>(static_cast<size_t>(count), value);
}

/// Arguments of a gradient from those of its kernel: the adjoints of parameters `x` and `y`, zeros and ones.
inline interp::Arguments Seeded(interp::Arguments arguments, int64_t count) {
  for (double seed : {0.0, 1.0}) {
    interp::Argument companion;
    companion.tensor = interp::Tensor::Zeros(ir::kF32, {count});
    for (int64_t i = 0; i < count; ++i) companion.tensor.Set(i, seed);
    arguments.list.push_back(companion);
  }
  return arguments;
}

/// Arguments of the gradient of a kernel of guard/waves.ir: %x, the buffer that decides, zeros in %y.
inline interp::Arguments GradientOf(const std::string& kernel, int64_t count, double x,
                                    const std::vector<double>& decides) {
  auto program = Program::OfFile(waves_file, kernel);
  program->Buffer("x", {count}, Many(count, x));
  program->Zeros("y", {count});
  program->Buffer(kernel == "waves" ? "n" : kernel == "gated" ? "open" : "low", {count}, decides);
  if (kernel == "gated") program->Number("n", 5);
  return Seeded(program->arguments(), count);
}

/// Gates of which so many are open.
inline std::vector<double> Gates(int64_t count, int64_t open) {
  std::vector<double> gates = Many(count, 0);
  for (int64_t i = 0; i < open; ++i) gates[static_cast<size_t>(i * 7 % count)] = 1;
  return gates;
}

/// What sizing reads, brought to the host and handed to the plan; counts are recorded by nobody and missing.
inline void Resolve(OnDevice& device, OnDevice::Launch& launch, const interp::Arguments& contents) {
  adrt_readback_report piece = {};
  piece.struct_size = sizeof piece;
  device.Must(adrt_plan_readback(launch.plan(), 0, &piece, device.Error()));
  std::vector<std::byte> readback(piece.total_bytes);
  for (uint32_t index = 0; index < piece.count; ++index) {
    device.Must(adrt_plan_readback(launch.plan(), index, &piece, device.Error()));
    if (piece.param == ADRT_READBACK_COUNTS) {
      readback.resize(piece.offset);
      continue;
    }
    std::memcpy(readback.data() + piece.offset, contents[piece.param].tensor.data.data(), piece.bytes);
  }
  device.Must(adrt_plan_resolve(launch.plan(), readback.empty() ? nullptr : readback.data(), readback.size(),
                                device.Error()));
}

// ----------------------------------------------------------------------------------------------- canaries

/// The heap of a launch in the middle of memory that is filled with one byte.
class WatchedHeap {
 public:
  static constexpr uint64_t kPad = 1024;
  static constexpr std::byte kFill{0xA5};

  WatchedHeap(OnDevice& device, uint64_t bytes) : device_(&device), bytes_(bytes) {
    device.Must(adrt_memory_create(device.device(), bytes + 2 * kPad, &memory_, device.Error()));
    region_ = Region(device.kind(), memory_, kPad, bytes);
    Fill();
  }
  ~WatchedHeap() { adrt_memory_release(memory_); }
  WatchedHeap(const WatchedHeap&) = delete;
  WatchedHeap& operator=(const WatchedHeap&) = delete;

  void Fill() {
    std::vector<std::byte> fill(bytes_ + 2 * kPad, kFill);
    device_->Must(adrt_memory_write(memory_, 0, fill.data(), fill.size(), device_->Error()));
  }
  adrt_run_desc Desc() {
    adrt_run_desc desc = {};
    desc.struct_size = sizeof desc;
    desc.memory = region_.data();
    desc.memory_size = bytes_;
    return desc;
  }
  /// Bytes of the heap, from `from` on, that are not what they were; requires that there are none around it.
  std::vector<uint64_t> Changed(uint64_t from = 0) {
    std::vector<std::byte> now(bytes_ + 2 * kPad);
    device_->Must(adrt_memory_read(memory_, 0, now.data(), now.size(), device_->Error()));
    std::vector<uint64_t> changed;
    for (uint64_t at = 0; at < now.size(); ++at) {
      if (now[at] == kFill) continue;
      INFO("byte " << at << " of a heap of " << bytes_ << " that begins at " << kPad);
      REQUIRE((at >= kPad && at < kPad + bytes_));
      if (at >= kPad + from) changed.push_back(at - kPad);
    }
    return changed;
  }

 private:
  OnDevice* device_;
  uint64_t bytes_;
  adrt_memory* memory_ = nullptr;
  Region region_;
};

struct TapeType {
  const char* scalar;
  uint32_t bytes;
  /// What is pushed in step %t of iteration %i, in the type, and the popped %p as f32.
  const char *pushed, *popped;
};
inline const TapeType kTapeTypes[] = {
    {"f32", 4, "(cast (add %i, %t) to f32)", "%p"},
    {"f64", 8, "(cast (add %i, %t) to f64)", "(cast %p to f32)"},
    {"f16", 2, "(cast (add %i, %t) to f16)", "(cast %p to f32)"},
    {"i32", 4, "(add %i, %t)", "(cast %p to f32)"},
    {"i8", 1, "(cast (add %i, %t) to i8)", "(cast %p to f32)"},
    {"i1", 1, "(ne (mod (add %i, %t), 3), 0)", "(select %p, (cast (add %i, %u) to f32), 0.0)"},
};

/// A kernel that pushes %trips[i] values and sums them up on the way back: value t of iteration i is i + t,
/// flags say that this is no multiple of 3. Counted: in every other step the value goes in twice.
inline std::string TapeKernel(const TapeType& type, bool counted) {
  std::string scalar = type.scalar, push = std::string("stack.push %s, ") + type.pushed, popped = type.popped,
              twice = popped;
  twice.replace(twice.find("%p"), 2, "%q");
  std::string text =
      "kernel @tape(%trips: buffer<i32, 1> readonly, %sum: buffer<f32, 1>) {\n"
      "  parallel %i in 0..shape(%trips, 0) {\n    %s = stack.new " +
      scalar + "\n    %n = load %trips[%i]\n    for %t in 0..%n {\n      " + push +
      (counted ? "\n" : " at %t\n");
  if (counted) text += "      if (eq (mod %t, 2), 0) { " + push + " }\n";
  text += "    }\n    %all = for %u in 0..%n reversed carry(%a = 0.0) {\n";
  if (counted) {
    text += "      %twice = if (eq (mod %u, 2), 0) { %q = stack.pop %s yield " + twice +
            " } else { yield 0.0 }\n      %p = stack.pop %s\n      yield (add (add %a, %twice), " + popped +
            ")\n";
  } else {
    text += "      %p = stack.pop %s at %u\n      yield (add %a, " + popped + ")\n";
  }
  return text + "    }\n    store %sum[%i], %all\n  }\n}\n";
}

inline double TapeSum(const TapeType& type, bool counted, int64_t i, int64_t trips) {
  double sum = 0;
  for (int64_t t = 0; t < trips; ++t) {
    bool flag = std::string(type.scalar) == "i1";
    double value = flag && (i + t) % 3 == 0 ? 0 : static_cast<double>(i + t);
    sum += counted && t % 2 == 0 ? 2 * value : value;
  }
  return sum;
}

/// Where the rows of a launch with one group lie, and which bytes of a row are the stack's.
struct RowBytes {
  uint64_t begin = 0, rows = 0, stride = 0, lanes = 1, offset = 0, capacity = 0;
  bool counted = false;

  explicit RowBytes(OnDevice& device, adrt_launch_plan* plan, uint64_t heap_bytes) {
    adrt_task_report task = {};
    task.struct_size = sizeof task;
    adrt_stack_report stack = {};
    stack.struct_size = sizeof stack;
    device.Must(adrt_plan_task(plan, 0, &task, device.Error()));
    device.Must(adrt_plan_stack(plan, 0, 0, &stack, device.Error()));
    rows = task.rows;
    stride = task.row_bytes;
    lanes = task.lanes;
    offset = stack.offset;
    capacity = stack.capacity;
    counted = stack.counted != 0;
    begin = heap_bytes - rows * stride;
  }
  /// Whether `at` is a byte of row `row`, of an element of `size` bytes in [from, to) of it.
  bool Holds(uint64_t at, uint64_t row, uint64_t size, uint64_t from, uint64_t to) const {
    uint64_t block = begin + row / lanes * stride * lanes;
    if (at < block || at >= block + stride * lanes) return false;
    uint64_t element = (at - block) / (size * lanes), lane = (at - block) / size % lanes;
    return lane == row % lanes && element * size >= from && element * size < to;
  }
  /// Whether all bytes are of one row's stack. Flags may lie as bytes or as bits of words.
  bool AreOneStack(const std::vector<uint64_t>& bytes, const TapeType& type) const {
    bool flags = std::string(type.scalar) == "i1";
    for (uint64_t size : flags ? std::vector<uint64_t>{1, 4, 8} : std::vector<uint64_t>{type.bytes}) {
      uint64_t from = flags ? 0 : offset, to = flags ? stride : offset + capacity * size;
      for (uint64_t row = 0; row < rows; ++row) {
        if (std::all_of(bytes.begin(), bytes.end(),
                        [&](uint64_t at) { return Holds(at, row, size, from, to); }))
          return true;
      }
    }
    return false;
  }
};

/// One iteration that pushes too much among others that push nothing, or what fits: not a byte changes around
/// the heap or in another row, and all others are right.
inline void CheckCanaries(OnDevice& device, const TapeType& type, bool counted, const std::string& path) {
  constexpr int64_t kCount = 80, kFits = 4, kTooMany = 11;
  auto program = Program::OfFile(path, "tape");
  for (int64_t guilty : {0, 37, 79}) {
    INFO(type.scalar << (counted ? ", counted" : ", indexed") << ", iteration " << guilty << " on "
                     << device.kind());
    auto trips = [&](int64_t others, int64_t own) {
      std::vector<double> list(kCount, static_cast<double>(others));
      list[static_cast<size_t>(guilty)] = static_cast<double>(own);
      program->Buffer("trips", {kCount}, list);
    };
    program->Zeros("sum", {kCount});
    trips(0, kFits);
    OnDevice::Launch launch(device, "tape", program->arguments());
    launch.SetVersion(0, 1);
    launch.Plan();
    Resolve(device, launch, program->arguments());
    uint64_t heap_bytes = launch.Report().heap_bytes;
    RowBytes rows(device, launch.plan(), heap_bytes);
    CHECK(rows.counted == counted);
    WatchedHeap heap(device, heap_bytes);
    adrt_run_desc desc = heap.Desc();
    auto rows_changed = [&] { return heap.Changed(rows.begin); };  // before are the words of the launch
    launch.MustRun(&desc);
    CHECK(rows.AreOneStack(rows_changed(), type));
    CHECK_FALSE(rows_changed().empty());
    interp::Arguments found = program->arguments();
    launch.Read(found);
    CHECK(found[1].tensor.Get(guilty) == TapeSum(type, counted, guilty, kFits));

    for (int64_t others : {int64_t{0}, kFits}) {
      trips(others, kFits);
      launch.Write(program->arguments());
      launch.Plan();
      Resolve(device, launch, program->arguments());
      // What is to be counted, a launch counts; its heap has as many rows as iterations take one.
      if (launch.Report().resolved == 0) launch.MustRun(nullptr);
      WatchedHeap own_heap(device, launch.Report().heap_bytes);
      adrt_run_desc own_desc = own_heap.Desc();
      // The version still says that nothing changed.
      trips(others, kTooMany);
      launch.Write(program->arguments());
      own_heap.Fill();
      CHECK(launch.Run(&own_desc) == ADRT_ERROR_ADSTACK_OVERFLOW);
      INFO(device.text());
      CHECK(device.text().find("iteration " + std::to_string(guilty) + ":") != std::string::npos);
      CHECK(device.text().find("has " + std::to_string(counted ? 6 : 4)) != std::string::npos);
      if (others == 0) CHECK(rows.AreOneStack(own_heap.Changed(rows.begin), type));
      if (others != 0) own_heap.Changed();
      launch.Read(found);
      for (int64_t i = 0; i < kCount; ++i) {
        if (i != guilty) REQUIRE(found[1].tensor.Get(i) == TapeSum(type, counted, i, others));
      }
    }
  }
}

// --------------------------------------------------------------------------------------------- the report

/// The derivative of the recurrence of the gated and the plain waves at `v`.
inline double WaveDerivative(double v, int trips) {
  double product = 1;
  for (int t = 0; t < trips; ++t) {
    product *= std::cos(v);
    v = std::sin(v) + 0.1;
  }
  return product;
}

/// Arguments of waves.grad: bounds, and seeds of 1.
class Waves {
 public:
  explicit Waves(std::vector<double> bounds)
      : program_(Program::OfFile(waves_file, "waves")), bounds_(std::move(bounds)) {
    auto count = static_cast<int64_t>(bounds_.size());
    std::vector<double> x;
    for (int64_t i = 0; i < count; ++i)
      x.push_back(0.1 + 0.8 * static_cast<double>(i) / static_cast<double>(count));
    program_->Buffer("x", {count}, x);
    program_->Zeros("y", {count});
    program_->Buffer("n", {count}, bounds_);
    arguments_ = Seeded(program_->arguments(), count);
  }
  void SetBounds(std::vector<double> bounds) {
    bounds_ = std::move(bounds);
    program_->Buffer("n", {static_cast<int64_t>(bounds_.size())}, bounds_);
    arguments_[kBounds] = program_->arguments()[kBounds];
  }
  const interp::Arguments& arguments() const { return arguments_; }
  /// Whether the launch left the gradient of these bounds.
  bool IsRight(OnDevice::Launch& launch) {
    interp::Arguments found = arguments_;
    launch.Read(found);
    for (size_t i = 0; i < bounds_.size(); ++i) {
      auto at = static_cast<int64_t>(i);
      double wanted = WaveDerivative(arguments_[0].tensor.Get(at), static_cast<int>(bounds_[i]));
      if (std::abs(found[kAdjoint].tensor.Get(at) - wanted) > 1e-4) return false;
    }
    return true;
  }
  static constexpr uint32_t kBounds = 1, kAdjoint = 3;

 private:
  std::unique_ptr<Program> program_;
  std::vector<double> bounds_;
  interp::Arguments arguments_;
};

inline bool Says(const OnDevice& device, const std::string& part) {
  return device.text().find(part) != std::string::npos;
}

/// The rows O1 to O4 and O6: an overflow is reported by the launch that has it, once, whoever has it too, and
/// the next launch is clean.
inline void CheckReport(OnDevice& device) {
  constexpr size_t kThreads = 16;
  Waves waves(std::vector<double>(kThreads, 2));
  OnDevice::Launch launch(device, "waves.grad", waves.arguments());
  auto run = [&](std::vector<double> bounds) {
    waves.SetBounds(std::move(bounds));
    launch.Write(waves.arguments());
    return launch.Run();
  };
  launch.SetVersion(Waves::kBounds, 1);
  launch.Plan();
  device.Must(run(std::vector<double>(kThreads, 2)));
  CHECK(waves.IsRight(launch));
  // A change that is told is followed.
  launch.SetVersion(Waves::kBounds, 2);
  launch.Plan();
  device.Must(run(std::vector<double>(kThreads, 8)));
  CHECK(waves.IsRight(launch));
  // One that is not told is an error: that of sixteen threads, with the need of the one that needs most.
  std::vector<double> grown;
  for (size_t i = 0; i < kThreads; ++i) grown.push_back(static_cast<double>(64 - (i * 7) % kThreads));
  uint32_t status[ADRT_STATUS_BYTES / 4] = {};
  adrt_run_desc desc = {};
  desc.struct_size = sizeof desc;
  desc.status = status;
  waves.SetBounds(grown);
  launch.Write(waves.arguments());
  CHECK(launch.Run(&desc) == ADRT_ERROR_ADSTACK_OVERFLOW);
  INFO(device.text());
  for (const char* part :
       {"kernel 'waves.grad', task 0 (waves.ir:5:3), iteration ",
        "the adstack at waves.ir:7:10 would have needed 64 elements and has 8",
        "Capacities cannot be exceeded unless what they are computed from changes between sizing and launch",
        "the content of 'n'", "another content_version"}) {
    CHECK(Says(device, part));
  }
  CHECK(status[0] == 1);
  CHECK(status[1] == 0);
  CHECK(status[2] == 0);
  CHECK(status[4] >= 49);
  // Again, with nothing changed: sizes that did not hold are computed again, and the retry is right.
  waves.SetBounds(grown);
  launch.Write(waves.arguments());
  device.Must(launch.Run(&desc));
  CHECK(status[0] == 0);
  CHECK(waves.IsRight(launch));
  // One thread alone, and then a launch that fits.
  std::vector<double> one(kThreads, 64);
  one[5] = 65;
  CHECK(run(one) == ADRT_ERROR_ADSTACK_OVERFLOW);
  CHECK(Says(device, "iteration 5: "));
  CHECK(Says(device, "needed 65 elements and has 64"));
  device.Must(run(std::vector<double>(kThreads, 3)));
  CHECK(waves.IsRight(launch));
  // A cap is the caller's word for all that would be read.
  device.Must(adrt_plan_with_cap(launch.plan(), 64 * 1024, device.Error()));
  device.Must(run(std::vector<double>(kThreads, 32)));
  CHECK(waves.IsRight(launch));
  launch.Plan();
  device.Must(adrt_plan_with_cap(launch.plan(), 16 * 1024, device.Error()));
  CHECK(run(std::vector<double>(kThreads, 40000)) == ADRT_ERROR_ADSTACK_OVERFLOW);
  CHECK(Says(device, "raise the cap of adrt_plan_with_cap"));
  // Without a version every launch follows.
  launch.SetVersion(Waves::kBounds, 0);
  launch.Plan();
  for (double bound : {8.0, 16.0, 64.0, 1.0}) {
    device.Must(run(std::vector<double>(kThreads, bound)));
    CHECK(waves.IsRight(launch));
  }
}

/// What is counted changes behind the count: a loop's end in its values, and rows behind a gate.
inline void CheckStaleCounts(OnDevice& device) {
  constexpr int64_t kCount = 300;
  interp::Arguments near = GradientOf("decay", kCount, 1, Many(kCount, 0.5)),
                    far = GradientOf("decay", kCount, 1, Many(kCount, 0.01));
  OnDevice::Launch launch(device, "decay.grad", near);
  launch.SetVersion(0, 1);
  launch.SetVersion(1, 1);
  launch.Plan();
  launch.MustRun();
  launch.Write(far);
  CHECK(launch.Run() == ADRT_ERROR_ADSTACK_OVERFLOW);
  INFO(device.text());
  for (const char* part :
       {"kernel 'decay.grad'", "at waves.ir:16:10", "at least", "'low'", "another content_version"})
    CHECK(Says(device, part));
  launch.Write(far);
  launch.MustRun();
  launch.Write(near);
  launch.MustRun();
}

/// On devices whose threads claim rows: more pass the gate than were counted.
inline void CheckRowsExhausted(OnDevice& device) {
  constexpr int64_t kCount = 1000;
  interp::Arguments few = GradientOf("gated", kCount, 0.5, Gates(kCount, 40)),
                    many = GradientOf("gated", kCount, 0.5, Gates(kCount, 500));
  CountedRows rows;
  OnDevice::Launch launch(device, "gated.grad", few, {.threshold = 1});
  launch.SetVersion(1, 1);
  launch.Plan();
  launch.MustRun();
  rows = ReadCountedRows(launch.plan());
  REQUIRE(rows.groups.size() == 1);
  REQUIRE(rows.groups[0].counted);
  CHECK(rows.groups[0].iterations == 40);
  CHECK(rows.groups[0].rows == 64);
  // 500 pass where 64 rows are, in memory with a canary behind.
  WatchedHeap heap(device, rows.heap_bytes);
  adrt_run_desc desc = heap.Desc();
  launch.Write(many);
  CHECK(launch.Run(&desc) == ADRT_ERROR_ROWS_EXHAUSTED);
  INFO(device.text());
  for (const char* part :
       {"kernel 'gated.grad'", "500 threads passed the gate at waves.ir:24:5", "more than the 64 rows",
        "the content of 'open'", "another content_version", "A row for every thread takes "}) {
    CHECK(Says(device, part));
  }
  CHECK(device.error().needed_bytes > rows.heap_bytes);
  heap.Changed();
  // The next launch counts again, without being told, and is clean.
  launch.Write(many);
  launch.MustRun();
  rows = ReadCountedRows(launch.plan());
  CHECK(rows.groups[0].iterations == 500);
  interp::Arguments found = many;
  launch.Read(found);
  for (int64_t i = 0; i < kCount; ++i) {
    double wanted = many[1].tensor.Get(i) > 0.5 ? WaveDerivative(0.5, 5) : 0;
    REQUIRE(std::abs(found[4].tensor.Get(i) - wanted) < 1e-4);
  }
}

// -------------------------------------------------------------------------------------------- many at once

/// A row is claimed once by a thread and is nobody else's: gates that all threads pass together, every other
/// one, one in 64, none but the last; with more iterations than threads, so that threads come again.
inline void CheckClaims(OnDevice& device, const std::vector<uint32_t>& workers) {
  constexpr int64_t kCount = 3000;
  for (uint32_t most : workers) {
    for (int64_t step : {1, 2, 64, 2999}) {
      INFO(most << " workers, one in " << step << " on " << device.kind());
      std::vector<double> open = Many(kCount, 0);
      for (int64_t i = kCount - 1; i >= 0; i -= step) open[static_cast<size_t>(i)] = 1;
      interp::Arguments given = GradientOf("gated", kCount, 0, open);
      for (int64_t i = 0; i < kCount; ++i) given[0].tensor.Set(i, 0.1 + 0.0003 * static_cast<double>(i));
      OnDevice::Launch launch(device, "gated.grad", given, {.threshold = 1, .workers = most});
      launch.Plan();
      for (int turn = 0; turn < 3; ++turn) {
        launch.Write(given);
        launch.MustRun();
        interp::Arguments found = given;
        launch.Read(found);
        for (int64_t i = 0; i < kCount; ++i) {
          bool passes = given[1].tensor.Get(i) > 0.5;
          double wanted = passes ? WaveDerivative(given[0].tensor.Get(i), 5) : 0;
          REQUIRE(std::abs(found[4].tensor.Get(i) - wanted) < 1e-4);
        }
      }
      CountedRows rows = ReadCountedRows(launch.plan());
      if (rows.groups.empty() || !rows.groups[0].counted) continue;
      uint64_t passing = (kCount - 1) / static_cast<uint64_t>(step) + 1;
      CHECK(rows.groups[0].iterations == passing);
      CHECK(rows.groups[0].rows == (std::min(passing, rows.threads) + 31) / 32 * 32);
    }
  }
}

/// Two plans that run at once with a heap each, one of which overflows: each has its own report.
inline void CheckTwoAtOnce(OnDevice& device) {
  constexpr int64_t kCount = 500;
  constexpr int kTurns = 12;
  interp::Arguments fits = GradientOf("waves", kCount, 0.5, Many(kCount, 20)),
                    grown = GradientOf("waves", kCount, 0.5, Many(kCount, 21));
  OnDevice::Launch good(device, "waves.grad", fits), bad(device, "waves.grad", fits);
  std::vector<adrt_heap*> heaps;
  for (OnDevice::Launch* launch : {&good, &bad}) {
    launch->SetVersion(1, 1);
    launch->Plan();
    heaps.push_back(nullptr);
    device.Must(adrt_heap_create_on(device.device(), &heaps.back(), device.Error()));
    adrt_run_desc desc = {};
    desc.struct_size = sizeof desc;
    desc.heap = heaps.back();
    launch->MustRun(&desc);
  }
  auto run = [](OnDevice::Launch& launch, adrt_heap* heap, adrt_status first, int* mistakes) {
    for (int turn = 0; turn < kTurns; ++turn) {
      adrt_error error = {};
      error.struct_size = sizeof error;
      adrt_run_desc desc = {};
      desc.struct_size = sizeof desc;
      desc.heap = heap;
      // After an overflow sizes are computed again: the launches behind it are right.
      *mistakes += adrt_run(launch.plan(), &desc, &error) != (turn == 0 ? first : ADRT_OK);
    }
  };
  int wrong[2] = {0, 0};
  good.Write(fits);
  bad.Write(grown);
  std::thread other([&] { run(bad, heaps[1], ADRT_ERROR_ADSTACK_OVERFLOW, &wrong[1]); });
  run(good, heaps[0], ADRT_OK, &wrong[0]);
  other.join();
  CHECK(wrong[0] == 0);
  CHECK(wrong[1] == 0);
  for (OnDevice::Launch* launch : {&good, &bad}) {
    int trips = launch == &good ? 20 : 21;
    interp::Arguments given = launch == &good ? fits : grown, found = given;
    launch->Write(given);
    launch->MustRun();
    launch->Read(found);
    for (int64_t i = 0; i < kCount; ++i)
      REQUIRE(std::abs(found[3].tensor.Get(i) - WaveDerivative(0.5, trips)) < 1e-4);
  }
  for (adrt_heap* heap : heaps) adrt_heap_release(heap);
}

/// What a program does that catches an overflow and ends without giving anything back: `device` stays.
inline void OverflowAndLeave(OnDevice* device) {
  auto* waves = new Waves(std::vector<double>(16, 4));
  auto* launch = new OnDevice::Launch(*device, "waves.grad", waves->arguments());
  launch->SetVersion(Waves::kBounds, 1);
  launch->Plan();
  launch->MustRun();
  waves->SetBounds(std::vector<double>(16, 9));
  launch->Write(waves->arguments());
  CHECK(launch->Run() == ADRT_ERROR_ADSTACK_OVERFLOW);
}

// ------------------------------------------------------------------------------------ right, or reported

/// Nests whose bounds lie in the buffers %a and %b; every level's values are kept.
inline std::string RandomNest(uint64_t seed, uint32_t number) {
  const char* kBounds[] = {"(load %a[%i])",
                           "(sub (load %b[%i]), (load %a[%i]))",
                           "(min (load %a[%i]), (load %b[%i]))",
                           "(div (load %b[%i]), 2)",
                           "(load %a[(mod (load %b[%i]), shape(%a, 0))])",
                           "(add (load %a[%i]), OUTER)",
                           "OUTER"};
  uint64_t state = seed * 977 + number * 131 + 7;
  auto pick = [&](uint32_t count) {
    internal::RandomNumber(state);
    return static_cast<uint32_t>(state >> 33) % count;
  };
  uint32_t depth = 1 + pick(3);
  std::string name = "nest" + std::to_string(number);
  std::string text =
      "kernel @" + name +
      "(%x: buffer<f32, 1> diff, %a: buffer<i32, 1> readonly, %b: buffer<i32, 1> readonly, %y: "
      "buffer<f32, 1> diff) {\n  parallel %i in 0..shape(%x, 0) {\n    %v0 = load %x[%i]\n";
  bool gated = pick(3) == 0;
  if (gated) text += "    if (gt (load %a[%i]), 1) {\n";
  for (uint32_t level = 1; level <= depth; ++level) {
    std::string bound = kBounds[pick(level == 1 ? 5 : 7)], outer = "%t" + std::to_string(level - 1);
    for (size_t at = bound.find("OUTER"); at != std::string::npos; at = bound.find("OUTER"))
      bound.replace(at, 5, outer);
    std::string l = std::to_string(level), below = std::to_string(level - 1);
    text += "    %r" + l + " = for %t" + l + " in 0.." + bound + " carry(%v" + l + " = %v" + below + ") {\n";
  }
  text += "    %s = add (sin %v" + std::to_string(depth) +
          "), 0.2\n    yield (mul %s, (sub 1.1, (mul %s, 0.1)))\n    }\n";
  for (uint32_t level = depth; level-- > 1;)
    text += "    yield (sin %r" + std::to_string(level + 1) + ")\n    }\n";
  text += "    store %y[%i], %r1\n";
  if (gated) text += "    }\n";
  return text + "  }\n}\n";
}

/// Random nests of these numbers: sized for some contents they run, launched on others they are right or
/// reported, and never write where they should not.
inline void CheckRightOrReported(OnDevice& device, const std::string& path, uint32_t first, uint32_t end,
                                 uint64_t seed, uint32_t* reported, uint32_t* right) {
  constexpr int64_t kCount = 70;
  for (uint32_t number = first; number < end; ++number) {
    std::string name = "nest" + std::to_string(number);
    auto program = Program::OfFile(path, name);
    uint64_t state = seed + number;
    auto contents = [&](double low, double high) {
      std::vector<double> a = RandomNumbers(kCount, 0, high, ++state * 31),
                          b = RandomNumbers(kCount, low, high + 3, ++state * 57);
      for (double& value : a) value = std::floor(value);
      for (double& value : b) value = std::floor(value);
      program->Buffer("x", {kCount}, RandomNumbers(kCount, 0.1, 1, 3));
      program->Buffer("a", {kCount}, a);
      program->Buffer("b", {kCount}, b);
      program->Zeros("y", {kCount});
      return Seeded(program->arguments(), kCount);
    };
    interp::Arguments sized = contents(0, 4);
    OnDevice::Launch launch(device, name + ".grad", sized);
    OnDevice::Launch follows(device, name + ".grad", sized);
    follows.Plan();
    for (uint32_t n : {1u, 2u}) launch.SetVersion(n, 1);
    launch.Plan();
    Resolve(device, launch, sized);
    uint64_t heap_bytes = launch.Report().heap_bytes;
    WatchedHeap heap(device, heap_bytes);
    adrt_run_desc desc = heap.Desc();
    for (int round = 0; round < 6; ++round) {
      bool unchanged = round % 3 == 0;
      interp::Arguments now = unchanged ? sized : contents(0, round % 3 == 1 ? 4 : 7);
      launch.Write(sized);
      launch.Plan();
      Resolve(device, launch, sized);
      launch.Write(now);
      follows.Write(now);
      follows.MustRun();
      adrt_status status = launch.Run(heap_bytes > 0 ? &desc : nullptr);
      std::string said = device.text();
      heap.Changed();
      INFO(name << " on " << device.kind() << ", round " << round << ": " << said);
      if (unchanged) REQUIRE(status == ADRT_OK);
      if (status != ADRT_OK) {
        REQUIRE(status == ADRT_ERROR_ADSTACK_OVERFLOW);
        REQUIRE(said.find("changes between sizing and launch, here the content of '") != std::string::npos);
        ++*reported;
        continue;
      }
      interp::Arguments expected = now, found = now;
      follows.Read(expected);
      launch.Read(found);
      REQUIRE(Difference(expected, found) < 1e-6);
      ++*right;
    }
  }
}

}  // namespace adc::test
