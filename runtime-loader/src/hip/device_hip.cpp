#include <adrt/adrt_hip.h>

#include <cstring>

#include "artifact/gpu_abi.h"
#include "artifact/views.h"
#include "core/code.h"
#include "core/errors.h"
#include "core/host.h"
#include "core/launch.h"
#include "hip/driver.h"

// AMD's devices through the HIP runtime. The code is an HSACO for exactly one architecture. stream/stream.h
// has the part that is the same for NVIDIA's devices; a device is the thread's current one by its number.

namespace adrt {
namespace {

struct HipDevice : StreamDevice {
  HipDevice(const Host& from, const DeviceKind* its_kind);

  adrt_hip_api api = {};
  int device = 0;
  char abilities[80] = {};  ///< "sramecc+ xnack-"
};

HipDevice& Hip(adrt_device& device) {
  return static_cast<HipDevice&>(device);
}
const HipDevice& Hip(const adrt_device& device) {
  return static_cast<const HipDevice&>(device);
}

bool Enter(const StreamDevice& device, int* before, adrt_error* error) {
  const HipDevice& hip = Hip(device);
  int code = hip.api.DeviceGetCurrent(before);
  if (code != kHipSuccess) {
    if (error) HipFailed(hip.api, code, "hipGetDevice", error);
    return false;
  }
  if (*before == hip.device) return true;
  code = hip.api.DeviceSetCurrent(hip.device);
  if (code == kHipSuccess) return true;
  if (error) HipFailed(hip.api, code, "hipSetDevice", error);
  return false;
}

void Leave(const StreamDevice& device, int before) {
  const HipDevice& hip = Hip(device);
  if (before != hip.device) hip.api.DeviceSetCurrent(before);
}

bool Failed(const StreamDevice& device, int code, const char* call, adrt_error* error) {
  return HipFailed(Hip(device).api, code, call, error);
}

const StreamDriver kDriver = {
    .names = kHipStreamNames,
    .graph_names = kHipGraphNames,
    .what = "HIP",
    .record = "record_hip",
    .record_size = "record_size_hip",
    .out_of_memory = kHipOutOfMemory,
    .launch_end = reinterpret_cast<void*>(uintptr_t{3}),  // HIP_LAUNCH_PARAM_END
    .enter = Enter,
    .leave = Leave,
    .failed = Failed,
};

HipDevice::HipDevice(const Host& from, const DeviceKind* its_kind) : StreamDevice(from, its_kind, kDriver) {}

// ------------------------------------------------------------------------------------------- choosing code

bool Judge(const adrt_device& device, const artifact::TargetMeta& target, uint32_t* rank,
           artifact::TextWriter& reason) {
  const HipDevice& hip = Hip(device);
  if (target.arch.view() != hip.arch) {
    reason << "is for " << target.arch.view() << ", the device is " << hip.arch;
    return false;
  }
  for (const String& feature : target.features) {
    if (feature == ADRT_GPU_TABLE_FEATURE || feature == ADRT_GPU_TEAM_FEATURE) continue;
    reason << "needs '" << feature.view() << "', which this loader does not know";
    return false;
  }
  *rank = 1;
  return true;
}

void Features(const adrt_device& device, artifact::TextWriter& text) {
  text << Hip(device).abilities;
}

// ------------------------------------------------------------------------------------------------- modules

bool Load(adrt_module& module, adrt_error* error) {
  const HipDevice& hip = Hip(*module.device);
  Vector<uint8_t> image(&module.host.allocator);
  uint32_t section = 0;
  if (!ReadCode(module, &image, &section, error)) return false;
  Current current(hip, error);
  if (!current) return false;
  int code = hip.api.ModuleLoad(&module.code, image.data());
  if (code != kHipSuccess) {
    HipFailed(hip.api, code, "hipModuleLoadData", error);
    error->section = section;
    return false;
  }
  uint32_t kernels = static_cast<uint32_t>(module.bundle->metadata.kernels.size());
  if (stream::FindEntries(module, module.code, 0, kernels, error) &&
      (!stream::HasTables(module) || stream::FindTableWriter(module, module.code, error))) {
    return true;
  }
  error->section = section;
  hip.stream_api.ModuleUnload(module.code);
  return false;
}

void Unload(adrt_module& module) {
  const HipDevice& hip = Hip(*module.device);
  if (Current current(hip, nullptr); current) hip.stream_api.ModuleUnload(module.code);
}

// ------------------------------------------------------------------------------------------------- devices

void Destroy(adrt_device& device) {
  HipDevice* hip = &Hip(device);
  stream::DestroyStream(*hip);
  Delete(hip->host.allocator, hip);
}

constexpr DeviceKind kHip = {
    .name = "hip",
    .payload = artifact::section::kHsaco,
    .host_memory = false,
    .judge = Judge,
    .load = Load,
    .unload = Unload,
    .destroy = Destroy,
    .features = Features,
    .bind = stream::Bind,
    .data = stream::Data,
    .allocate = stream::Allocate,
    .release = stream::Release,
    .write = stream::Write,
    .read = stream::Read,
    .begin = stream::Begin,
    .finish = stream::Finish,
    .drop = stream::Drop,
    .clear = stream::Clear,
    .launch = stream::Launch,
    .barrier = nullptr,  // a stream keeps order
#ifdef ADRT_SEQUENCES
    .sequence = stream::RecordSequence,
    .forget_sequence = stream::ForgetSequence,
#endif
};

// Finds the facts about the device, and makes the stream of adrt_run. Its number is known.
bool Describe(HipDevice& hip, adrt_error* error) {
  Current current(hip, error);
  if (!current) return false;
  HipProperties properties = {};
  int code = hip.api.DeviceGetProperties(&properties, hip.device);
  if (code != kHipSuccess) return HipFailed(hip.api, code, "hipGetDeviceProperties", error);
  properties.name[sizeof properties.name - 1] = properties.arch[sizeof properties.arch - 1] = 0;
  artifact::TextWriter(hip.label, sizeof hip.label) << properties.name;
  std::string_view arch = properties.arch;
  size_t colon = arch.find(':');
  artifact::TextWriter(hip.arch, sizeof hip.arch) << artifact::Piece(arch, 0, colon);
  if (colon != std::string_view::npos) {
    artifact::TextWriter(hip.abilities, sizeof hip.abilities) << artifact::Piece(arch, colon + 1);
    for (char& c : hip.abilities) c = c == ':' ? ' ' : c;
  }
  if (properties.processors <= 0 || properties.threads_per_processor <= 0 || properties.grid[0] <= 0) {
    return Refuse(error, ADRT_ERROR_DRIVER, "the HIP runtime says that its device has no processors");
  }
  constexpr uint32_t kLargestBlock = 1024;
  hip.processors = static_cast<uint32_t>(properties.processors);
  hip.worker_count = hip.processors * static_cast<uint32_t>(properties.threads_per_processor);
  // The runtime counts a launch's threads in 32 bits, whatever it says of blocks.
  hip.most_blocks = static_cast<uint32_t>(properties.grid[0]);
  hip.summing_turns = 4;  // as on CUDA
  if (hip.most_blocks > UINT32_MAX / kLargestBlock) hip.most_blocks = UINT32_MAX / kLargestBlock;
  return stream::MakeStream(hip, error);
}

bool Wrap(const adrt_hip_desc& desc, HipDevice& hip, adrt_error* error) {
  if (!FindHip(desc.find, desc.user, &hip.api, &hip.stream_api, &hip.graph_api, error)) return false;
  int code = hip.api.DeviceGetCurrent(&hip.device);
  if (code != kHipSuccess) return HipFailed(hip.api, code, "hipGetDevice", error);
  return Describe(hip, error);
}

bool Open(const adrt_hip_desc& desc, HipDevice& hip, adrt_error* error) {
  if (!FindHip(desc.find, desc.user, &hip.api, &hip.stream_api, &hip.graph_api, error)) return false;
  int count = 0;
  int code = hip.api.Init(0);
  if (code != kHipSuccess && code != kHipNoDevice) return HipFailed(hip.api, code, "hipInit", error);
  if (code == kHipSuccess) code = hip.api.DeviceGetCount(&count);
  if (code != kHipSuccess && code != kHipNoDevice)
    return HipFailed(hip.api, code, "hipGetDeviceCount", error);
  if (count < 0 || desc.index >= static_cast<uint32_t>(count)) {
    return Refuse(error, ADRT_ERROR_NOT_FOUND, "device_open_hip: no device ", desc.index, ": there are ",
                  int32_t{count});
  }
  hip.device = static_cast<int>(desc.index);
  return Describe(hip, error);
}

// A device that `fill` describes; if that fails, it leaves nothing.
adrt_status MakeHip(const adrt_host* host, const adrt_hip_desc* desc, adrt_device** device, adrt_error* error,
                    bool (*fill)(const adrt_hip_desc&, HipDevice&, adrt_error*)) {
  if (!device) return Fail(error, ADRT_ERROR_ARGUMENT, "HIP device: null argument");
  adrt_hip_desc wanted = {};
  if (desc && !CopyDescriptor(desc, &wanted)) {
    return Fail(error, ADRT_ERROR_ARGUMENT, "HIP device: ", kNotSet);
  }
  Host made;
  if (!MakeHost(host, &made, error)) return ADRT_ERROR_ARGUMENT;
  adrt_error own = {};
  adrt_error* details = DetailsOf(error, &own);
  HipDevice* hip = New<HipDevice>(made.allocator, made, &kHip);
  if (!hip) return OutOfMemory(error);
  if (!fill(wanted, *hip, details)) {
    Destroy(*hip);
    return details->status;
  }
  *device = hip;
  return ADRT_OK;
}

}  // namespace
}  // namespace adrt

adrt_status adrt_device_wrap_hip(const adrt_host* host, const adrt_hip_desc* desc, adrt_device** device,
                                 adrt_error* error) {
  return adrt::MakeHip(host, desc, device, error, adrt::Wrap);
}

adrt_status adrt_device_open_hip(const adrt_host* host, const adrt_hip_desc* desc, adrt_device** device,
                                 adrt_error* error) {
  return adrt::MakeHip(host, desc, device, error, adrt::Open);
}

adrt_status adrt_record_hip(adrt_launch_plan* plan, void* stream, void* heap, uint64_t heap_size,
                            void* status, adrt_error* error) {
  adrt::Alive(__func__, plan);
  return adrt::stream::Record(&adrt::kHip, adrt::kDriver, plan, stream, heap, heap_size, status, error);
}

adrt_status adrt_record_size_hip(adrt_launch_plan* plan, void* stream, void* memory, uint64_t memory_size,
                                 adrt_error* error) {
  adrt::Alive(__func__, plan);
  return adrt::stream::RecordSize(&adrt::kHip, adrt::kDriver, plan, stream, memory, memory_size, error);
}
