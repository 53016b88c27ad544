// The samples on Metal source that the host runs, beside the same launches on the CPU: values and gradients
// in f32, with rows for every thread and with a quarter of that memory.

#include <algorithm>

#include "../support/folders.h"
#include "../support/on_metal.h"
#include "sample_cases.h"

using namespace adc;
using namespace adc::test;

namespace {

/// Lines of the text without those of kernels whose name does not begin with `prefix`.
size_t LinesOf(const std::string& text, const std::string& prefix) {
  size_t lines = 0;
  bool counts = true;
  for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    if (text.compare(at, 12, "kernel void ") == 0) counts = text.compare(at + 12, prefix.size(), prefix) == 0;
    lines += counts ? 1 : 0;
    if (text[at] == '}') counts = true;
  }
  return lines;
}

}  // namespace

TEST_CASE("the Metal source of the real kernels' gradients is short", "[metal]") {
  struct Row {
    const char* sample;
    size_t most;  // lines
  };
  for (const Row& row : {Row{"mpm_grid_op", 2500}, Row{"update_cartesian_space", 1650}}) {
    driver::CompileOptions options;
    options.inputs = {adc::test::SamplesFolder() + "/" + row.sample + ".ir"};
    options.targets = {"metal:2.4"};
    options.emit = driver::Emit::Msl;
    product::Product product;
    REQUIRE(driver::CompileInputs(options.inputs, options, &product) == kExitOk);
    std::string text(product.bytes.begin(), product.bytes.end());
    size_t lines = LinesOf(text, std::string("adc_") + row.sample + "_2Egrad_");
    WARN(row.sample << ": " << lines << " lines of Metal for the gradient, "
                    << std::count(text.begin(), text.end(), '\n') << " with the kernel itself");
    CHECK(lines <= row.most);
    CHECK(lines > 500);
  }
}

TEST_CASE("samples in f32 on Metal", "[metal]") {
  for (const Sample& sample : kSamples) {
    std::string path = adc::test::SamplesFolder() + "/" + sample.name + ".ir",
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
      metal.Run(sample.name, forward);
      CHECK(Difference(value, forward) < 1e-5);
      uint64_t heap = metal.Run(gradient, backward, {.budget = budget});
      CHECK(Difference(expected, backward) < 1e-5);
      if (budget == 1) {
        whole = heap;
      } else if (whole > OnMetal::kLittle) {
        CHECK(heap <= whole / 4);
      }
    }
  }
}
