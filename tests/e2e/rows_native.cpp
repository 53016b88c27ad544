// Bounds in buffers on the CPU: long ones are counted by compiled code, not walked step by step.

#include "../support/folders.h"
#include "../support/on_cpu.h"
#include "bounds_cases.h"

using namespace adc;
using namespace adc::test;

TEST_CASE("bounds in buffers are counted where that is much to evaluate, on the CPU") {
  std::string path = adc::test::TestsFolder() + "/rows/bounds.ir";
  OnCpu device(path, 2);
  for (int64_t size : {300, 20000}) CompareBounds(device, path, size);
}
