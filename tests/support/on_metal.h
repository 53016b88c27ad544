#pragma once
// Kernels as Metal source, on the host's Metal.

#include "compiled.h"
#include "metal_host_api.h"
#include "on_device.h"

namespace adc::test {

/// The host's Metal, which goes after the device that is made of it.
class MetalSystem {
 public:
  static constexpr const char* kTarget = "metal:2.4";
  ~MetalSystem() { CHECK(metal_.LiveObjects() == 0); }

  adrt_status Open(const adrt_host& host, adrt_device** device, adrt_error* error) {
    adrt_metal_desc desc = {};
    desc.struct_size = sizeof desc;
    desc.threads = 1024;
    desc.api = metal_.api();
    return adrt_device_open_metal(&host, &desc, device, error);
  }

 private:
  msl_host::MetalHost metal_;
};

class OnMetal : private MetalSystem, public OnDevice {
 public:
  explicit OnMetal(const std::string& path, bool bounds_record = false) {
    adrt_host host = TrustingHost();
    OpenBundle(CompiledFor(path, kTarget, bounds_record), host);
    Must(MetalSystem::Open(host, &device_, Error()));
    LoadModule();
  }
};

}  // namespace adc::test
