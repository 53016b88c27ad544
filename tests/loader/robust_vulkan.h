#pragma once
// The driver that computes nothing, with a device on which the loader confines unverified code: one made with
// robust buffer access.

#include <adrt/adrt_vk.h>

#include "fake_vulkan.h"

namespace fixture {

struct RobustVulkan {
  FakeVulkan driver;
  VkPhysicalDeviceVulkan12Features more = {};
  VkPhysicalDeviceFeatures2 features = {};
  const char* extension = VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME;
  adrt_vk_desc desc = {};  ///< to be changed before adrt_device_wrap_vk gets it

  RobustVulkan() {
    more.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
    more.bufferDeviceAddress = VK_TRUE;
    features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    features.pNext = &more;
    features.features.shaderInt64 = features.features.shaderFloat64 = VK_TRUE;
    features.features.robustBufferAccess = VK_TRUE;
    desc.struct_size = sizeof desc;
    desc.instance = driver.instance;
    desc.physical_device = driver.physical;
    desc.device = driver.device;
    desc.queue = driver.queue;
    desc.features = &features;
    desc.extensions = &extension;
    desc.extension_count = 1;
    desc.get_instance_proc_addr = FakeVulkan::EntryPoint();
  }
  RobustVulkan(const RobustVulkan&) = delete;
  RobustVulkan& operator=(const RobustVulkan&) = delete;
};

}  // namespace fixture
