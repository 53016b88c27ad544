#include <functional>

#include "fake_vulkan.h"
#include "vulkan_fixture.h"

// The loader against a driver that fails: each call in turn, each function missing in turn, each refusal of
// host memory. Whatever happens, the error says what it was, and nothing is left behind.

using namespace fixture;

namespace {

struct Everything {
  adrt_bundle* bundle = nullptr;
  adrt_device* device = nullptr;
  adrt_module* module = nullptr;
  adrt_memory *x = nullptr, *y = nullptr;
  adrt_launch_plan* plan = nullptr;

  ~Everything() {
    adrt_plan_release(plan);
    adrt_memory_release(x);
    adrt_memory_release(y);
    adrt_module_release(module);
    adrt_device_release(device);
    adrt_bundle_release(bundle);
  }

  /// Opens, loads, uploads, runs, downloads.
  adrt_status Run(const adrt_host& host, const std::vector<uint8_t>& file, adrt_error* error) {
    adrt_vk_open_desc open = {};
    open.struct_size = sizeof open;
    open.get_instance_proc_addr = FakeVulkan::EntryPoint();
    constexpr int64_t kCount = 100;
    double values[kCount] = {};
    int32_t n = 7;
    const adrt_kernel* kernel = nullptr;
    adrt_status status = adrt_bundle_open(&host, file.data(), file.size(), ADRT_BUNDLE_COPY, &bundle, error);
    if (status == ADRT_OK) status = adrt_device_open_vk(&host, &open, &device, error);
    if (status == ADRT_OK) status = adrt_module_load(device, bundle, &module, error);
    if (status == ADRT_OK) status = adrt_memory_create(device, sizeof values, &x, error);
    if (status == ADRT_OK) status = adrt_memory_create(device, sizeof values, &y, error);
    if (status == ADRT_OK) status = adrt_memory_write(x, 0, values, sizeof values, error);
    if (status == ADRT_OK) status = adrt_bundle_find_kernel(bundle, "tape", 0, &kernel, error);
    if (status != ADRT_OK) return status;
    adrt_arg args[] = {BufferArg("x", ADRT_TYPE_F64, adrt_memory_data(x), {kCount}),
                       BufferArg("y", ADRT_TYPE_F64, adrt_memory_data(y), {kCount}),
                       ScalarArg("n", ADRT_TYPE_I32, &n)};
    adrt_plan_desc desc = {};
    desc.struct_size = sizeof desc;
    desc.args = args;
    desc.arg_count = 3;
    desc.module = module;
    status = adrt_plan(kernel, &desc, &plan, error);
    if (status == ADRT_OK) status = adrt_run(plan, nullptr, error);
    if (status == ADRT_OK) status = adrt_memory_read(y, 0, values, sizeof values, error);
    return status;
  }
};

adrt_status StatusOf(VkResult result) {
  if (result == VK_ERROR_DEVICE_LOST) return ADRT_ERROR_DEVICE_LOST;
  if (result == VK_ERROR_OUT_OF_HOST_MEMORY) return ADRT_ERROR_OUT_OF_HOST_MEMORY;
  if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY) return ADRT_ERROR_OUT_OF_DEVICE_MEMORY;
  return ADRT_ERROR_DRIVER;
}

const char* NameOf(VkResult result) {
  if (result == VK_ERROR_DEVICE_LOST) return "VK_ERROR_DEVICE_LOST";
  if (result == VK_ERROR_OUT_OF_HOST_MEMORY) return "VK_ERROR_OUT_OF_HOST_MEMORY";
  if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY) return "VK_ERROR_OUT_OF_DEVICE_MEMORY";
  return "VK_ERROR_INITIALIZATION_FAILED";
}

}  // namespace

TEST_CASE("each call of the driver fails in turn", "[vulkan]") {
  std::vector<uint8_t> file = MakeVulkanBundle();
  for (bool discrete : {false, true}) {
    for (VkResult failure : {VK_ERROR_INITIALIZATION_FAILED, VK_ERROR_DEVICE_LOST,
                             VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY}) {
      long at = 0;
      adrt_status status = ADRT_ERROR_DRIVER;
      while (status != ADRT_OK) {
        FakeVulkan driver;
        driver.discrete = discrete;
        driver.failure = failure;
        driver.fail_at = ++at;
        ErrorBox error;
        status = Everything().Run(TrustingHost(), file, &error);
        INFO("call " << at << ", " << driver.failed_call << ": " << error.text);
        REQUIRE(driver.live == 0);
        REQUIRE((status == ADRT_OK) == driver.failed_call.empty());
        if (status == ADRT_OK) break;
        REQUIRE(status == StatusOf(failure));
        REQUIRE(error.status == status);
        REQUIRE(error.Says(driver.failed_call.c_str()));
        REQUIRE(error.Says(NameOf(failure)));
        REQUIRE(error.native_code == failure);
      }
      CHECK(at > (discrete ? 60 : 50));
    }
  }
}

TEST_CASE("a system with the Vulkan library and no driver has no device", "[vulkan]") {
  std::vector<uint8_t> file = MakeVulkanBundle();
  std::string failed;
  for (long at = 1; failed != "vkCreateInstance"; ++at) {
    FakeVulkan driver;
    driver.failure = VK_ERROR_INCOMPATIBLE_DRIVER;
    driver.fail_at = at;
    ErrorBox error;
    adrt_status status = Everything().Run(TrustingHost(), file, &error);
    failed = driver.failed_call;
    REQUIRE_FALSE(failed.empty());
    CHECK(status == (failed == "vkCreateInstance" ? ADRT_ERROR_NOT_FOUND : ADRT_ERROR_DRIVER));
    CHECK(error.Says(failed.c_str()));
  }
}

TEST_CASE("launches go on after each fault of the driver, and a lost device leaves nothing",
          "[vulkan][faults]") {
  std::vector<uint8_t> file = MakeVulkanBundle();
  for (bool discrete : {false, true}) {
    for (bool lost : {false, true}) {
      for (long at = 1;; ++at) {
        FakeVulkan driver;
        driver.discrete = discrete;
        driver.lost = lost;
        driver.failure = lost ? VK_ERROR_DEVICE_LOST : VK_ERROR_OUT_OF_DEVICE_MEMORY;
        {
          Everything all;
          ErrorBox error;
          REQUIRE(all.Run(TrustingHost(), file, &error) == ADRT_OK);
          char bytes[16] = {};
          auto again = [&] {
            adrt_status status = adrt_memory_write(all.x, 0, bytes, sizeof bytes, &error);
            if (status == ADRT_OK) status = adrt_run(all.plan, nullptr, &error);
            return status == ADRT_OK ? adrt_memory_read(all.y, 0, bytes, sizeof bytes, &error) : status;
          };
          driver.calls = 0;
          driver.fail_at = at;
          adrt_status status = again();
          INFO("call " << at << ", " << driver.failed_call << ": " << error.text);
          REQUIRE((status == ADRT_OK) == driver.failed_call.empty());
          if (status != ADRT_OK) {
            REQUIRE(status == (lost ? ADRT_ERROR_DEVICE_LOST : ADRT_ERROR_OUT_OF_DEVICE_MEMORY));
            REQUIRE(again() == (lost ? ADRT_ERROR_DEVICE_LOST : ADRT_OK));
          }
        }
        REQUIRE(driver.live == 0);
        if (driver.failed_call.empty()) {
          CHECK(at > 3);
          break;
        }
      }
    }
  }
}

TEST_CASE("each function that the driver lacks is named", "[vulkan]") {
  std::vector<uint8_t> file = MakeVulkanBundle();
  std::map<std::string, uint32_t> functions;
  {
    FakeVulkan driver;
    ErrorBox error;
    REQUIRE(Everything().Run(TrustingHost(), file, &error) == ADRT_OK);
    functions = driver.asked_for;
  }
  CHECK(functions.size() > 40);
  for (const auto& [name, count] : functions) {
    FakeVulkan driver;
    driver.missing = name;
    ErrorBox error;
    adrt_status status = Everything().Run(TrustingHost(), file, &error);
    INFO(name << ": " << error.text);
    // An instance or a device that cannot be destroyed is left, what else could be done with it.
    REQUIRE(driver.live == (name == "vkDestroyInstance" ? 1 : name == "vkDestroyDevice" ? 1 : 0));
    if (name == "vkCmdPushDescriptorSetKHR" || name.find("DebugUtils") != std::string::npos) {
      REQUIRE(status == ADRT_OK);
      continue;
    }
    REQUIRE(status == ADRT_ERROR_DRIVER);
    REQUIRE(error.Says(name.c_str()));
  }
}

TEST_CASE("each refusal of host memory is reported", "[vulkan]") {
  std::vector<uint8_t> file = MakeVulkanBundle();
  struct Refusing {
    long calls = 0, refuse_at = 0, held = 0;
  };
  for (long at = 1;; ++at) {
    FakeVulkan driver;
    driver.discrete = true;
    Refusing memory;
    memory.refuse_at = at;
    adrt_host host = TrustingHost();
    host.user = &memory;
    host.allocate = [](void* user, size_t size, size_t alignment) -> void* {
      Refusing& own = *static_cast<Refusing*>(user);
      if (++own.calls == own.refuse_at) return nullptr;
      ++own.held;
      return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    };
    host.release = [](void* user, void* place, size_t, size_t) {
      --static_cast<Refusing*>(user)->held;
      std::free(place);
    };
    ErrorBox error;
    adrt_status status = Everything().Run(host, file, &error);
    INFO("allocation " << at << ": " << error.text);
    REQUIRE(memory.held == 0);
    REQUIRE(driver.live == 0);
    if (status == ADRT_OK) {
      CHECK(at > 100);
      break;
    }
    REQUIRE(status == ADRT_ERROR_OUT_OF_HOST_MEMORY);
    REQUIRE(at < 5000);
  }
}
