#pragma once
// Bounds records through the loader's interface: what a launch that finds a change leaves alone, what it asks
// for, and other arguments for the plans of a kernel and its gradient.

#include "../support/folders.h"
#include "../support/on_device.h"
#include "../support/program.h"
#include "../support/recorder.h"

namespace adc::test {

inline const std::string kRecords = adc::test::TestsFolder() + "/launches/record.ir";

/// A kernel of launches/record.ir and its gradient over one memory.
class Recorded {
 public:
  static constexpr int64_t kSize = 300;

  Recorded(OnDevice& device, const std::string& name) : program_(Program::OfFile(kRecords, name)) {
    std::vector<double> x, trips;
    for (int64_t k = 0; k < kSize; ++k) {
      x.push_back(0.1 + 0.002 * static_cast<double>(k));
      trips.push_back(static_cast<double>((k * 7) % 5));
    }
    program_->Buffer("x", {kSize}, x);
    program_->Zeros("y", {kSize});
    if (name == "ragged") {
      program_->Buffer("n", {kSize}, trips);
      program_->Number("scale", 0.9);
    } else if (name == "dealt") {
      program_->Buffer("n", {1}, {40});
    } else {
      program_->Number("n", 4);
    }
    arguments = program_->arguments();
    forward = std::make_unique<OnDevice::Launch>(device, name, arguments);
    for (double start : {7.0, 1.0}) {  // of x.adj, which nobody may touch after a change, and y.adj
      interp::Argument& companion = arguments.list.emplace_back();
      companion.tensor = interp::Tensor::Zeros(ir::Type::Of(ir::Scalar::F32), {kSize});
      for (int64_t k = 0; k < kSize; ++k) companion.tensor.Set(k, start);
    }
    backward = std::make_unique<OnDevice::Launch>(device, name + ".grad", arguments);
    forward->Plan();
    bytes = forward->Report().bounds_bytes;
    memory = device.NewMemory(bytes + 64);
    forward->SetRecord(adrt_memory_data(memory.get()), bytes);
    backward->SetRecord(adrt_memory_data(memory.get()), bytes);
  }

  /// x.adj as the gradient has left it.
  double FirstAdjoint() {
    interp::Arguments after = arguments;
    backward->Read(after);
    return after[arguments.list.size() - 2].tensor.Get(0);
  }
  /// The gradient's list of trips.
  void SetTrips(int64_t element, double trips) {
    arguments[2].tensor.Set(element, trips);
    backward->Write(2, arguments[2]);
  }

  interp::Arguments arguments;  ///< of the gradient; the kernel's come first
  std::unique_ptr<OnDevice::Launch> forward, backward;
  OnDevice::MemoryHandle memory;
  uint64_t bytes = 0;

 private:
  std::unique_ptr<Program> program_;
};

/// Nothing runs where a bound has changed, all runs again where it is back, as often as wanted.
inline void CheckNothingRuns(OnDevice& device) {
  Recorded recorded(device, "ragged");
  CHECK(recorded.bytes == 40);
  recorded.forward->Plan();
  recorded.forward->MustRun();
  recorded.backward->Plan();
  for (int turn = 0; turn < 2; ++turn) {
    recorded.SetTrips(3, 4);
    uint32_t block[ADRT_STATUS_BYTES / 4] = {};
    adrt_run_desc desc = {};
    desc.struct_size = sizeof desc;
    desc.status = block;
    CHECK(recorded.backward->Run(&desc) == ADRT_ERROR_BOUNDS_CHANGED);
    CHECK(device.text().find("record.ir:6:10 made 600 trips in 'ragged' and would make 603 now") !=
          std::string::npos);
    CHECK(adrt_status_read(recorded.backward->plan(), block, device.Error()) == ADRT_ERROR_BOUNDS_CHANGED);
    CHECK(recorded.FirstAdjoint() == (turn == 0 ? 7 : 8));
    recorded.SetTrips(3, 1);
    recorded.backward->MustRun();  // the first element makes no trip: its adjoint is y's
    CHECK(recorded.FirstAdjoint() == 8 + turn);
    recorded.backward->Write(5, recorded.arguments[5]);  // the gradient clears the adjoint of what is stored
  }
}

/// The record fits, and the gradient's own iterations have changed since it was sized: what is reported is
/// that, and not a loop of the record.
inline void CheckMovedWithRecord(OnDevice& device) {
  Recorded recorded(device, "dealt");
  recorded.backward->SetVersion(2, 1);
  recorded.forward->Plan();
  recorded.backward->Plan();
  recorded.forward->MustRun();
  recorded.backward->MustRun();
  recorded.backward->Write(recorded.arguments);
  recorded.arguments[2].tensor.Set(0, 25);
  recorded.forward->Write(2, recorded.arguments[2]);
  recorded.backward->Write(2, recorded.arguments[2]);
  recorded.forward->MustRun();
  CHECK(recorded.backward->Run() == ADRT_ERROR_ADSTACK_OVERFLOW);
  INFO(device.text());
  for (const char* part : {"kernel 'dealt.grad'", "made for 40 iterations", "come to 25 now"})
    CHECK(device.text().find(part) != std::string::npos);
  recorded.backward->MustRun();
  // And the other way round: the record does not fit.
  recorded.SetTrips(0, 30);
  CHECK(recorded.backward->Run() == ADRT_ERROR_BOUNDS_CHANGED);
  INFO(device.text());
  CHECK(device.text().find("made 25 trips in 'dealt' and would make 30 now") != std::string::npos);
}

/// Sizes and places that a record must have.
inline void CheckRecordArguments(OnDevice& device) {
  Recorded recorded(device, "ragged");
  void* data = adrt_memory_data(recorded.memory.get());
  recorded.forward->SetRecord(data, recorded.bytes - 1);
  CHECK(recorded.forward->TryPlan() == ADRT_ERROR_ARGUMENT);
  CHECK(device.error().needed_bytes == recorded.bytes);
  CHECK(device.text().find("it takes 40 bytes at a multiple of 8, given 39") != std::string::npos);
  OnDevice::MemoryHandle small = device.NewMemory(8);
  recorded.forward->SetRecord(adrt_memory_data(small.get()), recorded.bytes);
  // Of an address, on a CPU or of CUDA, nobody knows where its memory ends.
  if (device.kind() == "vulkan" || device.kind() == "metal") {
    CHECK(recorded.forward->TryPlan() == ADRT_ERROR_ARGUMENT);
    CHECK(device.error().needed_bytes == recorded.bytes);
  }
  Region odd(device.kind(), recorded.memory.get(), 4, recorded.bytes);
  recorded.forward->SetRecord(odd.data(), recorded.bytes);
  CHECK(recorded.forward->TryPlan() == ADRT_ERROR_ARGUMENT);
  CHECK(device.text().find("multiple of 8") != std::string::npos);
  CHECK(device.text().find("its bounds record is not aligned") != std::string::npos);
  recorded.forward->SetRecord(recorded.forward->args()[0].data, recorded.bytes);
  CHECK(recorded.forward->TryPlan() == ADRT_ERROR_ARGUMENT);
  CHECK(device.text().find("its bounds record shares memory with %") != std::string::npos);
  // A record that does not begin where a descriptor may serves as well.
  Region shifted(device.kind(), recorded.memory.get(), 8, recorded.bytes);
  recorded.forward->SetRecord(shifted.data(), recorded.bytes);
  recorded.backward->SetRecord(shifted.data(), recorded.bytes);
  recorded.forward->Plan();
  recorded.forward->MustRun();
  recorded.backward->Plan();
  recorded.backward->MustRun();
  recorded.SetTrips(0, 1);
  CHECK(recorded.backward->Run() == ADRT_ERROR_BOUNDS_CHANGED);
}

/// Another number of trips for a plan of @even or its gradient.
inline void UpdateTrips(OnDevice& device, OnDevice::Launch& launch, int32_t trips) {
  adrt_arg arg = *std::find_if(launch.args().begin(), launch.args().end(),
                               [](const adrt_arg& one) { return one.index == 2; });
  arg.data = &trips;
  device.Must(adrt_plan_update(launch.plan(), &arg, 1, device.Error()));
}

/// Plans that are given other arguments: their records follow.
inline void CheckRecordUpdates(OnDevice& device) {
  Recorded recorded(device, "even");
  recorded.forward->Plan();
  recorded.forward->MustRun();
  recorded.backward->Plan();
  recorded.backward->MustRun();
  auto set = [&](OnDevice::Launch& launch, int32_t trips) { UpdateTrips(device, launch, trips); };
  set(*recorded.backward, 5);
  CHECK(recorded.backward->Run() == ADRT_ERROR_BOUNDS_CHANGED);
  CHECK(device.text().find("made 4 trips in 'even' and would make 5 now") != std::string::npos);
  set(*recorded.forward, 5);
  recorded.forward->MustRun();
  recorded.backward->MustRun();
  set(*recorded.backward, 4);
  CHECK(recorded.backward->Run() == ADRT_ERROR_BOUNDS_CHANGED);
}

/// Launches in the caller's own queue, one after the other, and what the last one's status block says.
inline adrt_status RecordAll(OnDevice& device, Recorder& recorder,
                             const std::vector<OnDevice::Launch*>& launches) {
  std::vector<OnDevice::MemoryHandle> memory;
  uint32_t words[ADRT_STATUS_BYTES / 4] = {};
  for (OnDevice::Launch* launch : launches) {
    uint64_t bytes = std::max<uint64_t>(launch->Report().heap_bytes, 256);
    Region heap(device.kind(), memory.emplace_back(device.NewMemory(bytes)).get(), 0, bytes);
    Region status(device.kind(), memory.emplace_back(device.NewMemory(sizeof words)).get(), 0, sizeof words);
    device.Must(recorder.RecordLaunch(launch->plan(), &heap, status, device.Error()));
  }
  recorder.Submit();
  device.Must(adrt_memory_read(memory.back().get(), 0, words, sizeof words, device.Error()));
  return adrt_status_read(launches.back()->plan(), words, device.Error());
}

/// A recorded gradient runs whatever its record says; its status block tells.
inline void CheckRecordsInQueue(OnDevice& device, Recorder& recorder) {
  Recorded recorded(device, "even");
  uint64_t without = recorded.forward->Report().heap_bytes;
  recorded.forward->Plan();
  recorded.backward->Plan();
  CHECK(recorded.forward->Report().heap_bytes > without);
  CHECK(RecordAll(device, recorder, {recorded.forward.get(), recorded.backward.get()}) == ADRT_OK);
  CHECK(recorded.FirstAdjoint() != 7);
  UpdateTrips(device, *recorded.backward, 6);
  CHECK(RecordAll(device, recorder, {recorded.forward.get(), recorded.backward.get()}) ==
        ADRT_ERROR_BOUNDS_CHANGED);
  CHECK(device.text().find("made 4 trips in 'even' and would make 6 now") != std::string::npos);
  // The record is still the kernel's.
  UpdateTrips(device, *recorded.backward, 4);
  CHECK(RecordAll(device, recorder, {recorded.backward.get()}) == ADRT_OK);
}

}  // namespace adc::test
