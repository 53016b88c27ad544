#pragma once
// What an engine tells the loader of the driver that is not there.

#include <adrt/adrt_vk.h>

#include "fake_vulkan.h"

namespace fixture {

/// The driver's handles and functions, with `features`, which outlive it; no extensions.
inline adrt_vk_desc DescOf(const FakeVulkan& driver, const VkPhysicalDeviceFeatures2& features) {
  adrt_vk_desc desc = {};
  desc.struct_size = sizeof desc;
  desc.instance = driver.instance;
  desc.physical_device = driver.physical;
  desc.device = driver.device;
  desc.queue = driver.queue;
  desc.features = &features;
  desc.get_instance_proc_addr = FakeVulkan::EntryPoint();
  return desc;
}

}  // namespace fixture
