#pragma once
// Kernels as HSACO for gfx1100, on the interpreter of RDNA3.

#include <adrt/adrt_hip.h>

#include "compiled.h"
#include "device.h"
#include "on_device.h"

namespace adc::test {

/// The interpreter's device. What a kernel did that it must not do fails the test; so does what is alive when
/// the device goes.
class HipSystem {
 public:
  static constexpr const char* kTarget = "hip:gfx1100";
  HipSystem() : before_(rdna3::StateOfDevice()) {}
  ~HipSystem() {
    rdna3::DeviceState after = rdna3::StateOfDevice();
    CHECK(after.fault == before_.fault);
    CHECK(after.live == before_.live);
  }

  adrt_status Open(const adrt_host& host, adrt_device** device, adrt_error* error) {
    adrt_hip_desc desc = {};
    desc.struct_size = sizeof desc;
    desc.find = rdna3::FindHipFunction;
    return adrt_device_open_hip(&host, &desc, device, error);
  }

 private:
  rdna3::DeviceState before_;
};

class OnHip : private HipSystem, public OnDevice {
 public:
  explicit OnHip(const std::string& path, bool bounds_record = false) {
    adrt_host host = TrustingHost();
    OpenBundle(CompiledFor(path, kTarget, bounds_record), host);
    Must(HipSystem::Open(host, &device_, Error()));
    LoadModule();
  }
};

}  // namespace adc::test
