// The samples on Metal source that the host runs, beside the same launches on the CPU: values and gradients
// in f32, with rows for every thread and with a quarter of that memory.

#include "../support/on_metal.h"
#include "sample_cases.h"

using namespace adc;
using namespace adc::test;

TEST_CASE("samples in f32 on Metal", "[metal]") {
  for (const Sample& sample : kSamples) {
    std::string path = std::string(ADC_SAMPLES) + "/" + sample.name + ".ir",
                gradient = sample.name + std::string(".grad");
    auto program = Program::OfFile(path, sample.name);
    sample.prepare(*program);
    Native native(path, 2);
    OnMetal metal(path);
    interp::Arguments value = program->arguments();
    native.Run(sample.name, value);
    interp::Arguments start = GradientArguments(native, gradient, value), expected = start;
    native.Run(gradient, expected);
    uint64_t whole = 0;
    for (double budget : {1.0, 0.25}) {
      INFO(sample.name << ", " << budget << " of the heap");
      interp::Arguments forward = program->arguments(), backward = start;
      metal.Run(sample.name, forward, 1);
      CHECK(Difference(value, forward) < 1e-5);
      uint64_t heap = metal.Run(gradient, backward, budget);
      CHECK(Difference(expected, backward) < 1e-5);
      if (budget == 1) {
        whole = heap;
      } else if (whole > OnMetal::kLittle) {
        CHECK(heap <= whole / 4);
      }
    }
  }
}
