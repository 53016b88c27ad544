#pragma once
// The driver that computes nothing, with a device on which the loader confines unverified code: one made with
// robust buffer access.

#include "fake_vulkan_desc.h"

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
    desc = DescOf(driver, features);
    desc.extensions = &extension;
    desc.extension_count = 1;
  }
  RobustVulkan(const RobustVulkan&) = delete;
  RobustVulkan& operator=(const RobustVulkan&) = delete;
};

}  // namespace fixture
