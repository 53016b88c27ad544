// The samples on Vulkan, beside the same launches on the CPU: values and gradients, in f32 and f64, through
// descriptors and through device addresses, with rows for every thread and with a quarter of that memory.

#include "../support/folders.h"
#include "../support/on_vulkan.h"
#include "sample_cases.h"

using namespace adc;
using namespace adc::test;

namespace {

void Compare(const Sample& sample, const std::string& folder, double tolerance) {
  std::string path = folder + "/" + sample.name + ".ir", gradient = sample.name + std::string(".grad");
  auto program = Program::OfFile(path, sample.name);
  sample.prepare(*program);
  Native native(path, 2);
  OnVulkan vulkan(path);
  interp::Arguments value = program->arguments();
  native.Run(sample.name, value);
  interp::Arguments start = GradientArguments(native, gradient, value), expected = start;
  native.Run(gradient, expected);
  uint64_t whole = 0;
  for (OnVulkan::Way way :
       {OnVulkan::Way{}, {.far = true}, {.budget = 0.25}, {.far = true, .budget = 0.25}}) {
    INFO(sample.name << (way.far ? ", far" : ", near") << ", " << way.budget << " of the heap");
    interp::Arguments forward = program->arguments(), backward = start;
    vulkan.Run(sample.name, forward, {.far = way.far});
    CHECK(Difference(value, forward) < tolerance);
    uint64_t heap = vulkan.Run(gradient, backward, way);
    CHECK(Difference(expected, backward) < tolerance);
    if (way.budget == 1) {
      whole = heap;
    } else if (whole > OnVulkan::kLittle) {
      CHECK(heap <= whole / 4);
    }
  }
}

}  // namespace

TEST_CASE("samples in f64 on Vulkan", "[vulkan]") {
  for (const Sample& sample : kSamples) Compare(sample, adc::test::F64SamplesFolder(), 1e-12);
}

TEST_CASE("samples in f32 on Vulkan", "[vulkan]") {
  for (const Sample& sample : kSamples) Compare(sample, adc::test::SamplesFolder(), 1e-5);
}
