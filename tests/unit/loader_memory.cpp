#include <cstdlib>
#include <functional>

#include "session.h"

// An allocator that refuses its n-th call, for every n until the work succeeds: each refusal is reported as
// such, nothing is left behind, and the work succeeds afterwards.

using namespace fixture;

namespace {

struct Refusing {
  long calls = 0, refuse_at = 0, held = 0;

  adrt_host Host() {
    adrt_host host = TrustingHost();
    host.user = this;
    host.allocate = [](void* user, size_t size, size_t alignment) -> void* {
      Refusing& own = *static_cast<Refusing*>(user);
      if (++own.calls == own.refuse_at) return nullptr;
      ++own.held;
      return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    };
    host.release = [](void* user, void* memory, size_t, size_t) {
      --static_cast<Refusing*>(user)->held;
      std::free(memory);
    };
    return host;
  }
};

}  // namespace

TEST_CASE("memory that is not aligned as asked is refused, and given back", "[loader]") {
  struct Careless {
    long held = 0;
    bool aligns = true;
  } careless;
  adrt_host host = TrustingHost();
  host.user = &careless;
  // Space for a shift in front of what is given.
  host.allocate = [](void* user, size_t size, size_t alignment) -> void* {
    Careless& own = *static_cast<Careless*>(user);
    size_t unit = alignment < 16 ? 16 : alignment;
    char* memory = static_cast<char*>(std::aligned_alloc(unit, (size + 2 * unit - 1) / unit * unit + unit));
    ++own.held;
    return memory + (own.aligns || alignment < 64 ? unit : unit - 8);
  };
  host.release = [](void* user, void* memory, size_t, size_t alignment) {
    size_t unit = alignment < 16 ? 16 : alignment;
    --static_cast<Careless*>(user)->held;
    uintptr_t place = reinterpret_cast<uintptr_t>(memory);
    std::free(reinterpret_cast<void*>(place % unit == 0 ? place - unit : place - (unit - 8)));
  };
  adrt_device* device = nullptr;
  adrt_heap* heap = nullptr;
  ErrorBox error;
  REQUIRE(adrt_device_open_cpu(&host, 1, &device, &error) == ADRT_OK);
  REQUIRE(adrt_heap_create_on(device, &heap, &error) == ADRT_OK);
  adrt_memory* memory = nullptr;
  REQUIRE(adrt_memory_create(device, 100, &memory, &error) == ADRT_OK);
  adrt_memory_release(memory);
  memory = nullptr;
  careless.aligns = false;
  CHECK(adrt_memory_create(device, 100, &memory, &error) == ADRT_ERROR_OUT_OF_HOST_MEMORY);
  CHECK(error.Says("did not align them to 64"));
  CHECK(memory == nullptr);
  adrt_heap_release(heap);
  adrt_device_release(device);
  CHECK(careless.held == 0);
}

namespace {

// Runs `work` with the first call refused, then the second, until none is; returns the number of refusals.
long RefuseEach(const std::function<adrt_status(const adrt_host&, adrt_error*)>& work) {
  for (long at = 1; at < 5000; ++at) {
    Refusing allocator;
    allocator.refuse_at = at;
    adrt_host host = allocator.Host();
    ErrorBox error;
    adrt_status status = work(host, &error);
    INFO("allocation " << at << ": " << error.text);
    REQUIRE(allocator.held == 0);
    if (status == ADRT_OK) {
      REQUIRE(allocator.calls < at);
      return at - 1;
    }
    REQUIRE(status == ADRT_ERROR_OUT_OF_HOST_MEMORY);
    REQUIRE(error.status == status);
    REQUIRE(error.text[0] != 0);
  }
  return -1;
}

struct Everything {
  adrt_bundle* bundle = nullptr;
  adrt_device* device = nullptr;
  adrt_module* module = nullptr;
  adrt_launch_plan* plan = nullptr;
  ~Everything() {
    adrt_plan_release(plan);
    adrt_module_release(module);
    adrt_device_release(device);
    adrt_bundle_release(bundle);
  }
};

}  // namespace

TEST_CASE("opening a bundle survives every refusal", "[loader]") {
  std::vector<uint8_t> file = MakeBundle();
  long refusals = RefuseEach([&](const adrt_host& host, adrt_error* error) {
    Everything all;
    return adrt_bundle_open(&host, file.data(), file.size(), ADRT_BUNDLE_COPY, &all.bundle, error);
  });
  CHECK(refusals > 50);
}

TEST_CASE("devices and modules survive every refusal", "[loader]") {
  std::vector<uint8_t> file = MakeBundle();
  adrt_host plain = TrustingHost();
  adrt_bundle* bundle = nullptr;
  REQUIRE(adrt_bundle_open(&plain, file.data(), file.size(), ADRT_BUNDLE_COPY, &bundle, nullptr) == ADRT_OK);
  long refusals = RefuseEach([&](const adrt_host& host, adrt_error* error) {
    Everything all;
    adrt_status status = adrt_device_open_cpu(&host, 3, &all.device, error);
    return status != ADRT_OK ? status : adrt_module_load(all.device, bundle, &all.module, error);
  });
  CHECK(refusals >= 6);
  adrt_bundle_release(bundle);
}

TEST_CASE("plans and launches survive every refusal", "[loader]") {
  std::vector<uint8_t> file = MakeBundle();
  adrt_host plain = TrustingHost();
  adrt_bundle* bundle = nullptr;
  REQUIRE(adrt_bundle_open(&plain, file.data(), file.size(), ADRT_BUNDLE_COPY, &bundle, nullptr) == ADRT_OK);
  std::vector<int32_t> x = {3, -1, 5}, out(3);
  int32_t count = 0;
  adrt_arg args[] = {BufferArg("x", ADRT_TYPE_I32, x.data(), {3}),
                     BufferArg("count", ADRT_TYPE_I32, &count, {}),
                     BufferArg("out", ADRT_TYPE_I32, out.data(), {3})};
  const adrt_kernel* kernel = nullptr;
  REQUIRE(adrt_bundle_find_kernel(bundle, "compact", 0, &kernel, nullptr) == ADRT_OK);
  long refusals = RefuseEach([&](const adrt_host& host, adrt_error* error) {
    Everything all;
    adrt_status status = adrt_device_wrap_cpu(&host, nullptr, &all.device, error);
    if (status == ADRT_OK) status = adrt_module_load(all.device, bundle, &all.module, error);
    adrt_plan_desc desc = {};
    desc.struct_size = sizeof desc;
    desc.args = args;
    desc.arg_count = 3;
    desc.module = all.module;
    if (status == ADRT_OK) status = adrt_plan(kernel, &desc, &all.plan, error);
    if (status == ADRT_OK) status = adrt_run(all.plan, nullptr, error);
    if (status == ADRT_OK) {
      adrt_stack_report report = {};
      report.struct_size = sizeof report;
      status = adrt_plan_stack(all.plan, 1, 0, &report, error);
    }
    return status;
  });
  CHECK(refusals > 10);  // a plan is one piece
  CHECK(out == std::vector<int32_t>{6, 10, 0});
  adrt_bundle_release(bundle);
}
