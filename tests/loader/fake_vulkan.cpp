#include "fake_vulkan.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace fixture {
namespace {

FakeVulkan* current = nullptr;

// Everything that Vulkan makes, with what kind it is, so that a mistaken destroy is seen.
struct Object {
  const char* kind;
  uint64_t bytes = 0;
  unsigned char* memory = nullptr;  // of memory itself, or bound to a buffer
  FakeVulkan::Dispatch runs = {};   // of shaders, a pipeline or a descriptor pool: what a dispatch has of it
};

[[noreturn]] void Mistake(const char* what, const char* kind) {
  std::fprintf(stderr, "fake Vulkan: %s %s\n", what, kind);
  std::abort();
}

template <class Handle>
Handle Make(const char* kind, uint64_t bytes = 0) {
  ++current->live;
  return reinterpret_cast<Handle>(new Object{kind, bytes});
}

template <class Handle>
Object& Look(Handle handle, const char* kind) {
  Object* object = reinterpret_cast<Object*>(handle);
  if (!object || std::strcmp(object->kind, kind) != 0) Mistake("this is no", kind);
  return *object;
}

template <class Handle>
void Destroy(Handle handle, const char* kind) {
  if (!handle) return;
  Object& object = Look(handle, kind);
  if (std::strcmp(kind, "memory") == 0) std::free(object.memory);
  object.kind = "destroyed";
  --current->live;
  delete &object;
}

// Whether this call fails.
bool Fails(const char* name) {
  current->functions.push_back(name);
  if (++current->calls != current->fail_at)
    return current->lost && current->fail_at > 0 && current->calls > current->fail_at;
  current->failed_call = name;
  return true;
}

void Note(const char* name) {
  current->functions.push_back(name);
}
void Command(const std::string& text) {
  current->functions.push_back(text.substr(0, text.find(' ')));
  current->commands.push_back(text);
}

// Instance and device are the test's where it tells which callbacks are expected.
void TakeCallbacks(const char* name, const VkAllocationCallbacks* callbacks) {
  bool is_owner = std::strcmp(name, "vkDestroyInstance") == 0 || std::strcmp(name, "vkDestroyDevice") == 0;
  if (callbacks != current->callbacks && !is_owner) Mistake("other allocation callbacks in", name);
}

#define FAIL_HERE(name) \
  if (Fails(#name)) return current->failure

// ---- instance

VkResult VKAPI_CALL vkEnumerateInstanceVersion(uint32_t* version) {
  FAIL_HERE(vkEnumerateInstanceVersion);
  *version = current->version;
  return VK_SUCCESS;
}

VkResult VKAPI_CALL vkEnumerateInstanceLayerProperties(uint32_t* count, VkLayerProperties*) {
  FAIL_HERE(vkEnumerateInstanceLayerProperties);
  *count = 0;
  return VK_SUCCESS;
}

VkResult VKAPI_CALL vkCreateInstance(const VkInstanceCreateInfo*, const VkAllocationCallbacks* callbacks,
                                     VkInstance* instance) {
  TakeCallbacks("vkCreateInstance", callbacks);
  FAIL_HERE(vkCreateInstance);
  *instance = Make<VkInstance>("instance");
  return VK_SUCCESS;
}

void VKAPI_CALL vkDestroyInstance(VkInstance instance, const VkAllocationCallbacks* callbacks) {
  TakeCallbacks("vkDestroyInstance", callbacks);
  Note("vkDestroyInstance");
  Destroy(instance, "instance");
}

VkResult VKAPI_CALL vkEnumeratePhysicalDevices(VkInstance, uint32_t* count, VkPhysicalDevice* list) {
  FAIL_HERE(vkEnumeratePhysicalDevices);
  if (list) *list = current->physical;
  *count = 1;
  return VK_SUCCESS;
}

void VKAPI_CALL vkGetPhysicalDeviceProperties2(VkPhysicalDevice, VkPhysicalDeviceProperties2* properties) {
  Note("vkGetPhysicalDeviceProperties2");
  VkPhysicalDeviceProperties& head = properties->properties;
  head.apiVersion = current->version;
  head.deviceType = current->discrete ? VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU : VK_PHYSICAL_DEVICE_TYPE_CPU;
  std::strcpy(head.deviceName, "fake");
  head.limits.maxStorageBufferRange = static_cast<uint32_t>(current->storage_range);
  head.limits.minStorageBufferOffsetAlignment = 16;
  head.limits.maxPerStageDescriptorStorageBuffers = 16;
  head.limits.maxDescriptorSetStorageBuffers = head.limits.maxPerStageResources = 16;
  head.limits.maxComputeWorkGroupCount[0] = current->group_count;
  head.limits.maxComputeWorkGroupSize[0] = 1024;
  head.limits.maxComputeWorkGroupInvocations = 1024;
  head.limits.maxComputeSharedMemorySize = 32768;
  auto* next = static_cast<VkBaseOutStructure*>(properties->pNext);
  for (; next; next = next->pNext) {
    if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES) {
      auto* own = reinterpret_cast<VkPhysicalDeviceVulkan11Properties*>(next);
      own->maxMemoryAllocationSize = uint64_t{1} << 40;
      own->subgroupSupportedStages = VK_SHADER_STAGE_COMPUTE_BIT;
      own->subgroupSupportedOperations = VK_SUBGROUP_FEATURE_BALLOT_BIT;
      if (current->subgroup_arithmetic)
        own->subgroupSupportedOperations |= VK_SUBGROUP_FEATURE_ARITHMETIC_BIT;
    }
    if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES) {
      auto* own = reinterpret_cast<VkPhysicalDeviceVulkan12Properties*>(next);
      own->shaderDenormPreserveFloat32 = VK_TRUE;
      own->shaderSignedZeroInfNanPreserveFloat32 = own->shaderSignedZeroInfNanPreserveFloat64 = VK_TRUE;
    }
    if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PUSH_DESCRIPTOR_PROPERTIES_KHR) {
      reinterpret_cast<VkPhysicalDevicePushDescriptorPropertiesKHR*>(next)->maxPushDescriptors = 8;
    }
  }
}

void VKAPI_CALL vkGetPhysicalDeviceMemoryProperties2(VkPhysicalDevice,
                                                     VkPhysicalDeviceMemoryProperties2* properties) {
  Note("vkGetPhysicalDeviceMemoryProperties2");
  VkPhysicalDeviceMemoryProperties& memory = properties->memoryProperties;
  constexpr VkMemoryPropertyFlags kHost = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                          VK_MEMORY_PROPERTY_HOST_COHERENT_BIT |
                                          VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
  memory.memoryHeapCount = memory.memoryTypeCount = current->discrete ? 2 : 1;
  memory.memoryHeaps[0] = {current->heap_bytes, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT};
  memory.memoryTypes[0] = {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | (current->discrete ? 0 : kHost), 0};
  memory.memoryHeaps[1] = {current->heap_bytes, 0};
  memory.memoryTypes[1] = {kHost, 1};
  auto* next = static_cast<VkBaseOutStructure*>(properties->pNext);
  if (next && next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT) {
    auto* budget = reinterpret_cast<VkPhysicalDeviceMemoryBudgetPropertiesEXT*>(next);
    budget->heapBudget[0] = current->heap_bytes;
    budget->heapUsage[0] = current->heap_bytes - (1u << 20);
  }
}

VkResult VKAPI_CALL vkEnumerateDeviceExtensionProperties(VkPhysicalDevice, const char*, uint32_t* count,
                                                         VkExtensionProperties* list) {
  FAIL_HERE(vkEnumerateDeviceExtensionProperties);
  std::vector<const char*> names = {"VK_KHR_synchronization2"};
  if (current->push_descriptors) names.push_back(VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME);
  if (current->budget) names.push_back(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
  if (current->atomic_float) names.push_back(VK_EXT_SHADER_ATOMIC_FLOAT_EXTENSION_NAME);
  *count = static_cast<uint32_t>(names.size());
  for (size_t index = 0; list && index < names.size(); ++index) {
    std::strcpy(list[index].extensionName, names[index]);
  }
  return VK_SUCCESS;
}

void VKAPI_CALL vkGetPhysicalDeviceFeatures2(VkPhysicalDevice, VkPhysicalDeviceFeatures2* features) {
  Note("vkGetPhysicalDeviceFeatures2");
  features->features.shaderInt64 = VK_TRUE;
  features->features.shaderFloat64 = current->shader_float64;
  auto* next = static_cast<VkBaseOutStructure*>(features->pNext);
  for (; next; next = next->pNext) {
    if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES) {
      reinterpret_cast<VkPhysicalDeviceVulkan12Features*>(next)->bufferDeviceAddress = VK_TRUE;
    }
    if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT) {
      reinterpret_cast<VkPhysicalDeviceShaderAtomicFloatFeaturesEXT*>(next)->shaderBufferFloat32AtomicAdd =
          current->atomic_float;
    }
  }
}

void VKAPI_CALL vkGetPhysicalDeviceQueueFamilyProperties2(VkPhysicalDevice, uint32_t* count,
                                                          VkQueueFamilyProperties2* list) {
  Note("vkGetPhysicalDeviceQueueFamilyProperties2");
  constexpr VkQueueFlags kFlags[] = {VK_QUEUE_TRANSFER_BIT, VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT,
                                     VK_QUEUE_COMPUTE_BIT};
  for (uint32_t index = 0; list && index < *count; ++index) {
    list[index].queueFamilyProperties.queueFlags = kFlags[index];
    list[index].queueFamilyProperties.queueCount = 1;
  }
  *count = 3;
}

VkResult VKAPI_CALL vkCreateDevice(VkPhysicalDevice, const VkDeviceCreateInfo* info,
                                   const VkAllocationCallbacks* callbacks, VkDevice* device) {
  TakeCallbacks("vkCreateDevice", callbacks);
  FAIL_HERE(vkCreateDevice);
  if (info->pQueueCreateInfos->queueFamilyIndex != 2)
    Mistake("this is not the queue family that computes:", "device");
  current->device_features = *static_cast<const VkPhysicalDeviceFeatures2*>(info->pNext);
  *device = Make<VkDevice>("device");
  return VK_SUCCESS;
}

// ---- device

void VKAPI_CALL vkDestroyDevice(VkDevice device, const VkAllocationCallbacks* callbacks) {
  TakeCallbacks("vkDestroyDevice", callbacks);
  Note("vkDestroyDevice");
  Destroy(device, "device");
}
void VKAPI_CALL vkGetDeviceQueue(VkDevice, uint32_t, uint32_t, VkQueue* queue) {
  Note("vkGetDeviceQueue");
  *queue = current->queue;
}
VkResult VKAPI_CALL vkDeviceWaitIdle(VkDevice) {
  Note("vkDeviceWaitIdle");
  return VK_SUCCESS;
}
VkResult VKAPI_CALL vkQueueSubmit(VkQueue, uint32_t, const VkSubmitInfo* info, VkFence fence) {
  FAIL_HERE(vkQueueSubmit);
  Look(*info->pCommandBuffers, "command buffer");
  Look(fence, "fence");
  return VK_SUCCESS;
}
VkResult VKAPI_CALL vkCreateCommandPool(VkDevice, const VkCommandPoolCreateInfo*,
                                        const VkAllocationCallbacks* callbacks, VkCommandPool* pool) {
  TakeCallbacks("vkCreateCommandPool", callbacks);
  FAIL_HERE(vkCreateCommandPool);
  *pool = Make<VkCommandPool>("command pool");
  return VK_SUCCESS;
}
void VKAPI_CALL vkDestroyCommandPool(VkDevice, VkCommandPool pool, const VkAllocationCallbacks* callbacks) {
  TakeCallbacks("vkDestroyCommandPool", callbacks);
  Note("vkDestroyCommandPool");
  if (Look(pool, "command pool").memory) {
    Destroy(reinterpret_cast<VkCommandBuffer>(Look(pool, "command pool").memory), "command buffer");
  }
  Destroy(pool, "command pool");
}
VkResult VKAPI_CALL vkAllocateCommandBuffers(VkDevice, const VkCommandBufferAllocateInfo* info,
                                             VkCommandBuffer* commands) {
  FAIL_HERE(vkAllocateCommandBuffers);
  *commands = Make<VkCommandBuffer>("command buffer");
  Look(info->commandPool, "command pool").memory = reinterpret_cast<unsigned char*>(*commands);
  return VK_SUCCESS;
}
VkResult VKAPI_CALL vkResetCommandPool(VkDevice, VkCommandPool, VkCommandPoolResetFlags) {
  FAIL_HERE(vkResetCommandPool);
  return VK_SUCCESS;
}
VkResult VKAPI_CALL vkBeginCommandBuffer(VkCommandBuffer, const VkCommandBufferBeginInfo*) {
  FAIL_HERE(vkBeginCommandBuffer);
  return VK_SUCCESS;
}
VkResult VKAPI_CALL vkEndCommandBuffer(VkCommandBuffer) {
  FAIL_HERE(vkEndCommandBuffer);
  return VK_SUCCESS;
}
VkResult VKAPI_CALL vkCreateFence(VkDevice, const VkFenceCreateInfo*, const VkAllocationCallbacks* callbacks,
                                  VkFence* fence) {
  TakeCallbacks("vkCreateFence", callbacks);
  FAIL_HERE(vkCreateFence);
  *fence = Make<VkFence>("fence");
  return VK_SUCCESS;
}
void VKAPI_CALL vkDestroyFence(VkDevice, VkFence fence, const VkAllocationCallbacks* callbacks) {
  TakeCallbacks("vkDestroyFence", callbacks);
  Note("vkDestroyFence");
  Destroy(fence, "fence");
}
VkResult VKAPI_CALL vkWaitForFences(VkDevice, uint32_t, const VkFence*, VkBool32, uint64_t) {
  FAIL_HERE(vkWaitForFences);
  return VK_SUCCESS;
}
VkResult VKAPI_CALL vkResetFences(VkDevice, uint32_t, const VkFence*) {
  FAIL_HERE(vkResetFences);
  return VK_SUCCESS;
}
VkResult VKAPI_CALL vkCreateBuffer(VkDevice, const VkBufferCreateInfo* info,
                                   const VkAllocationCallbacks* callbacks, VkBuffer* buffer) {
  TakeCallbacks("vkCreateBuffer", callbacks);
  FAIL_HERE(vkCreateBuffer);
  *buffer = Make<VkBuffer>("buffer", info->size);
  return VK_SUCCESS;
}
void VKAPI_CALL vkDestroyBuffer(VkDevice, VkBuffer buffer, const VkAllocationCallbacks* callbacks) {
  TakeCallbacks("vkDestroyBuffer", callbacks);
  Note("vkDestroyBuffer");
  Destroy(buffer, "buffer");
}
void VKAPI_CALL vkGetBufferMemoryRequirements(VkDevice, VkBuffer buffer, VkMemoryRequirements* needs) {
  Note("vkGetBufferMemoryRequirements");
  *needs = {Look(buffer, "buffer").bytes, 256, current->discrete ? 3u : 1u};
}
VkResult VKAPI_CALL vkAllocateMemory(VkDevice, const VkMemoryAllocateInfo* info,
                                     const VkAllocationCallbacks* callbacks, VkDeviceMemory* memory) {
  TakeCallbacks("vkAllocateMemory", callbacks);
  FAIL_HERE(vkAllocateMemory);
  *memory = Make<VkDeviceMemory>("memory", info->allocationSize);
  Look(*memory, "memory").memory =
      static_cast<unsigned char*>(std::aligned_alloc(256, (info->allocationSize + 255) / 256 * 256));
  return VK_SUCCESS;
}
void VKAPI_CALL vkFreeMemory(VkDevice, VkDeviceMemory memory, const VkAllocationCallbacks* callbacks) {
  TakeCallbacks("vkFreeMemory", callbacks);
  Note("vkFreeMemory");
  Destroy(memory, "memory");
}
VkResult VKAPI_CALL vkBindBufferMemory(VkDevice, VkBuffer buffer, VkDeviceMemory memory,
                                       VkDeviceSize offset) {
  FAIL_HERE(vkBindBufferMemory);
  Look(buffer, "buffer").memory = Look(memory, "memory").memory + offset;
  return VK_SUCCESS;
}
VkResult VKAPI_CALL vkMapMemory(VkDevice, VkDeviceMemory memory, VkDeviceSize offset, VkDeviceSize,
                                VkMemoryMapFlags, void** place) {
  FAIL_HERE(vkMapMemory);
  *place = Look(memory, "memory").memory + offset;
  return VK_SUCCESS;
}
VkDeviceAddress VKAPI_CALL vkGetBufferDeviceAddress(VkDevice, const VkBufferDeviceAddressInfo* info) {
  Note("vkGetBufferDeviceAddress");
  return reinterpret_cast<uintptr_t>(Look(info->buffer, "buffer").memory);
}
VkResult VKAPI_CALL vkCreateShaderModule(VkDevice, const VkShaderModuleCreateInfo* info,
                                         const VkAllocationCallbacks* callbacks, VkShaderModule* shaders) {
  TakeCallbacks("vkCreateShaderModule", callbacks);
  FAIL_HERE(vkCreateShaderModule);
  if (*info->pCode != 0x07230203u) Mistake("this is no", "SPIR-V");
  current->code.assign(info->pCode, info->pCode + info->codeSize / sizeof(uint32_t));
  *shaders = Make<VkShaderModule>("shaders");
  Look(*shaders, "shaders").runs.code = std::make_shared<const std::vector<uint32_t>>(current->code);
  return VK_SUCCESS;
}
void VKAPI_CALL vkDestroyShaderModule(VkDevice, VkShaderModule shaders,
                                      const VkAllocationCallbacks* callbacks) {
  TakeCallbacks("vkDestroyShaderModule", callbacks);
  Note("vkDestroyShaderModule");
  Destroy(shaders, "shaders");
}
VkResult VKAPI_CALL vkCreateDescriptorSetLayout(VkDevice, const VkDescriptorSetLayoutCreateInfo*,
                                                const VkAllocationCallbacks* callbacks,
                                                VkDescriptorSetLayout* layout) {
  TakeCallbacks("vkCreateDescriptorSetLayout", callbacks);
  FAIL_HERE(vkCreateDescriptorSetLayout);
  *layout = Make<VkDescriptorSetLayout>("set layout");
  return VK_SUCCESS;
}
void VKAPI_CALL vkDestroyDescriptorSetLayout(VkDevice, VkDescriptorSetLayout layout,
                                             const VkAllocationCallbacks* callbacks) {
  TakeCallbacks("vkDestroyDescriptorSetLayout", callbacks);
  Note("vkDestroyDescriptorSetLayout");
  Destroy(layout, "set layout");
}
VkResult VKAPI_CALL vkCreateDescriptorPool(VkDevice, const VkDescriptorPoolCreateInfo*,
                                           const VkAllocationCallbacks* callbacks, VkDescriptorPool* pool) {
  TakeCallbacks("vkCreateDescriptorPool", callbacks);
  FAIL_HERE(vkCreateDescriptorPool);
  *pool = Make<VkDescriptorPool>("descriptor pool");
  return VK_SUCCESS;
}
void VKAPI_CALL vkDestroyDescriptorPool(VkDevice, VkDescriptorPool pool,
                                        const VkAllocationCallbacks* callbacks) {
  TakeCallbacks("vkDestroyDescriptorPool", callbacks);
  Note("vkDestroyDescriptorPool");
  Destroy(pool, "descriptor pool");
}
// A set is its pool: each pool has one, which goes with it.
VkResult VKAPI_CALL vkAllocateDescriptorSets(VkDevice, const VkDescriptorSetAllocateInfo* info,
                                             VkDescriptorSet* sets) {
  FAIL_HERE(vkAllocateDescriptorSets);
  Look(info->descriptorPool, "descriptor pool");
  Look(*info->pSetLayouts, "set layout");
  std::memcpy(sets, &info->descriptorPool, sizeof *sets);
  return VK_SUCCESS;
}
void Bind(const VkWriteDescriptorSet& write, std::map<uint32_t, FakeVulkan::Bound>* bound) {
  for (uint32_t number = 0; number < write.descriptorCount; ++number) {
    const VkDescriptorBufferInfo& info = write.pBufferInfo[number];
    uint64_t all = Look(info.buffer, "buffer").bytes;
    uint64_t bytes = info.range == VK_WHOLE_SIZE && info.offset <= all ? all - info.offset : info.range;
    (*bound)[write.dstBinding + number] = {info.buffer, info.offset, bytes, all};
  }
}
void VKAPI_CALL vkUpdateDescriptorSets(VkDevice, uint32_t count, const VkWriteDescriptorSet* writes, uint32_t,
                                       const VkCopyDescriptorSet*) {
  Note("vkUpdateDescriptorSets");
  for (uint32_t number = 0; number < count; ++number) {
    Bind(writes[number], &Look(writes[number].dstSet, "descriptor pool").runs.bound);
  }
}
VkResult VKAPI_CALL vkCreatePipelineLayout(VkDevice, const VkPipelineLayoutCreateInfo*,
                                           const VkAllocationCallbacks* callbacks, VkPipelineLayout* layout) {
  TakeCallbacks("vkCreatePipelineLayout", callbacks);
  FAIL_HERE(vkCreatePipelineLayout);
  *layout = Make<VkPipelineLayout>("layout");
  return VK_SUCCESS;
}
void VKAPI_CALL vkDestroyPipelineLayout(VkDevice, VkPipelineLayout layout,
                                        const VkAllocationCallbacks* callbacks) {
  TakeCallbacks("vkDestroyPipelineLayout", callbacks);
  Note("vkDestroyPipelineLayout");
  Destroy(layout, "layout");
}
VkResult VKAPI_CALL vkCreateComputePipelines(VkDevice, VkPipelineCache cache, uint32_t,
                                             const VkComputePipelineCreateInfo* info,
                                             const VkAllocationCallbacks* callbacks, VkPipeline* pipeline) {
  TakeCallbacks("vkCreateComputePipelines", callbacks);
  FAIL_HERE(vkCreateComputePipelines);
  current->pipelines.push_back({info->stage.pName, cache});
  Look(info->layout, "layout");
  *pipeline = Make<VkPipeline>("pipeline");
  Look(*pipeline, "pipeline").runs = {Look(info->stage.module, "shaders").runs.code, info->stage.pName, {}};
  return VK_SUCCESS;
}
void VKAPI_CALL vkDestroyPipeline(VkDevice, VkPipeline pipeline, const VkAllocationCallbacks* callbacks) {
  TakeCallbacks("vkDestroyPipeline", callbacks);
  Note("vkDestroyPipeline");
  Destroy(pipeline, "pipeline");
}

// ---- commands

void VKAPI_CALL vkCmdBindPipeline(VkCommandBuffer, VkPipelineBindPoint, VkPipeline pipeline) {
  const FakeVulkan::Dispatch& runs = Look(pipeline, "pipeline").runs;
  current->next.code = runs.code;
  current->next.symbol = runs.symbol;
  Command("vkCmdBindPipeline");
}
void VKAPI_CALL vkCmdBindDescriptorSets(VkCommandBuffer, VkPipelineBindPoint, VkPipelineLayout layout,
                                        uint32_t, uint32_t count, const VkDescriptorSet* sets, uint32_t,
                                        const uint32_t*) {
  Look(layout, "layout");
  current->next.bound = Look(*sets, "descriptor pool").runs.bound;
  Command("vkCmdBindDescriptorSets " + std::to_string(count));
}
void VKAPI_CALL vkCmdPushConstants(VkCommandBuffer, VkPipelineLayout layout, VkShaderStageFlags, uint32_t,
                                   uint32_t bytes, const void*) {
  Look(layout, "layout");
  Command("vkCmdPushConstants " + std::to_string(bytes));
}
void VKAPI_CALL vkCmdPushDescriptorSetKHR(VkCommandBuffer, VkPipelineBindPoint, VkPipelineLayout, uint32_t,
                                          uint32_t count, const VkWriteDescriptorSet* writes) {
  for (uint32_t number = 0; number < count; ++number) Bind(writes[number], &current->next.bound);
  Command("vkCmdPushDescriptorSetKHR " + std::to_string(count));
}
VkResult VKAPI_CALL vkSetDebugUtilsObjectNameEXT(VkDevice, const VkDebugUtilsObjectNameInfoEXT* info) {
  Note("vkSetDebugUtilsObjectNameEXT");
  current->names.push_back(info->pObjectName);
  return VK_SUCCESS;
}
void VKAPI_CALL vkCmdBeginDebugUtilsLabelEXT(VkCommandBuffer, const VkDebugUtilsLabelEXT* label) {
  Command(std::string("vkCmdBeginDebugUtilsLabelEXT ") + label->pLabelName);
}
void VKAPI_CALL vkCmdEndDebugUtilsLabelEXT(VkCommandBuffer) {
  Command("vkCmdEndDebugUtilsLabelEXT");
}
void VKAPI_CALL vkCmdDispatch(VkCommandBuffer, uint32_t x, uint32_t, uint32_t) {
  if (current->on_dispatch) current->on_dispatch(current->next);
  Command("vkCmdDispatch " + std::to_string(x));
}
void VKAPI_CALL vkCmdDispatchIndirect(VkCommandBuffer, VkBuffer buffer, VkDeviceSize offset) {
  uint32_t blocks = 0;
  std::memcpy(&blocks, Look(buffer, "buffer").memory + offset, sizeof blocks);
  if (current->on_dispatch) current->on_dispatch(current->next);
  Command("vkCmdDispatchIndirect " + std::to_string(blocks));
}
void VKAPI_CALL vkCmdPipelineBarrier(VkCommandBuffer, VkPipelineStageFlags, VkPipelineStageFlags,
                                     VkDependencyFlags, uint32_t, const VkMemoryBarrier*, uint32_t,
                                     const VkBufferMemoryBarrier*, uint32_t, const VkImageMemoryBarrier*) {
  Command("vkCmdPipelineBarrier");
}
unsigned char* Range(VkBuffer buffer, VkDeviceSize offset, VkDeviceSize bytes) {
  Object& object = Look(buffer, "buffer");
  if (offset > object.bytes || bytes > object.bytes - offset) Mistake("out of the bounds of a", "buffer");
  return object.memory + offset;
}
void VKAPI_CALL vkCmdFillBuffer(VkCommandBuffer, VkBuffer buffer, VkDeviceSize offset, VkDeviceSize bytes,
                                uint32_t value) {
  if (offset % 4 != 0 || bytes % 4 != 0 || bytes == 0 || value != 0)
    Mistake("not aligned is a fill of a", "buffer");
  std::memset(Range(buffer, offset, bytes), 0, bytes);
  Command("vkCmdFillBuffer " + std::to_string(bytes));
}
void VKAPI_CALL vkCmdUpdateBuffer(VkCommandBuffer, VkBuffer buffer, VkDeviceSize offset, VkDeviceSize bytes,
                                  const void* from) {
  if (offset % 4 != 0 || bytes % 4 != 0 || bytes == 0 || bytes > 65536)
    Mistake("not allowed is an update of a", "buffer");
  std::memcpy(Range(buffer, offset, bytes), from, bytes);
  Command("vkCmdUpdateBuffer " + std::to_string(bytes));
}
void VKAPI_CALL vkCmdCopyBuffer(VkCommandBuffer, VkBuffer from, VkBuffer to, uint32_t,
                                const VkBufferCopy* region) {
  std::memcpy(Range(to, region->dstOffset, region->size), Range(from, region->srcOffset, region->size),
              region->size);
  Command("vkCmdCopyBuffer " + std::to_string(region->size));
}

PFN_vkVoidFunction VKAPI_CALL vkGetDeviceProcAddr(VkDevice, const char* name);

struct Row {
  const char* name;
  PFN_vkVoidFunction function;
};
const Row kFunctions[] = {
#define ADC_VK_GLOBAL(name) {"vk" #name, reinterpret_cast<PFN_vkVoidFunction>(vk##name)},
#define ADC_VK_INSTANCE(name) ADC_VK_GLOBAL(name)
#define ADC_VK_OPENING(name) ADC_VK_GLOBAL(name)
#define ADC_VK_DEVICE(name) ADC_VK_GLOBAL(name)
#define ADC_VK_OPTIONAL(name) ADC_VK_GLOBAL(name)
#include "../../runtime-loader/src/vulkan/entry_points.def"
#undef ADC_VK_GLOBAL
#undef ADC_VK_INSTANCE
#undef ADC_VK_OPENING
#undef ADC_VK_DEVICE
#undef ADC_VK_OPTIONAL
};

PFN_vkVoidFunction Find(const char* name) {
  ++current->asked_for[name];
  if (current->missing == name) return nullptr;
  if (!current->push_descriptors && std::strcmp(name, "vkCmdPushDescriptorSetKHR") == 0) return nullptr;
  for (const Row& row : kFunctions) {
    if (std::strcmp(row.name, name) == 0) return row.function;
  }
  return nullptr;
}

PFN_vkVoidFunction VKAPI_CALL vkGetDeviceProcAddr(VkDevice, const char* name) {
  return Find(name);
}
PFN_vkVoidFunction VKAPI_CALL GetInstanceProcAddr(VkInstance, const char* name) {
  return Find(name);
}

}  // namespace

FakeVulkan::FakeVulkan() {
  current = this;
  physical = Make<VkPhysicalDevice>("physical device");
  queue = Make<VkQueue>("queue");
  instance = Make<VkInstance>("instance");
  device = Make<VkDevice>("device");
  live = 0;
}

FakeVulkan::~FakeVulkan() {
  delete reinterpret_cast<Object*>(physical);
  delete reinterpret_cast<Object*>(queue);
  delete reinterpret_cast<Object*>(instance);
  delete reinterpret_cast<Object*>(device);
  current = nullptr;
}

void (*FakeVulkan::EntryPoint())() {
  return reinterpret_cast<void (*)()>(&GetInstanceProcAddr);
}

bool FakeVulkan::Recorded(const std::string& command) const {
  for (const std::string& one : commands) {
    if (one == command) return true;
  }
  return false;
}

}  // namespace fixture
