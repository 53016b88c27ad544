#pragma once
// A device of NVIDIA's, and its modules. A device is the thread's current one by its context.

#include <cstdint>

#include "cuda/driver.h"

namespace adrt {

struct CudaDevice : StreamDevice {
  using StreamDevice::StreamDevice;

  adrt_cuda_api api = {};
  void* context = nullptr;
  bool is_primary = false;  ///< the context was retained, and is to be released
  int device = 0;
  uint32_t level = 0;  ///< 90 for sm_90
  uint32_t newest_ptx = 0;
};

inline CudaDevice& Cuda(adrt_device& device) {
  return static_cast<CudaDevice&>(device);
}
inline const CudaDevice& Cuda(const adrt_device& device) {
  return static_cast<const CudaDevice&>(device);
}

namespace cuda {

void SayOldDriver(const CudaDevice& device, uint32_t ptx, artifact::TextWriter& reason);

/// The functions of DeviceKind for modules. module.cpp
bool Load(adrt_module& module, adrt_error* error);
bool Prepare(const adrt_launch_plan& plan, adrt_error* error);
void Unload(adrt_module& module);

}  // namespace cuda
}  // namespace adrt
