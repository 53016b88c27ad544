// Random kernels and their gradients on Metal source that the host runs, beside the CPU's code: the same
// numbers, with rows for every thread and for few. All of them are one file, so that the Metal text is
// compiled once.

#include <filesystem>
#include <fstream>

#include "../support/native.h"
#include "../support/on_metal.h"
#include "../support/program.h"
#include "../support/random_arguments.h"
#include "../support/random_kernel.h"

using namespace adc;
using namespace adc::test;

namespace {

constexpr int64_t kExtent = 77;
constexpr uint64_t kKernels = 40;

std::string NameOf(uint64_t seed) {
  return "random" + std::to_string(seed);
}

/// The file of all kernels; it goes with the object.
struct KernelFile {
  std::filesystem::path path;
  KernelFile() {
    path = std::filesystem::temp_directory_path() / ("adc-random-metal-" + std::to_string(getpid()) + ".ir");
    std::ofstream file(path);
    for (uint64_t seed = 0; seed < kKernels; ++seed) {
      RandomKernelConfig config;
      config.scalar = "f32";
      config.vectors = seed % 2 == 0;
      // Half of them are made for reverse mode.
      config.differentiable = seed % 4 < 2;
      config.tasks = config.differentiable ? 1 : 1 + static_cast<uint32_t>(seed % 3);
      std::string text = RandomKernel(seed, config);
      const std::string head = "kernel @random(";
      REQUIRE(text.starts_with(head));
      std::string all = "kernel @" + NameOf(seed) + "(" + text.substr(head.size());
      // What is not differentiable has nothing to differentiate.
      for (size_t at = all.find(" diff"); !config.differentiable && at != std::string::npos;
           at = all.find(" diff")) {
        all.erase(at, 5);
      }
      file << all;
    }
  }
  ~KernelFile() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
};

}  // namespace

TEST_CASE("random kernels and gradients compute on Metal what the CPU's code computes", "[metal]") {
  KernelFile file;
  Native native(file.path, 1);
  OnMetal metal(file.path);
  int gradients = 0;
  for (uint64_t seed = 0; seed < kKernels; ++seed) {
    auto program = Program::OfFile(file.path, NameOf(seed));
    interp::Arguments start, value, got;
    start = RandomArguments(program->module(), program->function(), seed, kExtent);
    value = got = start;
    native.Run(NameOf(seed), value);
    metal.Run(NameOf(seed), got);
    INFO("seed " << seed);
    CHECK(LargestDifference(value, got) < 5e-5);
    if (seed % 4 >= 2) continue;
    std::string gradient = NameOf(seed) + ".grad";
    interp::Arguments derived = native.DerivedArguments(gradient, value);
    for (size_t n = value.list.size(); n < derived.list.size(); ++n) {
      interp::Tensor& tensor = derived[n].tensor;
      for (int64_t k = 0; k < tensor.ScalarCount(); ++k)
        tensor.Set(k, 0.125 * static_cast<double>(k % 9) - 0.5);
    }
    for (double budget : {1.0, 0.25}) {
      interp::Arguments expected = derived, found = derived;
      native.Run(gradient, expected);
      metal.Run(gradient, found, {.budget = budget});
      INFO("gradient, " << budget << " of the heap");
      CHECK(LargestDifference(expected, found) < 5e-5);
      ++gradients;
    }
  }
  CHECK(gradients == kKernels);
}
