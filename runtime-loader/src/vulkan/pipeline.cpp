#include <atomic>

#include "artifact/gpu_abi.h"
#include "vulkan/module.h"

// Pipelines, made by adrt_module_load, or where the caller wants that when a recording first takes them.

namespace adrt::vulkan {
namespace {

VkPipeline MakePipeline(const Device& device, const Entry& entry, const char* symbol, VkPipelineLayout layout,
                        adrt_error* error) {
  VkComputePipelineCreateInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
  info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = entry.code->shaders;
  info.stage.pName = symbol;
  info.layout = layout;
  static constexpr VkSpecializationMapEntry kLlvmpipe = {ADRT_VULKAN_LLVMPIPE, 0, sizeof(VkBool32)};
  static constexpr VkBool32 kYes = VK_TRUE;
  static constexpr VkSpecializationInfo kSpecialized = {1, &kLlvmpipe, sizeof kYes, &kYes};
  if (device.cuts_loops) info.stage.pSpecializationInfo = &kSpecialized;
  VkPipeline made = VK_NULL_HANDLE;
  VkResult result = device.api.CreateComputePipelines(device.handle, device.pipeline_cache, 1, &info,
                                                      device.callbacks, &made);
  if (result != VK_SUCCESS) {
    DriverFailed(error, "vkCreateComputePipelines", result);
    return VK_NULL_HANDLE;
  }
  Name(device, VK_OBJECT_TYPE_PIPELINE, made, symbol);
  if (device.hooks.pipeline_made) device.hooks.pipeline_made(device.hooks.user, symbol);
  return made;
}

}  // namespace

VkPipeline PipelineOf(const Device& device, Entry& entry, bool near, adrt_error* error) {
  std::atomic_ref<VkPipeline> slot(near ? entry.near : entry.far);
  VkPipeline there = slot.load(std::memory_order_acquire);
  if (there != VK_NULL_HANDLE) return there;
  const artifact::String& symbol = near ? entry.meta->symbol : entry.meta->far_symbol;
  bool binds = near && !entry.meta->bindings.empty();
  VkPipeline made =
      MakePipeline(device, entry, symbol.c_str(), binds ? entry.near_layout : entry.far_layout, error);
  if (made == VK_NULL_HANDLE || slot.compare_exchange_strong(there, made, std::memory_order_acq_rel))
    return made;
  device.api.DestroyPipeline(device.handle, made, device.callbacks);
  return there;
}

}  // namespace adrt::vulkan
