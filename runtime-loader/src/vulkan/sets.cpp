// Descriptors of an entry that has more of them than the device pushes: a set, from a pool of its own.
//
// A set of the loader's own submission goes when that has been waited for. The caller does not say when a
// command buffer of its own is done, or whether it will be submitted again, but its plan lives as long: such
// sets go with the plan.

#include "core/errors.h"
#include "vulkan/module.h"

namespace adrt::vulkan {
namespace {

constexpr uint32_t kMostSets = 4096;  // of a plan, for its caller

bool Make(const Device& device, const Entry& entry, uint32_t count, DescriptorSet& made, adrt_error* error) {
  VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, count};
  VkDescriptorPoolCreateInfo pool = {};
  pool.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
  pool.maxSets = pool.poolSizeCount = 1;
  pool.pPoolSizes = &size;
  VkResult result = device.api.CreateDescriptorPool(device.handle, &pool, device.callbacks, &made.pool);
  if (result != VK_SUCCESS) {
    made.pool = VK_NULL_HANDLE;
    return DriverFailed(error, "vkCreateDescriptorPool", result);
  }
  VkDescriptorSetAllocateInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
  info.descriptorPool = made.pool;
  info.descriptorSetCount = 1;
  info.pSetLayouts = &entry.set_layout;
  result = device.api.AllocateDescriptorSets(device.handle, &info, &made.set);
  return result == VK_SUCCESS || DriverFailed(error, "vkAllocateDescriptorSets", result);
}

}  // namespace

void ReleaseSets(const Device& device, DescriptorSet** sets) {
  while (DescriptorSet* first = *sets) {
    *sets = first->next;
    if (first->pool) device.api.DestroyDescriptorPool(device.handle, first->pool, device.callbacks);
    Delete(device.host.allocator, first);
  }
}

void Forget(adrt_device& device, void* held) {
  DescriptorSet* sets = static_cast<DescriptorSet*>(held);
  ReleaseSets(Of(device), &sets);
}

VkDescriptorSet SetOf(Device& device, const Entry& entry, VkCommandBuffer commands, void** held,
                      VkWriteDescriptorSet* writes, uint32_t count, adrt_error* error) {
  Recorder* own = nullptr;
  {
    Lock lock(device.mutex);
    for (own = device.recorders; own && own->commands != commands;) own = own->next;
  }
  DescriptorSet* first = own ? own->sets : static_cast<DescriptorSet*>(*held);
  uint32_t number = first ? first->number + 1 : 0;
  if (!own && number >= kMostSets) {
    Refuse(
        error, ADRT_ERROR_OVER_LIMIT, kMostSets,
        " launches of code that takes more descriptors than the device pushes were recorded with one plan: "
        "release it once they are done, and make another");
    return VK_NULL_HANDLE;
  }
  DescriptorSet* made = New<DescriptorSet>(device.host.allocator);
  if (!made) {
    OutOfMemory(error);
    return VK_NULL_HANDLE;
  }
  if (!Make(device, entry, count, *made, error)) {
    ReleaseSets(device, &made);
    return VK_NULL_HANDLE;
  }
  for (uint32_t index = 0; index < count; ++index) writes[index].dstSet = made->set;
  device.api.UpdateDescriptorSets(device.handle, count, writes, 0, nullptr);
  made->next = first;
  made->number = number;
  if (own) {
    own->sets = made;
  } else {
    *held = made;
  }
  return made->set;
}

}  // namespace adrt::vulkan
