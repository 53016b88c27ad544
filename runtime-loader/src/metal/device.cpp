#include "metal/device.h"

#include <cstring>

#include "core/errors.h"
#include "core/host.h"

// Wrapping the caller's device and opening the system's; the table of what a Metal device can do.

namespace adrt::metal {
namespace {

// Rows of adstacks are for threads that run at once. Metal does not say how many that are; this fills the
// largest devices, and costs a small one memory that it has.
constexpr uint32_t kDefaultThreads = 32768;
constexpr uint32_t kMostThreads = 1u << 24;

void Destroy(adrt_device& device) {
  Device* metal = &Of(device);
  Delete(metal->host.allocator, metal);
}

// Metal's targets ask for a version of the language and nothing else.
void Features(const adrt_device&, artifact::TextWriter&) {}

adrt_status Make(const adrt_host* host, const adrt_metal_desc& desc, Device** device, adrt_error* error) {
  const adrt_metal_api* api = desc.api ? desc.api : adrt_metal_system_api();
  if (!api) return Fail(error, ADRT_ERROR_UNSUPPORTED, "this build of adrt holds no Metal");
  if (desc.threads > kMostThreads) {
    return Fail(error, ADRT_ERROR_ARGUMENT, "device_metal: at most ", kMostThreads, " threads");
  }
  Host made;
  if (!MakeHost(host, &made, error)) return ADRT_ERROR_ARGUMENT;
  *device = New<Device>(made.allocator, made, api, desc.threads > 0 ? desc.threads : kDefaultThreads);
  return *device ? ADRT_OK : OutOfMemory(error);
}

// Takes over `device`, which is retained already.
adrt_status Complete(Device* metal, void* device, void* queue, adrt_device** result, adrt_error* error) {
  const adrt_metal_api& api = *metal->api;
  metal->device = device;
  metal->queue = queue;
  if (queue) {
    api.retain(api.user, queue);
  } else {
    metal->queue = api.new_queue(api.user, device);
  }
  if (!metal->queue) {
    adrt_device_release(metal);
    return Fail(error, ADRT_ERROR_DRIVER, "newCommandQueue gave no queue");
  }
  api.describe(api.user, device, &metal->facts);
  metal->facts.name[sizeof metal->facts.name - 1] = 0;
  artifact::TextWriter(metal->label, sizeof metal->label) << metal->facts.name;
  artifact::TextWriter(metal->arch, sizeof metal->arch)
      << metal->facts.language / 10 << "." << metal->facts.language % 10;
  // Threads are numbered with 32 bits.
  metal->most_blocks = UINT32_MAX / (metal->facts.most_threads > 0 ? metal->facts.most_threads : 1);
  *result = metal;
  return ADRT_OK;
}

constexpr DeviceKind kMetal = {
    .name = "metal",
    .payload = artifact::section::kMsl,
    .host_memory = false,
    .judge = Judge,
    .load = Load,
    .unload = Unload,
    .destroy = Destroy,
    .features = Features,
    .bind = Bind,
    .data = Data,
    .allocate = Allocate,
    .release = Release,
    .write = Write,
    .read = Read,
    .begin = Begin,
    .finish = Finish,
    .drop = Drop,
    .clear = Clear,
    .launch = Launch,
    .barrier = Barrier,
#ifdef ADRT_SEQUENCES
    .data_bytes = sizeof(adrt_metal_buffer),
#endif
};

}  // namespace

Device::Device(const Host& from, const adrt_metal_api* table, uint32_t threads)
    : adrt_device(from, MetalKind(), threads), api(table) {}

Device::~Device() {
  if (queue) api->release(api->user, queue);
  if (device) api->release(api->user, device);
}

const DeviceKind* MetalKind() {
  return &kMetal;
}

}  // namespace adrt::metal

using adrt::Fail;

adrt_status adrt_device_wrap_metal(const adrt_host* host, const adrt_metal_desc* desc, adrt_device** device,
                                   adrt_error* error) {
  adrt_metal_desc wanted = {};
  if (!desc || !device) return Fail(error, ADRT_ERROR_ARGUMENT, "device_wrap_metal: null argument");
  if (!adrt::CopyDescriptor(desc, &wanted)) {
    return Fail(error, ADRT_ERROR_ARGUMENT, "device_wrap_metal: ", adrt::kNotSet);
  }
  if (!wanted.device) return Fail(error, ADRT_ERROR_ARGUMENT, "device_wrap_metal: the device is null");
  adrt::metal::Device* metal = nullptr;
  adrt_status status = adrt::metal::Make(host, wanted, &metal, error);
  if (!metal) return status;
  metal->api->retain(metal->api->user, wanted.device);
  return adrt::metal::Complete(metal, wanted.device, wanted.queue, device, error);
}

adrt_status adrt_device_open_metal(const adrt_host* host, const adrt_metal_desc* desc, adrt_device** device,
                                   adrt_error* error) {
  adrt_metal_desc wanted = {};
  if (!device) return Fail(error, ADRT_ERROR_ARGUMENT, "device_open_metal: null argument");
  if (desc && !adrt::CopyDescriptor(desc, &wanted)) {
    return Fail(error, ADRT_ERROR_ARGUMENT, "device_open_metal: ", adrt::kNotSet);
  }
  if (wanted.device || wanted.queue) {
    return Fail(error, ADRT_ERROR_ARGUMENT,
                "device_open_metal opens a device of its own: give yours to device_wrap_metal");
  }
  adrt::metal::Device* metal = nullptr;
  adrt_status status = adrt::metal::Make(host, wanted, &metal, error);
  if (!metal) return status;
  void* opened = metal->api->new_default_device(metal->api->user);
  if (!opened) {
    adrt_device_release(metal);
    return Fail(error, ADRT_ERROR_NOT_FOUND, "the system has no Metal device");
  }
  return adrt::metal::Complete(metal, opened, nullptr, device, error);
}
