// Tests of the loader's interface on a real device, from bundles that were compiled elsewhere, beside the
// CPU: the guard here, and those that every kind of device has (tests/e2e/*_device.cpp). Run from the
// project's root, whose kernels it reads.
//
//   cases --write FOLDER                    writes kernels into FOLDER/written: see prepare_cases
//   cases FOLDER DEVICE [CATCH2 OPTIONS]    runs on "cuda" or "vulkan" what prepare_cases left in FOLDER

#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>

#include "../e2e/record_cases.h"
#include "../e2e/words_cases.h"
#include "../support/on_prepared.h"
#include "../support/run_tests.h"

using namespace adc;
using namespace adc::test;

namespace {

constexpr uint32_t kNests = 12;
constexpr uint64_t kNestSeed = 5;

std::string TapeName(const TapeType& type, bool counted) {
  return std::string("tape_") + type.scalar + (counted ? "_counted" : "_indexed");
}

std::string Written(const std::string& name) {
  return prepared_folder + "/written/" + name + ".ir";
}

int WriteKernels() {
  auto write = [](const std::string& name, const std::string& text) { std::ofstream(Written(name)) << text; };
  std::filesystem::create_directories(prepared_folder + "/written");
  for (const TapeType& type : kTapeTypes) {
    for (bool counted : {false, true}) write(TapeName(type, counted), TapeKernel(type, counted));
  }
  for (uint32_t number = 0; number < kNests; ++number)
    write("nest" + std::to_string(number), RandomNest(kNestSeed, number));
  write("words", WordsText());
  return 0;
}

}  // namespace

TEST_CASE("an overflow writes nothing outside of its row", "[guard]") {
  for (const TapeType& type : kTapeTypes) {
    for (bool counted : {false, true}) {
      std::string path = Written(TapeName(type, counted));
      OnPrepared device(path);
      CheckCanaries(device, type, counted, path);
    }
  }
}

TEST_CASE("an overflow is one report, and the next launch is clean", "[guard]") {
  OnPrepared device(waves_file);
  CheckReport(device);
  CheckStaleCounts(device);
  CheckRowsExhausted(device);
  CheckClaims(device, {0, 64, 96, 1000});
  CheckTwoAtOnce(device);
}

TEST_CASE("what was sized runs, and what changed since is right or reported", "[nests]") {
  uint32_t reported = 0, right = 0;
  for (uint32_t number = 0; number < kNests; ++number) {
    std::string path = Written("nest" + std::to_string(number));
    OnPrepared device(path);
    CheckRightOrReported(device, path, number, number + 1, kNestSeed, &reported, &right);
  }
  CHECK(reported > 4);
  CHECK(right > 20);
}

TEST_CASE("a launch hands over any number of words", "[words]") {
  std::string path = Written("words");
  OnPrepared device(path);
  CheckWords(device, path);
}

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "--write") {
    prepared_folder = argv[2];
    return WriteKernels();
  }
  if (argc < 3) {
    std::fprintf(stderr, "usage: cases --write FOLDER | cases FOLDER DEVICE [CATCH2 OPTIONS]\n");
    return 2;
  }
  prepared_folder = argv[1];
  prepared_kind = argv[2];
  argv[2] = argv[0];
  int result = RunTests(argc - 2, argv + 2);
  std::printf("cases on %s: %s\n", prepared_kind.c_str(), result == 0 ? "all right" : "FAILED");
  return result;
}
