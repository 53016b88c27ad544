#pragma once
// Kernels on the first Vulkan device, the validation layer watching.

#include "compiled.h"
#include "on_device.h"

namespace adc::test {

/// What the validation layer says, until the device is gone. It must have said nothing.
class VulkanSystem {
 public:
  static constexpr const char* kTarget = "vulkan:1.2";
  ~VulkanSystem() { CHECK(faults_ == ""); }

  adrt_status Open(adrt_host host, adrt_device** device, adrt_error* error) {
    host.user = this;
    host.log = [](void* own, const char* text) {
      bool is_fault = std::strstr(text, "validation: ") != nullptr;
      if (is_fault) static_cast<VulkanSystem*>(own)->faults_ += std::string(text) + "\n";
    };
    adrt_vk_open_desc desc = {};
    desc.struct_size = sizeof desc;
    desc.flags = ADRT_VK_VALIDATE;
    return adrt_device_open_vk(&host, &desc, device, error);
  }

 private:
  std::string faults_;
};

class OnVulkan : private VulkanSystem, public OnDevice {
 public:
  explicit OnVulkan(const std::string& path, bool bounds_record = false,
                    const std::string& target = kTarget) {
    adrt_host host = TrustingHost();
    OpenBundle(CompiledFor(path, target, bounds_record), host);
    Must(VulkanSystem::Open(host, &device_, Error()));
    LoadModule();
  }
};

}  // namespace adc::test
