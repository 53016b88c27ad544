#pragma once
// Kernels on a Vulkan device, queue and command buffer of the test's own: those of the sample's engine, the
// validation layer watching.

#include "compiled.h"
#include "on_device.h"
#include "recorder.h"
#include "vulkan_engine/engine.h"

namespace adc::test {

/// The engine goes after the loader's device.
struct WithEngine {
  ~WithEngine() {
    if (engine) CHECK(engine->Faults() == 0);
  }
  std::unique_ptr<engine::Device> engine;
};

class OwnVulkan : private WithEngine, public OnDevice, public Recorder {
 public:
  /// `pushes`: the loader may push descriptors.
  explicit OwnVulkan(const std::string& path, bool bounds_record = false,
                     const std::string& target = "vulkan:1.2", bool pushes = true) {
    adrt_host host = TrustingHost();
    OpenBundle(CompiledFor(path, target, bounds_record), host);
    engine = std::make_unique<engine::Device>(bundle_, true);
    adrt_vk_desc desc = engine->Describe();
    std::vector<const char*> extensions;
    for (uint32_t n = 0; n < desc.extension_count; ++n) {
      if (pushes || std::string(desc.extensions[n]) != VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME)
        extensions.push_back(desc.extensions[n]);
    }
    desc.extension_count = static_cast<uint32_t>(extensions.size());
    desc.extensions = extensions.data();
    desc.queue = engine->queue();  // for the memory of arguments
    Must(adrt_device_wrap_vk(&host, &desc, &device_, Error()));
    LoadModule();
  }

  adrt_status RecordSize(adrt_launch_plan* plan, Region& memory, adrt_error* error) override {
    return adrt_record_size_vk(plan, Commands(), static_cast<const adrt_vk_buffer*>(memory.data()), error);
  }
  adrt_status RecordLaunch(adrt_launch_plan* plan, Region* heap, Region& status, adrt_error* error) override {
    adrt_vk_launch launch = {};
    launch.struct_size = sizeof launch;
    launch.heap = heap ? static_cast<const adrt_vk_buffer*>(heap->data()) : nullptr;
    launch.status = static_cast<const adrt_vk_buffer*>(status.data());
    return adrt_record_vk(plan, Commands(), &launch, error);
  }
  void Submit() override {
    Commands();
    engine->Submit();
    commands_ = VK_NULL_HANDLE;
  }

 private:
  VkCommandBuffer Commands() {
    if (commands_ == VK_NULL_HANDLE) commands_ = engine->Begin();
    return commands_;
  }
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
};

}  // namespace adc::test
