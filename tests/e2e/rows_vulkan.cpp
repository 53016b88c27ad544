// Rows behind gates on Vulkan: counted by size kernels before a launch, as the CPU's gradients confirm.

#include "../support/on_vulkan.h"
#include "rows_cases.h"

using namespace adc;
using namespace adc::test;

namespace {

struct Device {
  explicit Device(const std::string& path) : vulkan(path) {}
  void Run(const std::string& name, interp::Arguments& arguments, uint64_t threshold, CountedRows* rows) {
    vulkan.Run(name, arguments, {.threshold = threshold, .rows = rows});
  }
  OnVulkan vulkan;
};

}  // namespace

TEST_CASE("gates of every kind on Vulkan", "[vulkan]") {
  Device device(std::string(ADC_TESTS) + "/rows/gates.ir");
  CompareGatedKernels(device, std::string(ADC_TESTS) + "/rows/gates.ir", 500);
}

TEST_CASE("a grid of which few, some and all cells pass, on Vulkan", "[vulkan]") {
  std::string path = std::string(ADC_SAMPLES) + "/mpm_grid_op.ir";
  Device device(path);
  for (double fraction : kGridFractions) CompareGrid(device, path, fraction);
}
