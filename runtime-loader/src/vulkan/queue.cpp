#include "vulkan/device.h"

// Submissions of the loader's own, for adrt_run and copies. A recorder is a pool, a command buffer and a
// fence; finished ones wait in the device's list for the next launch, because making them costs more than
// many launches do.

namespace adrt::vulkan {
namespace {

void Destroy(Device& device, Recorder* recorder) {
  ReleaseSets(device, &recorder->sets);
  if (recorder->fence) device.api.DestroyFence(device.handle, recorder->fence, device.callbacks);
  if (recorder->pool) device.api.DestroyCommandPool(device.handle, recorder->pool, device.callbacks);
  Delete(device.host.allocator, recorder);
}

bool Fill(Device& device, Recorder& recorder, adrt_error* error) {
  VkCommandPoolCreateInfo pool = {};
  pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  pool.flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT;
  pool.queueFamilyIndex = device.queue_family;
  VkResult result = device.api.CreateCommandPool(device.handle, &pool, device.callbacks, &recorder.pool);
  if (result != VK_SUCCESS) {
    recorder.pool = VK_NULL_HANDLE;
    return DriverFailed(error, "vkCreateCommandPool", result);
  }
  VkCommandBufferAllocateInfo buffer = {};
  buffer.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
  buffer.commandPool = recorder.pool;
  buffer.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  buffer.commandBufferCount = 1;
  result = device.api.AllocateCommandBuffers(device.handle, &buffer, &recorder.commands);
  if (result != VK_SUCCESS) return DriverFailed(error, "vkAllocateCommandBuffers", result);
  VkFenceCreateInfo fence = {};
  fence.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
  result = device.api.CreateFence(device.handle, &fence, device.callbacks, &recorder.fence);
  if (result == VK_SUCCESS) return true;
  recorder.fence = VK_NULL_HANDLE;
  return DriverFailed(error, "vkCreateFence", result);
}

// An idle recorder, marked busy; null with the error set.
Recorder* Take(Device& device, adrt_error* error) {
  {
    Lock lock(device.mutex);
    for (Recorder* recorder = device.recorders; recorder; recorder = recorder->next) {
      if (recorder->busy) continue;
      recorder->busy = true;
      return recorder;
    }
  }
  Recorder* made = New<Recorder>(device.host.allocator);
  if (!made) {
    OutOfMemory(error);
    return nullptr;
  }
  if (!Fill(device, *made, error)) {
    Destroy(device, made);
    return nullptr;
  }
  made->busy = true;
  Lock lock(device.mutex);
  made->next = device.recorders;
  device.recorders = made;
  return made;
}

Recorder* Find(Device& device, void* queue) {
  Lock lock(device.mutex);
  Recorder* recorder = device.recorders;
  while (recorder->commands != queue) recorder = recorder->next;
  return recorder;
}

// Takes a recorder out of the list and destroys it.
void Discard(Device& device, Recorder* recorder) {
  {
    Lock lock(device.mutex);
    Recorder** link = &device.recorders;
    while (*link != recorder) link = &(*link)->next;
    *link = recorder->next;
  }
  Destroy(device, recorder);
}

bool SubmitAndWait(Device& device, Recorder& recorder, adrt_error* error) {
  OrderAfter(device, recorder.commands);
  VkResult result = device.api.EndCommandBuffer(recorder.commands);
  if (result != VK_SUCCESS) return DriverFailed(error, "vkEndCommandBuffer", result);
  VkSubmitInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
  info.commandBufferCount = 1;
  info.pCommandBuffers = &recorder.commands;
  {
    Lock lock(device.queue_mutex);
    if (device.lock_queue) device.lock_queue(device.lock_user);
    result = device.api.QueueSubmit(device.queue, 1, &info, recorder.fence);
    if (device.unlock_queue) device.unlock_queue(device.lock_user);
  }
  if (result != VK_SUCCESS) return DriverFailed(error, "vkQueueSubmit", result);
  result = device.api.WaitForFences(device.handle, 1, &recorder.fence, VK_TRUE, UINT64_MAX);
  if (result != VK_SUCCESS) {
    // Work that still runs must not lose its command buffer.
    device.api.DeviceWaitIdle(device.handle);
    return DriverFailed(error, "vkWaitForFences", result);
  }
  result = device.api.ResetFences(device.handle, 1, &recorder.fence);
  if (result != VK_SUCCESS) return DriverFailed(error, "vkResetFences", result);
  return true;
}

void Order(const Device& device, VkCommandBuffer commands, VkPipelineStageFlags before, VkAccessFlags written,
           VkPipelineStageFlags after, VkAccessFlags used) {
  VkMemoryBarrier barrier = {};
  barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
  barrier.srcAccessMask = written;
  barrier.dstAccessMask = used;
  device.api.CmdPipelineBarrier(commands, before, after, 0, 1, &barrier, 0, nullptr, 0, nullptr);
}

constexpr VkPipelineStageFlags kWork = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
constexpr VkAccessFlags kWritten = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
constexpr VkAccessFlags kUsed = kWritten | VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT;

}  // namespace

void OrderBefore(const Device& device, VkCommandBuffer commands) {
  Order(device, commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_ACCESS_MEMORY_WRITE_BIT, kWork, kUsed);
}

void OrderAfter(const Device& device, VkCommandBuffer commands) {
  Order(device, commands, kWork, kWritten, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_HOST_BIT,
        VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT | VK_ACCESS_HOST_READ_BIT);
}

void OrderRounds(const Device& device, VkCommandBuffer commands) {
  constexpr VkPipelineStageFlags kStages = kWork | VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT;
  Order(device, commands, kStages, kWritten, kStages, kUsed | VK_ACCESS_INDIRECT_COMMAND_READ_BIT);
}

bool Barrier(adrt_device& device, void* queue, adrt_error*) {
  Order(Of(device), static_cast<VkCommandBuffer>(queue), kWork, kWritten, kWork, kUsed);
  return true;
}

bool Begin(adrt_device& base, void** queue, adrt_error* error) {
  Device& device = Of(base);
  if (!device.queue) {
    return Refuse(error, ADRT_ERROR_ARGUMENT,
                  "this device was wrapped without a queue: adrt_run and adrt_memory_* need one");
  }
  Recorder* recorder = Take(device, error);
  if (!recorder) return false;
  VkCommandBufferBeginInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  info.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  const char* call = "vkResetCommandPool";
  VkResult result = device.api.ResetCommandPool(device.handle, recorder->pool, 0);
  if (result == VK_SUCCESS) {
    call = "vkBeginCommandBuffer";
    result = device.api.BeginCommandBuffer(recorder->commands, &info);
  }
  if (result != VK_SUCCESS) {
    Discard(device, recorder);
    return DriverFailed(error, call, result);
  }
  OrderBefore(device, recorder->commands);
  *queue = recorder->commands;
  return true;
}

bool Finish(adrt_device& base, void* queue, adrt_error* error) {
  Device& device = Of(base);
  Recorder* recorder = Find(device, queue);
  if (!SubmitAndWait(device, *recorder, error)) {
    Discard(device, recorder);
    return false;
  }
  ReleaseSets(device, &recorder->sets);
  Lock lock(device.mutex);
  recorder->busy = false;
  return true;
}

void Drop(adrt_device& base, void* queue) {
  Device& device = Of(base);
  Discard(device, Find(device, queue));
}

void ReleaseRecorders(Device& device) {
  while (Recorder* recorder = device.recorders) {
    device.recorders = recorder->next;
    Destroy(device, recorder);
  }
}

}  // namespace adrt::vulkan
