#include "artifact/gpu_abi.h"
#include "core/launch.h"
#include "vulkan/module.h"

// Recording: dispatches, and what must lie around them. The words of a task go into its part of the heap, and
// the push constants say where; a recorded launch is complete in itself and can be submitted again.

namespace adrt::vulkan {
namespace {

constexpr uint32_t kMostPushed = 64;  // more bindings than that go the far way

// Whether every binding can be a descriptor; fills those.
bool FillDescriptors(const Device& device, const LaunchTask& task, VkDescriptorBufferInfo* buffers,
                     VkWriteDescriptorSet* writes) {
  const Vector<artifact::BindingMeta>& bindings = task.meta->bindings;
  if (bindings.size() > kMostPushed) return false;
  for (size_t index = 0; index < bindings.size(); ++index) {
    Place place;
    uint64_t bytes = 0;
    switch (bindings[index].of) {
      case artifact::BindingOf::kParam:
        place = task.params[bindings[index].param].place;
        bytes = task.params[bindings[index].param].bytes;
        break;
      case artifact::BindingOf::kWords:
        place = task.words_place;
        bytes = place.bytes;
        break;
      case artifact::BindingOf::kHeap:
        place = task.heap;
        bytes = place.bytes;
        break;
      case artifact::BindingOf::kStatus:
        place = task.status;
        bytes = place.bytes;
        break;
    }
    if (place.buffer == 0 || bytes == 0 || bytes > device.limits.storage_range ||
        place.offset % device.limits.storage_alignment != 0) {
      return false;
    }
    buffers[index] = {BufferOf(place), place.offset, bytes};
    writes[index] = {};
    writes[index].sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
    writes[index].dstBinding = bindings[index].number;
    writes[index].descriptorCount = 1;
    writes[index].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    writes[index].pBufferInfo = &buffers[index];
  }
  return true;
}

void WriteWords(const Device& device, VkCommandBuffer commands, const LaunchTask& task) {
  static_assert(sizeof(uint64_t) * ADRT_GPU_MAX_WORDS <= 65536, "one update takes 64 KiB");
  device.api.CmdUpdateBuffer(commands, BufferOf(task.words_place), task.words_place.offset,
                             task.words.size() * sizeof(uint64_t), task.words.data());
  VkMemoryBarrier barrier = {};
  barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
  barrier.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
  barrier.dstAccessMask = VK_ACCESS_SHADER_READ_BIT;
  device.api.CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                                VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &barrier, 0, nullptr, 0, nullptr);
}

}  // namespace

bool Clear(adrt_device& device, void* queue, const Place& place, adrt_error*) {
  Of(device).api.CmdFillBuffer(static_cast<VkCommandBuffer>(queue), BufferOf(place), place.offset,
                               place.bytes, 0);
  return true;
}

bool Launch(adrt_device& base, void* queue, const LaunchTask& task, adrt_error* error) {
  const Device& device = Of(base);
  const Entry& entry = *static_cast<const Entry*>(task.entry);
  VkCommandBuffer commands = static_cast<VkCommandBuffer>(queue);
  VkDescriptorBufferInfo buffers[kMostPushed];
  VkWriteDescriptorSet writes[kMostPushed];
  bool near = entry.near && FillDescriptors(device, task, buffers, writes);
  if (!near && !entry.far) {
    return Refuse(error, ADRT_ERROR_DEVICE_FEATURE, "'", task.meta->symbol.view(),
                  "': a buffer of it is larger than a descriptor of the device reaches (",
                  device.limits.storage_range, " bytes)");
  }
  WriteWords(device, commands, task);
  size_t count = near ? task.meta->bindings.size() : 0;
  VkPipelineLayout layout = count > 0 ? entry.near_layout : entry.far_layout;
  device.api.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, near ? entry.near : entry.far);
  device.api.CmdPushConstants(commands, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(uint64_t),
                              &task.words_place.address);
  if (count > 0) {
    device.api.CmdPushDescriptorSetKHR(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0,
                                       static_cast<uint32_t>(count), writes);
  }
  device.api.CmdDispatch(commands, static_cast<uint32_t>(task.blocks), 1, 1);
  return true;
}

}  // namespace adrt::vulkan

adrt_status adrt_record_vk(adrt_launch_plan* plan, void* command_buffer, const adrt_vk_launch* launch,
                           adrt_error* error) {
  using namespace adrt;
  if (!plan || !command_buffer || !launch)
    return Fail(error, ADRT_ERROR_ARGUMENT, "record_vk: null argument");
  adrt_vk_launch wanted = {};
  if (!CopyDescriptor(launch, &wanted)) {
    return Fail(error, ADRT_ERROR_ARGUMENT, "record_vk: ", kNotSet);
  }
  if (!plan->module || plan->module->device->kind != &vulkan::kVulkan) {
    return Fail(error, ADRT_ERROR_ARGUMENT,
                "record_vk: the plan was made without a module of a Vulkan device");
  }
  Place heap, status;
  const vulkan::Device& device = vulkan::Of(*plan->module->device);
  const adrt_vk_buffer* const given[] = {wanted.heap, wanted.status};
  Place* const places[] = {&heap, &status};
  for (int index = 0; index < 2; ++index) {
    char text[160] = {};
    artifact::TextWriter reason(text, sizeof text);
    if (!given[index] || vulkan::Bind(device, given[index], places[index], reason)) continue;
    return Fail(error, ADRT_ERROR_ARGUMENT, "record_vk: the ", index == 0 ? "heap " : "status block ", text);
  }
  adrt_error own = {};
  own.struct_size = sizeof own;
  adrt_error* details = error && error->struct_size >= sizeof(adrt_error) ? error : &own;
  VkCommandBuffer commands = static_cast<VkCommandBuffer>(command_buffer);
  // A launch that is refused leaves nothing in the caller's command buffer.
  if (!CheckLaunch(*plan, heap, status, details)) return details->status;
  vulkan::OrderBefore(device, commands);
  if (!RecordLaunch(*plan, commands, heap, status, details)) return details->status;
  vulkan::OrderAfter(device, commands);
  return ADRT_OK;
}

adrt_status adrt_record_size_vk(adrt_launch_plan* plan, void* command_buffer, const adrt_vk_buffer* memory,
                                adrt_error* error) {
  using namespace adrt;
  if (!plan || !command_buffer || !memory)
    return Fail(error, ADRT_ERROR_ARGUMENT, "record_size_vk: null argument");
  if (!plan->module || plan->module->device->kind != &vulkan::kVulkan) {
    return Fail(error, ADRT_ERROR_ARGUMENT,
                "record_size_vk: the plan was made without a module of a Vulkan device");
  }
  const vulkan::Device& device = vulkan::Of(*plan->module->device);
  char text[160] = {};
  artifact::TextWriter reason(text, sizeof text);
  Place place;
  if (!vulkan::Bind(device, memory, &place, reason))
    return Fail(error, ADRT_ERROR_ARGUMENT, "record_size_vk: the memory ", text);
  adrt_error own = {};
  adrt_error* details = DetailsOf(error, &own);
  VkCommandBuffer commands = static_cast<VkCommandBuffer>(command_buffer);
  vulkan::OrderBefore(device, commands);
  if (!RecordCounting(*plan, commands, place, details)) return details->status;
  vulkan::OrderAfter(device, commands);
  return ADRT_OK;
}
