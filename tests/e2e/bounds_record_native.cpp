// Bounds records on the CPU, and what they take of the host.

#include <cstdlib>

#include "../support/on_cpu.h"
#include "bounds_record_cases.h"

using namespace adc;
using namespace adc::test;

TEST_CASE("nothing runs where a bound has changed", "[row:C1]") {
  OnCpu device(kRecords, 2, nullptr, true);
  CheckNothingRuns(device);
}

TEST_CASE("a record that fits and iterations that have moved", "[row:C1]") {
  OnCpu device(kRecords, 2, nullptr, true);
  CheckMovedWithRecord(device);
}

TEST_CASE("what a bounds record must be") {
  OnCpu device(kRecords, 2, nullptr, true);
  CheckRecordArguments(device);
}

TEST_CASE("bounds records follow updates of plans") {
  OnCpu device(kRecords, 2, nullptr, true);
  CheckRecordUpdates(device);
}

namespace {

/// Counts what the loader asks of the host.
class CountingCpu : public OnDevice {
 public:
  CountingCpu() {
    adrt_host host = TrustingHost();
    host.user = this;
    host.allocate = [](void* own, size_t size, size_t alignment) -> void* {
      ++static_cast<CountingCpu*>(own)->allocations;
      return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    };
    host.release = [](void*, void* memory, size_t, size_t) { std::free(memory); };
    OpenBundle(CompiledFor(kRecords, "cpu", true), host);
    Must(adrt_device_open_cpu(&host, 3, &device_, Error()));
    LoadModule();
  }
  uint32_t allocations = 0;
};

}  // namespace

TEST_CASE("launches with a record take memory once") {
  CountingCpu device;
  Recorded recorded(device, "ragged");
  recorded.forward->Plan();
  recorded.backward->Plan();
  adrt_heap* heap = nullptr;
  device.Must(adrt_heap_create_on(device.device(), &heap, device.Error()));
  adrt_run_desc desc = {};
  desc.struct_size = sizeof desc;
  desc.heap = heap;
  auto both = [&] {
    recorded.forward->MustRun(&desc);
    recorded.backward->MustRun(&desc);
  };
  both();
  uint32_t before = device.allocations;
  for (int turn = 0; turn < 5; ++turn) both();
  CHECK(device.allocations == before);
  adrt_heap_release(heap);
}
