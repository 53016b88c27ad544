#pragma once
// The code of one target on a Vulkan device: two pipelines for each entry.
//
// The near one reaches the kernel's buffers through descriptors, which drivers compile to the better code;
// they are pushed into the command buffer, so that recording allocates nothing. The far one reaches them
// through device addresses and has no limits. Which of them a launch takes is decided when it is recorded,
// from the buffers that it gets.

#include "vulkan/device.h"

namespace adrt::vulkan {

/// One task's code. Elements of adrt_module::entries.
struct Entry {
  VkDescriptorSetLayout set_layout = VK_NULL_HANDLE;
  VkPipelineLayout near_layout = VK_NULL_HANDLE;
  VkPipeline near = VK_NULL_HANDLE;              ///< null where the device cannot push so many descriptors
  VkPipelineLayout far_layout = VK_NULL_HANDLE;  ///< of the module
  VkPipeline far = VK_NULL_HANDLE;
};

/// adrt_module::code.
struct Code {
  explicit Code(const artifact::Allocator* allocator) : entries(allocator) {}

  VkShaderModule shaders = VK_NULL_HANDLE;
  VkPipelineLayout far_layout = VK_NULL_HANDLE;
  Vector<Entry> entries;  ///< as adrt_module::entries
};

}  // namespace adrt::vulkan
