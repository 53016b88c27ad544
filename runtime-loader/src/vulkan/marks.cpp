#include "core/launch.h"
#include "vulkan/device.h"

// The marks of the loader's work for tools: names of objects, labels around tasks, the caller's hooks.

namespace adrt::vulkan {

void NameObject(const Device& device, VkObjectType type, uint64_t handle, const char* name) {
  if (!device.names) return;
  VkDebugUtilsObjectNameInfoEXT info = {};
  info.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT;
  info.objectType = type;
  info.objectHandle = handle;
  info.pObjectName = name;
  device.api.SetDebugUtilsObjectNameEXT(device.handle, &info);
}

void MarkBegin(const Device& device, VkCommandBuffer commands, const LaunchTask& task) {
  const artifact::String& place = task.kernel->tasks[task.index].place;
  if (device.names) {
    char text[256];
    artifact::TextWriter(text, sizeof text)
        << task.kernel->name.view() << ", task " << task.index << " (" << place.view() << ")";
    VkDebugUtilsLabelEXT label = {};
    label.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT;
    label.pLabelName = text;
    device.api.CmdBeginDebugUtilsLabelEXT(commands, &label);
  }
  const adrt_vk_hooks& hooks = device.hooks;
  if (hooks.task_begin)
    hooks.task_begin(hooks.user, commands, task.kernel->name.c_str(), task.index, place.c_str());
}

void MarkEnd(const Device& device, VkCommandBuffer commands, const LaunchTask& task) {
  const artifact::String& place = task.kernel->tasks[task.index].place;
  const adrt_vk_hooks& hooks = device.hooks;
  if (hooks.task_end)
    hooks.task_end(hooks.user, commands, task.kernel->name.c_str(), task.index, place.c_str());
  if (device.names) device.api.CmdEndDebugUtilsLabelEXT(commands);
}

}  // namespace adrt::vulkan
