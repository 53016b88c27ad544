// Rows behind gates on devices: counted by size kernels before a launch, as the CPU's gradients confirm.

#include "../support/folders.h"
#include "../support/this_device.h"
#include "bounds_cases.h"
#include "promise_cases.h"
#include "rows_cases.h"

using namespace adc;
using namespace adc::test;

TEST_CASE("gates of every kind") {
  ThisDevice device(adc::test::TestsFolder() + "/rows/gates.ir");
  CompareGatedKernels(device, adc::test::TestsFolder() + "/rows/gates.ir", 500);
}

TEST_CASE("a grid of which few, some and all cells pass") {
  std::string path = adc::test::SamplesFolder() + "/mpm_grid_op.ir";
  ThisDevice device(path);
  for (double fraction : kGridFractions) CompareGrid(device, path, fraction);
}

TEST_CASE("bounds in large buffers are counted and not read back") {
  std::string path = adc::test::TestsFolder() + "/rows/bounds.ir";
  ThisDevice device(path);
  for (int64_t size : {300, 20000}) CompareBounds(device, path, size);
}

TEST_CASE("promises that data keep or break") {
  ThisDevice device(adc::test::TestsFolder() + "/rows/promises.ir");
  CheckPromises(device, 40);
  CheckPromisesAgain(device);
}
