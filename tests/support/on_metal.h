#pragma once
// Kernels as Metal source, on the host's Metal.

#include "compiled.h"
#include "metal_host_api.h"
#include "on_device.h"

namespace adc::test {

/// The host's Metal goes after the device that is made of it.
struct WithMetal {
  ~WithMetal() { CHECK(metal_.LiveObjects() == 0); }
  msl_host::MetalHost metal_;
};

class OnMetal : private WithMetal, public OnDevice {
 public:
  explicit OnMetal(const std::string& path, bool bounds_record = false) {
    adrt_host host = TrustingHost();
    adrt_metal_desc desc = {};
    desc.struct_size = sizeof desc;
    desc.threads = 1024;
    desc.api = metal_.api();
    OpenBundle(CompiledFor(path, "metal:2.4", bounds_record), host);
    Must(adrt_device_open_metal(&host, &desc, &device_, Error()));
    LoadModule();
  }
  msl_host::MetalHost& metal() { return metal_; }
};

}  // namespace adc::test
