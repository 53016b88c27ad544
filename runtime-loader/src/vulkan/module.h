#pragma once
// The code of one target on a Vulkan device: two pipelines for each entry.
//
// The near one reaches the kernel's buffers through descriptors, which drivers compile to the better code;
// they are pushed into the command buffer, so that recording allocates nothing, or where that cannot be, and
// there is no far one, they are a set (sets.cpp). The far one reaches buffers through device
// addresses and has no limits. Which of them a launch takes is decided when it is recorded,
// from the buffers that it gets.

#include "vulkan/device.h"

namespace adrt::vulkan {

/// The descriptors that one launch hands to the driver at once: code with more bindings than that takes
/// device addresses.
inline constexpr uint32_t kMostDescriptors = 128;

struct Code;

/// One task's code. Elements of adrt_module::entries.
struct Entry {
  const artifact::EntryMeta* meta = nullptr;
  const Code* code = nullptr;
  bool has_near = false;  ///< false where the device cannot have that many descriptors
  bool has_far = false;
  VkDescriptorSetLayout set_layout = VK_NULL_HANDLE;
  VkPipelineLayout near_layout = VK_NULL_HANDLE;
  bool pushes = true;                            ///< they are pushed
  VkPipelineLayout far_layout = VK_NULL_HANDLE;  ///< of the module
  /// To be had from PipelineOf: null until they are made.
  VkPipeline near = VK_NULL_HANDLE, far = VK_NULL_HANDLE;
};

/// The pipeline, which is made where it is not there yet; null with the error set. Threads that want the same
/// one at once each make it, and all but one of them are destroyed.
VkPipeline PipelineOf(const Device& device, Entry& entry, bool near, adrt_error* error);

/// A set that holds `writes`, for a launch in `commands`; null with the error set. It lives until the
/// loader's own commands are done; of others it goes to what the plan holds.
VkDescriptorSet SetOf(Device& device, const Entry& entry, VkCommandBuffer commands, void** held,
                      VkWriteDescriptorSet* writes, uint32_t count, adrt_error* error);

/// The parts that a dispatch binds.
struct Dispatched {
  VkPipeline pipeline;
  VkPipelineLayout layout;
  VkDescriptorSet set;  ///< null: `writes` are pushed
  uint32_t count;       ///< of descriptors; 0: the code takes device addresses
  VkDescriptorBufferInfo buffers[kMostDescriptors];
  VkWriteDescriptorSet writes[kMostDescriptors];  ///< point into `buffers`
};
/// Decides how a task is reached: all but the set. Makes and records nothing.
bool Prepare(const Device& device, const LaunchTask& task, Dispatched* made, adrt_error* error);
/// Makes the set, where it takes one.
bool MakeSet(Device& device, VkCommandBuffer commands, const LaunchTask& task, Dispatched* made,
             adrt_error* error);
/// Records what the task finds its words through; a barrier comes between that and the task.
void WriteWords(const Device& device, VkCommandBuffer commands, const LaunchTask& task);
/// With `blocks` that is a place in memory where their number lies, followed by 1 and 1; null: the task's.
void Dispatch(const Device& device, VkCommandBuffer commands, const LaunchTask& task, const Dispatched& made,
              const Place* blocks);

/// adrt_module::code.
struct Code {
  explicit Code(const artifact::Allocator* allocator) : entries(allocator) {}

  VkShaderModule shaders = VK_NULL_HANDLE;  ///< null once every pipeline is made
  VkPipelineLayout far_layout = VK_NULL_HANDLE;
  Vector<Entry> entries;  ///< as adrt_module::entries
};

}  // namespace adrt::vulkan
