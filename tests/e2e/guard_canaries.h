#pragma once
// What does not fit into a row is not written: bytes around every row stay what they were.

#include "../support/on_device.h"
#include "guard_inputs.h"

namespace adc::test {

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

/// A kernel that pushes %trips[i] values and sums them up in the adjoint sweep: value t of iteration i is i +
/// t, flags say that this is no multiple of 3. Counted: in every other step the value goes in twice.
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

}  // namespace adc::test
