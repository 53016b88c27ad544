#pragma once
// A device of the loader's own with the validation layer on, for tests of kernels that run.

#include "vulkan_fixture.h"

namespace fixture {

/// A device, a module and device memory; on leaving, the validation layer must have been silent.
struct VulkanSession {
  LogBox log;
  adrt_bundle* bundle = nullptr;
  adrt_device* device = nullptr;
  adrt_module* module = nullptr;
  std::vector<adrt_memory*> memory;
  ErrorBox error;
  bool expects_validation = false;

  VulkanSession() {
    adrt_host host = log.Host();
    std::vector<uint8_t> file = MakeVulkanBundle();
    Must(adrt_bundle_open(&host, file.data(), file.size(), ADRT_BUNDLE_COPY, &bundle, &error));
    adrt_vk_open_desc open = {};
    open.struct_size = sizeof open;
    open.flags = ADRT_VK_VALIDATE;
    Must(adrt_device_open_vk(&host, &open, &device, &error));
    Must(adrt_module_load(device, bundle, &module, &error));
  }
  VulkanSession(const VulkanSession&) = delete;
  VulkanSession& operator=(const VulkanSession&) = delete;
  ~VulkanSession() {
    for (adrt_memory* one : memory) adrt_memory_release(one);
    adrt_module_release(module);
    adrt_device_release(device);
    adrt_bundle_release(bundle);
    CHECK(log.Validation().empty() != expects_validation);
    if (!expects_validation) CHECK(log.Validation() == "");
  }

  void Must(adrt_status status) {
    INFO(error.text);
    REQUIRE(status == ADRT_OK);
  }
  /// Device memory with the content of `from`.
  template <class T>
  adrt_memory* Upload(const std::vector<T>& from) {
    adrt_memory* made = nullptr;
    Must(adrt_memory_create(device, from.size() * sizeof(T), &made, &error));
    memory.push_back(made);
    Must(adrt_memory_write(made, 0, from.data(), from.size() * sizeof(T), &error));
    return made;
  }
  template <class T>
  std::vector<T> Download(const adrt_memory* from) {
    std::vector<T> to(adrt_memory_bytes(from) / sizeof(T));
    Must(adrt_memory_read(from, 0, to.data(), to.size() * sizeof(T), &error));
    return to;
  }
  /// A plan that the caller releases.
  adrt_launch_plan* Plan(const char* name, std::vector<adrt_arg> args, uint64_t budget = 0) {
    const adrt_kernel* kernel = nullptr;
    Must(adrt_bundle_find_kernel(bundle, name, 0, &kernel, &error));
    adrt_plan_desc desc = {};
    desc.struct_size = sizeof desc;
    desc.args = args.data();
    desc.arg_count = static_cast<uint32_t>(args.size());
    desc.module = module;
    desc.heap_budget = budget;
    adrt_launch_plan* plan = nullptr;
    Must(adrt_plan(kernel, &desc, &plan, &error));
    return plan;
  }
  adrt_status Run(const char* name, std::vector<adrt_arg> args, uint64_t budget = 0) {
    adrt_launch_plan* plan = Plan(name, args, budget);
    adrt_status status = adrt_run(plan, nullptr, &error);
    adrt_plan_release(plan);
    return status;
  }
};

}  // namespace fixture
