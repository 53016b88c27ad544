// The guard on a real device, from bundles that were compiled elsewhere: tapes of every type with canaries
// around them, reports, counts and rows that hold no more, launches in the caller's stream.
//
//   guard --write FOLDER       writes the kernels: every FOLDER/NAME.ir is to become FOLDER/NAME.adcb
//   guard FOLDER DEVICE        runs them on "cuda" or "vulkan", beside the CPU

#define CATCH_CONFIG_RUNNER
#include <adrt/adrt_cuda.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "../e2e/record_cases.h"

using namespace adc;
using namespace adc::test;

namespace {

constexpr uint32_t kNests = 12;
constexpr uint64_t kNestSeed = 5;

std::string folder, kind;

std::string TapeName(const TapeType& type, bool counted) {
  return std::string("tape_") + type.scalar + (counted ? "_counted" : "_indexed");
}

std::string PathOf(const std::string& name) {
  return folder + "/" + name + ".ir";
}

/// A prepared bundle on a device of this machine.
class OnPrepared : public OnDevice, public Recorder {
 public:
  OnPrepared(const std::string& name, const std::string& on) {
    std::ifstream file(folder + "/" + name + ".adcb", std::ios::binary);
    std::vector<uint8_t> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    INFO(name);
    REQUIRE_FALSE(bytes.empty());
    adrt_host host = TrustingHost();
    OpenBundle(bytes, host);
    Must(on == "cuda"     ? adrt_device_open_cuda(&host, nullptr, &device_, Error())
         : on == "vulkan" ? adrt_device_open_vk(&host, nullptr, &device_, Error())
                          : adrt_device_open_cpu(&host, 2, &device_, Error()));
    LoadModule();
  }

  // CUDA's stream of no name: copies wait for it.
  adrt_status RecordSize(adrt_launch_plan* plan, Region& memory, adrt_error* error) override {
    return adrt_record_size_cuda(plan, nullptr, memory.data(), memory.bytes(), error);
  }
  adrt_status RecordLaunch(adrt_launch_plan* plan, Region* heap, Region& status, adrt_error* error) override {
    return adrt_record_cuda(plan, nullptr, heap ? heap->data() : nullptr, heap ? heap->bytes() : 0,
                            status.data(), error);
  }
  void Submit() override {}
};

int WriteKernels() {
  auto write = [](const std::string& name, const std::string& text) { std::ofstream(PathOf(name)) << text; };
  for (const TapeType& type : kTapeTypes) {
    for (bool counted : {false, true}) write(TapeName(type, counted), TapeKernel(type, counted));
  }
  std::string nests;
  for (uint32_t number = 0; number < kNests; ++number) nests += RandomNest(kNestSeed, number);
  write("nests", nests);
  std::ifstream waves(waves_file);
  write("waves", {std::istreambuf_iterator<char>(waves), std::istreambuf_iterator<char>()});
  return 0;
}

}  // namespace

TEST_CASE("an overflow writes nothing outside of its row") {
  for (const TapeType& type : kTapeTypes) {
    for (bool counted : {false, true}) {
      OnPrepared device(TapeName(type, counted), kind);
      CheckCanaries(device, type, counted, PathOf(TapeName(type, counted)));
    }
  }
}

TEST_CASE("an overflow is one report, and the next launch is clean") {
  OnPrepared device("waves", kind);
  CheckReport(device);
  CheckStaleCounts(device);
  CheckRowsExhausted(device);
  CheckClaims(device, {0, 64, 96, 1000});
  CheckTwoAtOnce(device);
}

TEST_CASE("what was sized runs, and what changed since is right or reported") {
  OnPrepared device("nests", kind);
  uint32_t reported = 0, right = 0;
  CheckRightOrReported(device, PathOf("nests"), kNests, kNestSeed, &reported, &right);
  CHECK(reported > 4);
  CHECK(right > 20);
}

TEST_CASE("counting and launching in the caller's stream") {
  if (kind != "cuda") return;  // on Vulkan with the engine of the sample: tests/e2e/record_device.cpp
  OnPrepared device("waves", kind), cpu("waves", "cpu");
  CheckRecordedCounts(device, device, cpu);
  CheckRecordedRows(device, device, cpu);
  CheckRecordedOverflow(device, device, cpu);
}

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "--write") {
    folder = argv[2];
    return WriteKernels();
  }
  if (argc < 3) {
    std::fprintf(stderr, "usage: guard --write FOLDER | guard FOLDER DEVICE [CATCH2 OPTIONS]\n");
    return 2;
  }
  folder = argv[1];
  kind = argv[2];
  waves_file = PathOf("waves");
  argv[2] = argv[0];
  int result = Catch::Session().run(argc - 2, argv + 2);
  std::printf("guard on %s: %s\n", kind.c_str(), result == 0 ? "all right" : "FAILED");
  return result;
}
