#pragma once
// As much Vulkan as a compute shader takes: a device, buffers that the host sees, and a dispatch. Nothing
// here knows of adc: it would run the shader that the kernel was read from in the same way.

#include <vulkan/vulkan.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace shaders {

/// Ends the program with what went wrong.
[[noreturn]] void Fail(const std::string& what);

/// Memory that device and host both see.
struct Buffer {
  VkBuffer handle = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  uint64_t bytes = 0;
  void* mapped = nullptr;
};

/// An image with one level, whose texels a buffer has row by row before and after a dispatch.
struct Image {
  VkImage handle = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  VkImageView view = VK_NULL_HANDLE;
  VkSampler sampler = VK_NULL_HANDLE;
  VkExtent3D extent = {1, 1, 1};
  Buffer texels;
};

struct Descriptor {
  uint32_t set = 0, binding = 0;
  VkDescriptorType type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
  const Buffer* buffer = nullptr;
  const Image* image = nullptr;  ///< in place of a buffer
};

struct Dispatch {
  std::vector<uint32_t> code;
  std::string entry;
  std::vector<Descriptor> descriptors;
  std::vector<uint8_t> push_constants;
  std::map<uint32_t, uint32_t> specialization;  ///< 32-bit constants by number
  uint32_t groups[3] = {1, 1, 1};
};

class Device {
 public:
  Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device();

  Buffer MakeBuffer(uint64_t bytes) const;
  void Destroy(Buffer& buffer) const;
  /// Of two axes, or of three where it is deep.
  Image MakeImage(VkFormat format, uint32_t bytes_per_texel, VkExtent3D extent) const;
  void Destroy(Image& image) const;
  /// Runs the shader and waits for it.
  void Run(const Dispatch& dispatch) const;
  const std::string& name() const { return name_; }

 private:
  VkDeviceMemory Allocate(const VkMemoryRequirements& needs, VkMemoryPropertyFlags wanted) const;

  VkInstance instance_ = VK_NULL_HANDLE;
  VkPhysicalDevice physical_ = VK_NULL_HANDLE;
  VkDevice device_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  uint32_t family_ = 0;
  std::string name_;
};

/// The words of a .spv file.
std::vector<uint32_t> ReadCode(const std::string& path);

}  // namespace shaders
