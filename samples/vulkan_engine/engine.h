#pragma once
// As much of an engine as the sample needs: its own Vulkan instance, device, buffers and command buffer.
// Nothing here knows of bundles but the three questions that Device asks before it makes a VkDevice.

#include <adrt/adrt_vk.h>
#include <vulkan/vulkan.h>

#include <cstdint>
#include <string>
#include <vector>

namespace engine {

/// Ends the program with what went wrong.
[[noreturn]] void Fail(const std::string& what);
void Check(VkResult result, const char* call);
void Check(adrt_status status, const adrt_error& error, const char* call);

/// Instance, physical device, device and queue, with what the bundle's best target for them asks for turned
/// on.
class Device {
 public:
  /// `validate`: with the validation layer, whose warnings and errors are counted and printed.
  Device(const adrt_bundle* bundle, bool validate);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device();

  /// The same device for the loader. The caller releases it, before this goes.
  adrt_device* Wrap() const;
  /// What Wrap tells the loader. No queue: the engine alone submits to it.
  adrt_vk_desc Describe() const;
  /// The number of that target.
  uint32_t Target() const { return target_; }
  const char* Name() const { return properties_.deviceName; }
  uint32_t Faults() const { return faults_; }
  VkDevice handle() const { return device_; }
  VkQueue queue() const { return queue_; }

  struct Buffer {
    adrt_vk_buffer place = {};  ///< for adrt: the handle, the device address
    VkDeviceMemory memory = VK_NULL_HANDLE;
    void* mapped = nullptr;  ///< the host's view, coherent

    VkBuffer handle() const { return reinterpret_cast<VkBuffer>(place.buffer); }
  };
  /// Memory that device and host both see; a larger engine would keep its own heaps and copy.
  Buffer MakeBuffer(uint64_t bytes) const;
  void Destroy(Buffer& buffer) const;

  /// A command buffer that is recording. One at a time.
  VkCommandBuffer Begin();
  /// Submits it and waits.
  void Submit();

 private:
  void MakeInstance();
  void MakeDevice(const adrt_bundle* bundle);

  bool validate_;
  uint32_t target_ = 0;
  uint32_t faults_ = 0;
  VkInstance instance_ = VK_NULL_HANDLE;
  VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
  VkPhysicalDevice physical_ = VK_NULL_HANDLE;
  VkPhysicalDeviceProperties properties_ = {};
  uint32_t queue_family_ = 0;
  std::vector<const char*> extensions_;
  VkPhysicalDeviceShaderAtomicFloatFeaturesEXT atomics_ = {};
  VkPhysicalDeviceVulkan11Features features11_ = {};
  VkPhysicalDeviceVulkan12Features features12_ = {};
  VkPhysicalDeviceFeatures2 features_ = {};
  VkDevice device_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  VkFence fence_ = VK_NULL_HANDLE;
};

}  // namespace engine
