#pragma once
// Bundles that were compiled elsewhere (compile.h) on a device of this machine that the command line names,
// and on CUDA in the caller's own stream.

#include <adrt/adrt_cuda.h>
#include <adrt/adrt_vk.h>

#include "compiled.h"
#include "on_device.h"
#include "recorder.h"

namespace adc::test {

/// "cuda" or "vulkan".
inline std::string prepared_kind;

/// The device, which stays open: making one takes longer than most tests.
class PreparedSystem {
 public:
  static constexpr const char* kTarget = "";  // bundles hold all of them

  adrt_status Open(const adrt_host& host, adrt_device** device, adrt_error* error) {
    static adrt_device* opened = nullptr;
    if (!opened) {
      adrt_status status = prepared_kind == "cuda" ? adrt_device_open_cuda(&host, nullptr, &opened, error)
                                                   : adrt_device_open_vk(&host, nullptr, &opened, error);
      if (status != ADRT_OK) return status;
    }
    adrt_device_retain(opened);
    *device = opened;
    return ADRT_OK;
  }
};

class OnPrepared : private PreparedSystem, public OnDevice, public Recorder {
 public:
  explicit OnPrepared(const std::string& path, bool bounds_record = false) {
    adrt_host host = TrustingHost();
    OpenBundle(CompiledFor(path, kTarget, bounds_record), host);
    Must(PreparedSystem::Open(host, &device_, Error()));
    LoadModule();
  }

  // CUDA's stream of no name: copies wait for it.
  adrt_status RecordSize(adrt_launch_plan* plan, Region& memory, adrt_error* error) override {
    return adrt_record_size_cuda(plan, nullptr, memory.data(), memory.bytes(), error);
  }
  adrt_status RecordLaunch(adrt_launch_plan* plan, Region* heap, Region& status, adrt_error* error) override {
    return adrt_record_cuda(plan, nullptr, heap ? heap->data() : nullptr, heap ? heap->bytes() : 0,
                            status.data(), error);
  }
  void Submit() override {}
};

}  // namespace adc::test
