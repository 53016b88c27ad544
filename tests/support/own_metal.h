#pragma once
// Kernels as Metal source on a device and a queue of the test's own.

#include "on_metal.h"
#include "recorder.h"

namespace adc::test {

/// The objects of an engine; they go after the loader's device.
struct WithOwnMetal {
  WithOwnMetal() : api(*metal.api()), device(metal.NewDevice()), queue(metal.NewQueue(device)) {}
  ~WithOwnMetal() {
    for (void* object : {queue, device}) api.release(api.user, object);
    CHECK(metal.LiveObjects() == 0);
  }
  msl_host::MetalHost metal;
  const adrt_metal_api& api;
  void *device, *queue;
};

class OwnMetal : private WithOwnMetal, public OnDevice, public Recorder {
 public:
  explicit OwnMetal(const std::string& path, bool bounds_record = false) {
    adrt_host host = TrustingHost();
    adrt_metal_desc desc = {};
    desc.struct_size = sizeof desc;
    desc.threads = 1024;
    desc.api = metal.api();
    desc.device = WithOwnMetal::device;
    desc.queue = queue;
    OpenBundle(CompiledFor(path, "metal:2.4", bounds_record), host);
    Must(adrt_device_wrap_metal(&host, &desc, &device_, Error()));
    LoadModule();
  }
  ~OwnMetal() override { CHECK(commands_ == nullptr); }

  adrt_status RecordSize(adrt_launch_plan* plan, Region& memory, adrt_error* error) override {
    return adrt_record_size_metal(plan, Commands(), static_cast<const adrt_metal_buffer*>(memory.data()),
                                  error);
  }
  adrt_status RecordLaunch(adrt_launch_plan* plan, Region* heap, Region& status, adrt_error* error) override {
    adrt_metal_launch launch = {};
    launch.struct_size = sizeof launch;
    launch.heap = heap ? static_cast<const adrt_metal_buffer*>(heap->data()) : nullptr;
    launch.status = static_cast<const adrt_metal_buffer*>(status.data());
    return adrt_record_metal(plan, Commands(), &launch, error);
  }
  void Submit() override {
    int32_t code = 0;
    char text[256] = {};
    int32_t outcome = api.commit_and_wait(api.user, Commands(), &code, text, sizeof text);
    INFO(text);
    CHECK(outcome == ADRT_METAL_DONE);
    api.release(api.user, commands_);
    commands_ = nullptr;
  }

 private:
  void* Commands() {
    if (!commands_) commands_ = api.new_commands(api.user, queue);
    return commands_;
  }
  void* commands_ = nullptr;
};

}  // namespace adc::test
