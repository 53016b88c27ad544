#pragma once
// A Vulkan device as the loader has it: the driver's functions, limits, the enabled features, and the objects
// that it makes beside modules: memory, and recorders for its own submissions.

#include <adrt/adrt_vk.h>

#include "core/handles.h"
#include "platform/platform.h"
#include "vulkan/features.h"

namespace adrt::vulkan {

/// Memory that the loader took: a buffer with memory of its own. Elements of the device's list.
struct Block {
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  uint64_t bytes = 0;
  uint64_t address = 0;             ///< 0 for staging
  unsigned char* mapped = nullptr;  ///< where the host sees it, coherent; null where it does not
  adrt_vk_buffer data = {};         ///< the struct that adrt_memory_data gives
  Block* next = nullptr;
};

/// Descriptors that are not pushed (sets.cpp). Elements of lists.
struct DescriptorSet {
  VkDescriptorPool pool = VK_NULL_HANDLE;
  VkDescriptorSet set = VK_NULL_HANDLE;
  uint32_t number = 0;  ///< how many come after it in its list
  DescriptorSet* next = nullptr;
};

/// A command buffer of the loader's own, with its pool and fence. Elements of the device's list, reused.
struct Recorder {
  VkCommandPool pool = VK_NULL_HANDLE;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  VkFence fence = VK_NULL_HANDLE;
  bool busy = false;
  DescriptorSet* sets = nullptr;  ///< of what it has recorded
  Recorder* next = nullptr;
};

using platform::Lock;

struct Limits {
  uint64_t storage_range = 0;      ///< bytes that a descriptor can reach
  uint64_t storage_alignment = 1;  ///< of its offset
  uint32_t storage_count = 0;      ///< descriptors of a shader, and of a set
  uint32_t push_count = 0;         ///< descriptors that can be pushed, 0 without the extension
  uint32_t group_count = 0;        ///< blocks of one dispatch
  uint32_t group_size = 0;         ///< threads of a block
  uint32_t shared_bytes = 0;
  uint64_t allocation = UINT64_MAX;  ///< bytes of one allocation or buffer
};

struct Device : adrt_device {
  explicit Device(const Host& from);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device();

  Api api;
  VkInstance instance = VK_NULL_HANDLE;
  VkPhysicalDevice physical = VK_NULL_HANDLE;
  VkDevice handle = VK_NULL_HANDLE;
  VkQueue queue = VK_NULL_HANDLE;
  uint32_t queue_family = 0;
  uint32_t version = VK_API_VERSION_1_2;
  FeatureSet enabled = 0;
  bool has_all = false;        ///< that the physical device has, because the loader made it or would
  bool has_addresses = false;  ///< bufferDeviceAddress is among them
  bool robust = false;         ///< was made with robustBufferAccess
  bool robust2 = false;        ///< with robustBufferAccess2 as well: ranges of descriptors bound, not buffers
  void* check_user = nullptr;
  int (*check_spirv)(void* user, const uint32_t* words, size_t count) = nullptr;  ///< may be null
  Limits limits;
  VkPhysicalDeviceMemoryProperties memory = {};
  bool host_sees_memory = false;  ///< device memory is the host's anyway: map it
  bool tells_budget = false;      ///< VK_EXT_memory_budget
  const VkAllocationCallbacks* callbacks = nullptr;
  VkPipelineCache pipeline_cache = VK_NULL_HANDLE;
  bool names = false;  ///< VK_EXT_debug_utils: objects get names, tasks labels
  bool lazy = false;   ///< pipelines are made when a recording takes them
  adrt_vk_hooks hooks = {};

  // Opened, not wrapped: the objects that must go with it.
  bool owned = false;
  VkDebugUtilsMessengerEXT messenger = VK_NULL_HANDLE;
  PFN_vkDestroyDebugUtilsMessengerEXT destroy_messenger = nullptr;

  // The caller's lock around its queue.
  void* lock_user = nullptr;
  void (*lock_queue)(void* user) = nullptr;
  void (*unlock_queue)(void* user) = nullptr;

  platform::Mutex mutex;        ///< the two lists
  platform::Mutex queue_mutex;  ///< submissions
  platform::Mutex staging_mutex;
  Block* blocks = nullptr;
  Recorder* recorders = nullptr;
  Block* staging = nullptr;
};

inline Device& Of(adrt_device& device) {
  return static_cast<Device&>(device);
}
inline const Device& Of(const adrt_device& device) {
  return static_cast<const Device&>(device);
}

/// The table of functions of Vulkan devices.
extern const DeviceKind kVulkan;

/// Reads limits, memory types, properties and the device's name, once its functions are there.
/// `push_descriptors` and `budget`: whether these extensions are enabled.
void Describe(Device& device, bool push_descriptors, bool budget);

// open.cpp
/// Closes the rest of an opened device when its VkDevice is gone: messenger, instance.
void CloseInstance(Device& device);

// memory.cpp
bool Allocate(adrt_device& device, uint64_t bytes, Memory* memory, adrt_error* error);
void Release(adrt_device& device, Memory& memory);
bool Write(adrt_device& device, const Place& to, const void* from, uint64_t bytes, adrt_error* error);
bool Read(adrt_device& device, const Place& from, void* to, uint64_t bytes, adrt_error* error);
bool Bind(const adrt_device& device, const void* data, Place* place, artifact::TextWriter& reason);
void* Data(const Memory& memory);
/// Frees every block, also the blocks that the caller forgot.
void ReleaseBlocks(Device& device);

// sets.cpp
/// Releases the sets that a plan holds for its recorded launches.
void Forget(adrt_device& device, void* held);
/// Destroys all of a list.
void ReleaseSets(const Device& device, DescriptorSet** sets);

// queue.cpp
bool Begin(adrt_device& device, void** queue, adrt_error* error);
bool Finish(adrt_device& device, void* queue, adrt_error* error);
void Drop(adrt_device& device, void* queue);
void ReleaseRecorders(Device& device);
/// Orders everything before against the compute and transfer work after.
void OrderBefore(const Device& device, VkCommandBuffer commands);
/// Orders compute and transfer work before against everything after, the host's reads included.
void OrderAfter(const Device& device, VkCommandBuffer commands);

/// As a barrier, between rounds whose numbers of blocks lie in memory.
void OrderRounds(const Device& device, VkCommandBuffer commands);

// module.cpp
bool Load(adrt_module& module, adrt_error* error);
void Unload(adrt_module& module);

// record.cpp
bool Clear(adrt_device& device, void* queue, const Place& place, adrt_error* error);
bool CanLaunch(const adrt_device& device, const LaunchTask& task, adrt_error* error);
bool Launch(adrt_device& device, void* queue, const LaunchTask& task, adrt_error* error);
bool Barrier(adrt_device& device, void* queue, adrt_error* error);

// marks.cpp
/// Names an object for tools, where these are asked for.
void NameObject(const Device& device, VkObjectType type, uint64_t handle, const char* name);
template <class Handle>
void Name(const Device& device, VkObjectType type, Handle handle, const char* name) {
  NameObject(device, type, reinterpret_cast<uintptr_t>(handle), name);
}
/// Around a task's dispatch: labels for tools, the caller's hooks.
void MarkBegin(const Device& device, VkCommandBuffer commands, const LaunchTask& task);
void MarkEnd(const Device& device, VkCommandBuffer commands, const LaunchTask& task);

// sequence.cpp
bool RecordSequence(adrt_device& device, void* queue, adrt_sequence& sequence, adrt_error* error);
void ForgetSequence(adrt_device& device, void* own);

inline VkBuffer BufferOf(const Place& place) {
  return reinterpret_cast<VkBuffer>(static_cast<uintptr_t>(place.buffer));
}

}  // namespace adrt::vulkan
