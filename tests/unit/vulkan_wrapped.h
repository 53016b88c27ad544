#pragma once
// A device of the caller's on the driver that computes nothing, and a module.

#include "fake_vulkan_desc.h"
#include "vulkan_fixture.h"

namespace fixture {

/// A wrapped device with the features that the bundle asks for, unless told otherwise.
struct Wrapped {
  FakeVulkan driver;
  LogBox log;
  adrt_bundle* bundle = nullptr;
  adrt_device* device = nullptr;
  adrt_module* module = nullptr;
  ErrorBox error;
  VkPhysicalDeviceBufferDeviceAddressFeatures address_features = {};
  VkPhysicalDeviceFeatures2 features = {};
  std::vector<const char*> extensions = {VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME};
  adrt_vk_desc desc = {};

  explicit Wrapped(const std::vector<uint8_t>& file = MakeVulkanBundle()) {
    address_features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES;
    address_features.bufferDeviceAddress = VK_TRUE;
    features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    features.pNext = &address_features;
    features.features.shaderInt64 = features.features.shaderFloat64 = VK_TRUE;
    desc = DescOf(driver, features);
    adrt_host host = log.Host();
    Must(adrt_bundle_open(&host, file.data(), file.size(), ADRT_BUNDLE_COPY, &bundle, &error));
  }
  ~Wrapped() {
    Close();
    adrt_bundle_release(bundle);
    CHECK(driver.live == 0);
  }
  void Must(adrt_status status) {
    INFO(error.text);
    REQUIRE(status == ADRT_OK);
  }
  adrt_status Wrap() {
    adrt_host host = log.Host();
    desc.extensions = extensions.data();
    desc.extension_count = static_cast<uint32_t>(extensions.size());
    return adrt_device_wrap_vk(&host, &desc, &device, &error);
  }
  void Open() {
    Must(Wrap());
    Must(adrt_module_load(device, bundle, &module, &error));
  }
  void Close() {
    adrt_module_release(module);
    adrt_device_release(device);
    module = nullptr;
    device = nullptr;
  }
  adrt_launch_plan* Plan(const char* name, std::vector<adrt_arg> args) {
    const adrt_kernel* kernel = nullptr;
    Must(adrt_bundle_find_kernel(bundle, name, 0, &kernel, &error));
    adrt_plan_desc wanted = {};
    wanted.struct_size = sizeof wanted;
    wanted.args = args.data();
    wanted.arg_count = static_cast<uint32_t>(args.size());
    wanted.module = module;
    adrt_launch_plan* plan = nullptr;
    Must(adrt_plan(kernel, &wanted, &plan, &error));
    return plan;
  }
};

}  // namespace fixture
