#include <adrt/adrt_cuda.h>

#include "artifact/gpu_abi.h"
#include "artifact/views.h"
#include "core/errors.h"
#include "core/host.h"
#include "core/launch.h"
#include "cuda/device.h"

// NVIDIA's devices through the CUDA driver. The code is PTX (cuda/module.cpp). stream/stream.h has the part
// that is the same for AMD's devices.

namespace adrt {

void cuda::SayOldDriver(const CudaDevice& device, uint32_t ptx, artifact::TextWriter& reason) {
  reason << "the code is PTX " << ptx / 10 << "." << ptx % 10 << ", and this driver reads PTX up to "
         << device.newest_ptx / 10 << "." << device.newest_ptx % 10
         << ": a newer driver would run it, or code for an older PTX";
}

namespace {

bool Enter(const StreamDevice& device, int*, adrt_error* error) {
  const CudaDevice& cuda = Cuda(device);
  int code = cuda.api.ContextPush(cuda.context);
  if (code == kCudaSuccess) return true;
  if (error) CudaFailed(cuda.api, code, "cuCtxPushCurrent", error);
  return false;
}

// Popping returns the error of an earlier asynchronous call, if any: waiting reports that.
void Leave(const StreamDevice& device, int) {
  void* popped = nullptr;
  Cuda(device).api.ContextPop(&popped);
}

bool Failed(const StreamDevice& device, int code, const char* call, adrt_error* error) {
  return CudaFailed(Cuda(device).api, code, call, error);
}

constexpr StreamDriver kDriver = {
    .names = kCudaStreamNames,
    .graph_names = kCudaGraphNames,
    .what = "CUDA",
    .record = "record_cuda",
    .record_size = "record_size_cuda",
    .out_of_memory = kCudaOutOfMemory,
    .launch_end = nullptr,
    .enter = Enter,
    .leave = Leave,
    .failed = Failed,
};

// ------------------------------------------------------------------------------------------- choosing code

// "sm_90" or "sm_90a": the number, and whether it runs on exactly that.
bool ParseLevel(std::string_view arch, uint32_t* level, bool* exact) {
  if (!artifact::BeginsWith(arch, "sm_")) return false;
  arch.remove_prefix(3);
  *level = 0;
  while (!arch.empty() && arch[0] >= '0' && arch[0] <= '9' && *level < 10000) {
    *level = *level * 10 + static_cast<uint32_t>(arch[0] - '0');
    arch.remove_prefix(1);
  }
  *exact = arch == "a";
  return *level > 0 && (arch.empty() || *exact);
}

// The number after "ptx" in "cuda:sm_80:ptx75" and among the features; 0 where nothing is said.
uint32_t NumberBehindPtx(std::string_view text) {
  size_t at = text.find("ptx");
  uint32_t number = 0;
  if (at == std::string_view::npos) return 0;
  for (at += 3; at < text.size() && text[at] >= '0' && text[at] <= '9' && number < 1000; ++at) {
    number = number * 10 + static_cast<uint32_t>(text[at] - '0');
  }
  return number;
}

bool Judge(const adrt_device& device, const artifact::TargetMeta& target, uint32_t* rank,
           artifact::TextWriter& reason) {
  const CudaDevice& cuda = Cuda(device);
  uint32_t level = 0;
  bool exact = false;
  if (!ParseLevel(target.arch.view(), &level, &exact)) {
    reason << "'" << target.arch.view() << "' is no architecture that this loader knows";
    return false;
  }
  if (level > cuda.level || (exact && level != cuda.level)) {
    reason << "is for " << target.arch.view() << ", the device is " << cuda.arch;
    return false;
  }
  uint32_t ptx = NumberBehindPtx(target.name.view());
  for (const String& feature : target.features) {
    if (feature == ADRT_GPU_TABLE_FEATURE || feature == ADRT_GPU_TEAM_FEATURE) continue;
    uint32_t asked = NumberBehindPtx(feature.view());
    if (asked == 0) {
      reason << "needs '" << feature.view() << "', which this loader does not know";
      return false;
    }
    if (asked > ptx) ptx = asked;
  }
  if (ptx > cuda.newest_ptx) {
    cuda::SayOldDriver(cuda, ptx, reason);
    return false;
  }
  *rank = level;
  return true;
}

void Features(const adrt_device& device, artifact::TextWriter& text) {
  text << "ptx" << Cuda(device).newest_ptx;
}

// ------------------------------------------------------------------------------------------------- devices

void Destroy(adrt_device& device) {
  CudaDevice* cuda = &Cuda(device);
  stream::DestroyStream(*cuda);
  if (cuda->is_primary) cuda->api.PrimaryContextRelease(cuda->device);
  Delete(cuda->host.allocator, cuda);
}

constexpr DeviceKind kCuda = {
    .name = "cuda",
    .payload = artifact::section::kPtx,
    .host_memory = false,
    .judge = Judge,
    .load = cuda::Load,
    .prepare = cuda::Prepare,
    .unload = cuda::Unload,
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

bool Attribute(const CudaDevice& cuda, int attribute, uint32_t* value, adrt_error* error) {
  int given = 0;
  int code = cuda.api.DeviceGetAttribute(&given, attribute, cuda.device);
  if (code != kCudaSuccess) return CudaFailed(cuda.api, code, "cuDeviceGetAttribute", error);
  *value = given > 0 ? static_cast<uint32_t>(given) : 0;
  return true;
}

// Finds the facts about the device, and makes the stream of adrt_run. The context is known, and current.
bool Describe(CudaDevice& cuda, adrt_error* error) {
  constexpr int kMaxGridX = 5, kProcessors = 16, kCacheBytes = 38, kThreadsPerProcessor = 39, kMajor = 75,
                kMinor = 76;
  uint32_t major = 0, minor = 0, threads = 0, blocks = 0, cache = 0;
  if (!Attribute(cuda, kMajor, &major, error) || !Attribute(cuda, kMinor, &minor, error) ||
      !Attribute(cuda, kProcessors, &cuda.processors, error) ||
      !Attribute(cuda, kThreadsPerProcessor, &threads, error) ||
      !Attribute(cuda, kCacheBytes, &cache, error) || !Attribute(cuda, kMaxGridX, &blocks, error)) {
    return false;
  }
  int version = 0;
  int code = cuda.api.DriverGetVersion(&version);
  if (code != kCudaSuccess) return CudaFailed(cuda.api, code, "cuDriverGetVersion", error);
  code = cuda.api.DeviceGetName(cuda.label, sizeof cuda.label - 1, cuda.device);
  if (code != kCudaSuccess) return CudaFailed(cuda.api, code, "cuDeviceGetName", error);
  cuda.level = major * 10 + minor;
  cuda.newest_ptx = NewestPtx(version);
  cuda.worker_count = cuda.processors * threads;
  cuda.most_blocks = blocks;
  cuda.summing_turns = 4;  // evens out what processors have to do
  cuda.cache_bytes = cache;
  artifact::TextWriter(cuda.arch, sizeof cuda.arch) << "sm_" << cuda.level;
  if (cuda.worker_count == 0 || blocks == 0) {
    return Refuse(error, ADRT_ERROR_DRIVER, "the CUDA driver says that its device has no processors");
  }
  return stream::MakeStream(cuda, error);
}

bool Wrap(const adrt_cuda_desc& desc, CudaDevice& cuda, adrt_error* error) {
  if (!FindCuda(desc.find, desc.user, &cuda.api, &cuda.stream_api, &cuda.graph_api, error)) return false;
  cuda.context = desc.context;
  if (!cuda.context) {
    int code = cuda.api.ContextGetCurrent(&cuda.context);
    if (code != kCudaSuccess) return CudaFailed(cuda.api, code, "cuCtxGetCurrent", error);
  }
  if (!cuda.context) {
    return Refuse(error, ADRT_ERROR_ARGUMENT,
                  "device_wrap_cuda: no context is given, and none is current on this thread");
  }
  Current current(cuda, error);
  if (!current) return false;
  int code = cuda.api.ContextGetDevice(&cuda.device);
  if (code != kCudaSuccess) return CudaFailed(cuda.api, code, "cuCtxGetDevice", error);
  return Describe(cuda, error);
}

bool Open(const adrt_cuda_desc& desc, CudaDevice& cuda, adrt_error* error) {
  if (!FindCuda(desc.find, desc.user, &cuda.api, &cuda.stream_api, &cuda.graph_api, error)) return false;
  int count = 0;
  int code = cuda.api.Init(0);
  if (code != kCudaSuccess && code != kCudaNoDevice) return CudaFailed(cuda.api, code, "cuInit", error);
  if (code == kCudaSuccess) code = cuda.api.DeviceGetCount(&count);
  if (code != kCudaSuccess && code != kCudaNoDevice)
    return CudaFailed(cuda.api, code, "cuDeviceGetCount", error);
  if (count < 0 || desc.index >= static_cast<uint32_t>(count)) {
    return Refuse(error, ADRT_ERROR_NOT_FOUND, "device_open_cuda: no device ", desc.index, ": there are ",
                  int32_t{count});
  }
  code = cuda.api.DeviceGet(&cuda.device, static_cast<int>(desc.index));
  if (code != kCudaSuccess) return CudaFailed(cuda.api, code, "cuDeviceGet", error);
  code = cuda.api.PrimaryContextRetain(&cuda.context, cuda.device);
  if (code != kCudaSuccess) return CudaFailed(cuda.api, code, "cuDevicePrimaryCtxRetain", error);
  cuda.is_primary = true;
  Current current(cuda, error);
  return current && Describe(cuda, error);
}

// A device that `fill` describes; if that fails, it leaves nothing.
adrt_status MakeCuda(const adrt_host* host, const adrt_cuda_desc* desc, adrt_device** device,
                     adrt_error* error, bool (*fill)(const adrt_cuda_desc&, CudaDevice&, adrt_error*)) {
  if (!device) return Fail(error, ADRT_ERROR_ARGUMENT, "CUDA device: null argument");
  adrt_cuda_desc wanted = {};
  if (desc && !CopyDescriptor(desc, &wanted)) {
    return Fail(error, ADRT_ERROR_ARGUMENT, "CUDA device: ", kNotSet);
  }
  Host made;
  if (!MakeHost(host, &made, error)) return ADRT_ERROR_ARGUMENT;
  adrt_error own = {};
  adrt_error* details = DetailsOf(error, &own);
  CudaDevice* cuda = New<CudaDevice>(made.allocator, made, &kCuda, kDriver);
  if (!cuda) return OutOfMemory(error);
  if (!fill(wanted, *cuda, details)) {
    Destroy(*cuda);
    return details->status;
  }
  *device = cuda;
  return ADRT_OK;
}

}  // namespace
}  // namespace adrt

adrt_status adrt_device_wrap_cuda(const adrt_host* host, const adrt_cuda_desc* desc, adrt_device** device,
                                  adrt_error* error) {
  return adrt::MakeCuda(host, desc, device, error, adrt::Wrap);
}

adrt_status adrt_device_open_cuda(const adrt_host* host, const adrt_cuda_desc* desc, adrt_device** device,
                                  adrt_error* error) {
  return adrt::MakeCuda(host, desc, device, error, adrt::Open);
}

adrt_status adrt_record_cuda(adrt_launch_plan* plan, void* stream, void* heap, uint64_t heap_size,
                             void* status, adrt_error* error) {
  adrt::Alive(__func__, plan);
  return adrt::stream::Record(&adrt::kCuda, adrt::kDriver, plan, stream, heap, heap_size, status, error);
}

adrt_status adrt_record_size_cuda(adrt_launch_plan* plan, void* stream, void* memory, uint64_t memory_size,
                                  adrt_error* error) {
  adrt::Alive(__func__, plan);
  return adrt::stream::RecordSize(&adrt::kCuda, adrt::kDriver, plan, stream, memory, memory_size, error);
}
