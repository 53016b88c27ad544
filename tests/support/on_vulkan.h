#pragma once
// Kernels on the first Vulkan device, the validation layer watching.

#include "compiled.h"
#include "on_device.h"

namespace adc::test {

/// What the layer says, until the device is gone.
struct WithFaults {
  ~WithFaults() { CHECK(faults_ == ""); }
  std::string faults_;
};

class OnVulkan : private WithFaults, public OnDevice {
 public:
  explicit OnVulkan(const std::string& path, bool bounds_record = false) {
    adrt_host host = TrustingHost();
    host.user = static_cast<WithFaults*>(this);
    host.log = [](void* own, const char* text) {
      if (std::strstr(text, "validation: "))
        static_cast<WithFaults*>(own)->faults_ += std::string(text) + "\n";
    };
    adrt_vk_open_desc open = {};
    open.struct_size = sizeof open;
    open.flags = ADRT_VK_VALIDATE;
    OpenBundle(CompiledFor(path, "vulkan:1.2", bounds_record), host);
    Must(adrt_device_open_vk(&host, &open, &device_, Error()));
    LoadModule();
  }
};

}  // namespace adc::test
