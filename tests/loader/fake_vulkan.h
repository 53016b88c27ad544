#pragma once
// A Vulkan driver that computes nothing: it counts what is made and destroyed, carries out copies and fills
// when they are recorded, writes down every command, and fails the n-th call that can fail.

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES
#endif
#include <vulkan/vulkan_core.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace fixture {

struct FakeVulkan {
  // What the driver is like; to be set before it is used.
  bool discrete = false;         ///< device memory that the host does not see
  bool push_descriptors = true;  ///< has VK_KHR_push_descriptor
  bool budget = false;           ///< has VK_EXT_memory_budget, with 1 MiB free
  bool shader_float64 = true;
  bool subgroup_arithmetic = false;
  bool atomic_float = false;  ///< has VK_EXT_shader_atomic_float, with sums of 32-bit floats
  uint64_t heap_bytes = uint64_t{256} << 20;
  uint32_t group_count = 65535;
  uint64_t storage_range = uint64_t{128} << 20;
  uint32_t version = VK_API_VERSION_1_3;
  std::string missing;  ///< a function that the driver does not have

  // Which call fails, and how.
  long fail_at = 0;
  VkResult failure = VK_ERROR_INITIALIZATION_FAILED;
  bool lost = false;  ///< with that call the device goes: all calls after it fail too

  // What happened.
  long calls = 0;                             ///< those that can fail
  std::string failed_call;                    ///< "vkCreateFence"
  long live = 0;                              ///< objects that were made and not destroyed
  std::vector<std::string> commands;          ///< "vkCmdDispatch 3", since the last clear()
  std::vector<std::string> functions;         ///< every call, since the last clear()
  std::map<std::string, uint32_t> asked_for;  ///< every function that was looked up
  struct Pipeline {
    std::string symbol;
    VkPipelineCache cache;
  };
  std::vector<Pipeline> pipelines;  ///< that were made
  std::vector<uint32_t> code;       ///< of the last shader module
  /// What a descriptor reaches.
  struct Bound {
    VkBuffer buffer;
    uint64_t offset, bytes;
    uint64_t buffer_bytes;  ///< of the whole buffer
  };
  struct Dispatch {
    std::shared_ptr<const std::vector<uint32_t>> code;
    std::string symbol;
    std::map<uint32_t, Bound> bound;  ///< by binding of set 0
  };
  Dispatch next;                                              ///< what a dispatch would run now
  std::function<void(const Dispatch& dispatch)> on_dispatch;  ///< called when one is recorded, if it is set
  std::vector<std::string> names;                             ///< that objects got
  /// What every object must be made and destroyed with.
  const VkAllocationCallbacks* callbacks = nullptr;
  VkPhysicalDeviceFeatures2 device_features{};  ///< head of what vkCreateDevice got

  FakeVulkan();
  FakeVulkan(const FakeVulkan&) = delete;
  FakeVulkan& operator=(const FakeVulkan&) = delete;
  ~FakeVulkan();

  /// vkGetInstanceProcAddr of the one that is alive.
  static void (*EntryPoint())();
  bool Recorded(const std::string& command) const;

  // Handles of a device that the test itself owns.
  VkInstance instance = nullptr;
  VkPhysicalDevice physical = nullptr;
  VkDevice device = nullptr;
  VkQueue queue = nullptr;
};

}  // namespace fixture
