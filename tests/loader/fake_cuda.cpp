#include "fake_cuda.h"

#include <cstdlib>
#include <cstring>

#include "device_kernels.h"

namespace fixture {
namespace {

FakeCuda* fake = nullptr;  // the driver has no handle to itself
constexpr int kInvalidValue = 1, kOutOfMemory = 2, kInvalidContext = 201, kInvalidHandle = 400,
              kNotFound = 500, kIllegalAddress = 700;

// Counts a call; true where it is the one to fail.
bool Fails(const char* name) {
  if (++fake->calls != fake->fail_at) return false;
  fake->failed = name;
  return true;
}

int Broken(const char* what, int code) {
  fake->broken = what;
  return code;
}

bool HasContext() {
  return !fake->context_stack.empty() && fake->context_stack.back() == fake->context();
}

bool InMemory(uint64_t address, size_t bytes) {
  auto next = fake->memory.upper_bound(address);
  if (next == fake->memory.begin()) return false;
  --next;
  return address - next->first <= next->second && bytes <= next->second - (address - next->first);
}

// A call that makes or does something: does nothing where it fails.
#define CALL(name)                         \
  if (Fails(name)) return fake->fail_with; \
  if (!HasContext()) return Broken(name " without a context", kInvalidContext);
#define CALL_ANYWHERE(name) \
  if (Fails(name)) return fake->fail_with;

int Init(unsigned) {
  CALL_ANYWHERE("cuInit")
  return 0;
}
int DriverGetVersion(int* version) {
  CALL_ANYWHERE("cuDriverGetVersion")
  *version = fake->driver_version;
  return 0;
}
int DeviceGetCount(int* count) {
  CALL_ANYWHERE("cuDeviceGetCount")
  *count = fake->device_count;
  return 0;
}
int DeviceGet(int* device, int ordinal) {
  CALL_ANYWHERE("cuDeviceGet")
  *device = 40 + ordinal;
  return 0;
}
int DeviceGetName(char* name, int size, int device) {
  CALL_ANYWHERE("cuDeviceGetName")
  if (device != 40) return kInvalidValue;
  std::strncpy(name, "Fake 40", static_cast<size_t>(size));
  return 0;
}
int DeviceGetAttribute(int* value, int attribute, int device) {
  CALL_ANYWHERE("cuDeviceGetAttribute")
  if (device != 40) return kInvalidValue;
  switch (attribute) {
    case 5:
      *value = 1000;
      return 0;
    case 16:
      *value = fake->processors;
      return 0;
    case 38:
      *value = 50 << 20;
      return 0;
    case 39:
      *value = 1024;
      return 0;
    case 75:
      *value = fake->major;
      return 0;
    case 76:
      *value = fake->minor;
      return 0;
    default:
      return kInvalidValue;
  }
}
int PrimaryContextRetain(void** context, int) {
  CALL_ANYWHERE("cuDevicePrimaryCtxRetain")
  ++fake->primary;
  *context = fake->context();
  return 0;
}
int ContextGetCurrent(void** context) {
  CALL_ANYWHERE("cuCtxGetCurrent")
  *context = fake->context_stack.empty() ? nullptr : fake->context_stack.back();
  return 0;
}
int ContextGetDevice(int* device) {
  CALL("cuCtxGetDevice")
  *device = 40;
  return 0;
}
int ContextPush(void* context) {
  CALL_ANYWHERE("cuCtxPushCurrent")
  fake->context_stack.push_back(context);
  return 0;
}
int StreamCreate(void** stream, unsigned flags) {
  CALL("cuStreamCreate")
  if (flags != 0) return Broken("a stream that does not keep order with the default one", kInvalidValue);
  *stream = std::malloc(1);
  fake->streams.insert(*stream);
  return 0;
}
int StreamSynchronize(void* stream) {
  CALL("cuStreamSynchronize")
  return fake->streams.count(stream) ? 0 : Broken("waiting for no stream", kInvalidHandle);
}
int MemoryAllocate(uint64_t* address, size_t bytes) {
  CALL("cuMemAlloc")
  if (bytes == 0) return Broken("an empty allocation", kInvalidValue);
  if (bytes > fake->memory_bytes - fake->used) return kOutOfMemory;
  void* memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  std::memset(memory, 0xCD, bytes);
  *address = reinterpret_cast<uintptr_t>(memory);
  fake->memory[*address] = bytes;
  fake->used += bytes;
  ++fake->allocations;
  return 0;
}
int MemoryInfo(size_t* free_bytes, size_t* total) {
  CALL("cuMemGetInfo")
  *free_bytes = fake->memory_bytes - fake->used;
  *total = fake->memory_bytes;
  return 0;
}
int CopyToDevice(uint64_t to, const void* from, size_t bytes) {
  CALL("cuMemcpyHtoD")
  if (!InMemory(to, bytes)) return Broken("a copy to no memory", kIllegalAddress);
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  ++fake->copies;
  return 0;
}
int CopyToHost(void* to, uint64_t from, size_t bytes) {
  CALL("cuMemcpyDtoH")
  if (!InMemory(from, bytes)) return Broken("a copy from no memory", kIllegalAddress);
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  ++fake->copies;
  return 0;
}
int FillWords(uint64_t address, unsigned value, size_t count, void* stream) {
  CALL("cuMemsetD32Async")
  if (address % 4 != 0 || !InMemory(address, count * 4)) return Broken("filling no memory", kIllegalAddress);
  if (stream && !fake->streams.count(stream)) return Broken("filling in no stream", kInvalidHandle);
  for (size_t index = 0; index < count; ++index) reinterpret_cast<unsigned*>(address)[index] = value;
  return 0;
}
int ModuleLoad(void** module, const void* image, unsigned count, int* options, void** values) {
  CALL("cuModuleLoadDataEx")
  if (!fake->compile_log.empty()) {
    for (unsigned index = 0; index + 1 < count; ++index) {
      size_t room = reinterpret_cast<size_t>(values[index + 1]);
      if (options[index] == 5 && options[index + 1] == 6)
        std::strncpy(static_cast<char*>(values[index]), fake->compile_log.c_str(), room);
    }
    return fake->compile_error;
  }
  *module = strdup(static_cast<const char*>(image));
  fake->modules.insert(*module);
  return 0;
}
int ModuleGetFunction(void** function, void* module, const char* name) {
  CALL("cuModuleGetFunction")
  if (!fake->modules.count(module)) return Broken("a function of no module", kInvalidHandle);
  if (!std::strstr(static_cast<char*>(module), (std::string(".entry ") + name + "(").c_str()))
    return kNotFound;
  fake->functions.emplace_back(module, name);
  *function = reinterpret_cast<void*>(fake->functions.size());
  return 0;
}
int MaxActiveBlocks(int* blocks, void*, int, size_t) {
  CALL("cuOccupancyMaxActiveBlocksPerMultiprocessor")
  *blocks = fake->blocks_per_processor;
  return 0;
}
int LaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                 unsigned block_y, unsigned block_z, unsigned, void* stream, void** parameters,
                 void** extra) {
  CALL("cuLaunchKernel")
  size_t number = reinterpret_cast<size_t>(function);
  if (number == 0 || number > fake->functions.size()) return Broken("launching no function", kInvalidHandle);
  const auto& [module, name] = fake->functions[number - 1];
  if (!fake->modules.count(module)) return Broken("launching from an unloaded module", kInvalidHandle);
  if (grid_x == 0 || grid_x > 1000 || grid_y * grid_z * block_y * block_z != 1 || block_x != kDeviceBlock)
    return Broken("a grid that does not fit", kInvalidValue);
  if (stream && !fake->streams.count(stream)) return Broken("launching in no stream", kInvalidHandle);
  uint32_t expected = 0;
  DeviceKernel kernel = FindDeviceKernel(name, &expected);
  if (parameters || reinterpret_cast<size_t>(extra[0]) != 1 || reinterpret_cast<size_t>(extra[2]) != 2 ||
      extra[4] || *static_cast<size_t*>(extra[3]) != expected * sizeof(uint64_t)) {
    return Broken("parameters of another size", kInvalidValue);
  }
  const uint64_t* words = static_cast<const uint64_t*>(extra[1]);
  fake->launches.push_back({name, grid_x, block_x, {words, words + expected}});
  for (uint64_t thread = 0; thread < uint64_t{grid_x} * block_x; ++thread) kernel(words, thread);
  return 0;
}
int GetErrorName(int code, const char** name) {
  *name = code == kInvalidValue  ? "CUDA_ERROR_INVALID_VALUE"
          : code == kOutOfMemory ? "CUDA_ERROR_OUT_OF_MEMORY"
                                 : "CUDA_ERROR_FAKE";
  return code == 12345 ? kInvalidValue : 0;
}
int GetErrorString(int code, const char** text) {
  *text = "as the test wanted";
  return code == 12345 ? kInvalidValue : 0;
}

// Calls that end something do so even where they report the error of an earlier one.
int PrimaryContextRelease(int) {
  bool fails = Fails("cuDevicePrimaryCtxRelease");
  --fake->primary;
  return fails ? fake->fail_with : 0;
}
int ContextPop(void** context) {
  bool fails = Fails("cuCtxPopCurrent");
  if (fake->context_stack.empty()) return Broken("popping no context", kInvalidContext);
  *context = fake->context_stack.back();
  fake->context_stack.pop_back();
  return fails ? fake->fail_with : 0;
}
int StreamDestroy(void* stream) {
  bool fails = Fails("cuStreamDestroy");
  if (!HasContext()) return Broken("cuStreamDestroy without a context", kInvalidContext);
  if (fake->streams.erase(stream) == 0) return Broken("destroying no stream", kInvalidHandle);
  std::free(stream);
  return fails ? fake->fail_with : 0;
}
int MemoryFree(uint64_t address) {
  bool fails = Fails("cuMemFree");
  auto found = fake->memory.find(address);
  if (!HasContext()) return Broken("cuMemFree without a context", kInvalidContext);
  if (found == fake->memory.end()) return Broken("freeing no memory", kInvalidValue);
  fake->used -= found->second;
  fake->memory.erase(found);
  std::free(reinterpret_cast<void*>(address));
  return fails ? fake->fail_with : 0;
}
int ModuleUnload(void* module) {
  bool fails = Fails("cuModuleUnload");
  if (!HasContext()) return Broken("cuModuleUnload without a context", kInvalidContext);
  if (fake->modules.erase(module) == 0) return Broken("unloading no module", kInvalidHandle);
  std::free(module);
  return fails ? fake->fail_with : 0;
}

void* Find(void* user, const char* name) {
  struct Named {
    const char* name;
    void* function;
  };
  // The names are written out again: a wrong one in the loader's table is found here.
  const Named kFunctions[] = {
      {"cuInit", reinterpret_cast<void*>(Init)},
      {"cuDriverGetVersion", reinterpret_cast<void*>(DriverGetVersion)},
      {"cuDeviceGetCount", reinterpret_cast<void*>(DeviceGetCount)},
      {"cuDeviceGet", reinterpret_cast<void*>(DeviceGet)},
      {"cuDeviceGetName", reinterpret_cast<void*>(DeviceGetName)},
      {"cuDeviceGetAttribute", reinterpret_cast<void*>(DeviceGetAttribute)},
      {"cuDevicePrimaryCtxRetain", reinterpret_cast<void*>(PrimaryContextRetain)},
      {"cuDevicePrimaryCtxRelease_v2", reinterpret_cast<void*>(PrimaryContextRelease)},
      {"cuCtxGetCurrent", reinterpret_cast<void*>(ContextGetCurrent)},
      {"cuCtxGetDevice", reinterpret_cast<void*>(ContextGetDevice)},
      {"cuCtxPushCurrent_v2", reinterpret_cast<void*>(ContextPush)},
      {"cuCtxPopCurrent_v2", reinterpret_cast<void*>(ContextPop)},
      {"cuStreamCreate", reinterpret_cast<void*>(StreamCreate)},
      {"cuStreamDestroy_v2", reinterpret_cast<void*>(StreamDestroy)},
      {"cuStreamSynchronize", reinterpret_cast<void*>(StreamSynchronize)},
      {"cuMemAlloc_v2", reinterpret_cast<void*>(MemoryAllocate)},
      {"cuMemFree_v2", reinterpret_cast<void*>(MemoryFree)},
      {"cuMemGetInfo_v2", reinterpret_cast<void*>(MemoryInfo)},
      {"cuMemcpyHtoD_v2", reinterpret_cast<void*>(CopyToDevice)},
      {"cuMemcpyDtoH_v2", reinterpret_cast<void*>(CopyToHost)},
      {"cuMemsetD32Async", reinterpret_cast<void*>(FillWords)},
      {"cuModuleLoadDataEx", reinterpret_cast<void*>(ModuleLoad)},
      {"cuModuleUnload", reinterpret_cast<void*>(ModuleUnload)},
      {"cuModuleGetFunction", reinterpret_cast<void*>(ModuleGetFunction)},
      {"cuOccupancyMaxActiveBlocksPerMultiprocessor", reinterpret_cast<void*>(MaxActiveBlocks)},
      {"cuLaunchKernel", reinterpret_cast<void*>(LaunchKernel)},
      {"cuGetErrorName", reinterpret_cast<void*>(GetErrorName)},
      {"cuGetErrorString", reinterpret_cast<void*>(GetErrorString)},
  };
  if (static_cast<FakeCuda*>(user)->missing == name) return nullptr;
  for (const Named& row : kFunctions) {
    if (std::strcmp(row.name, name) == 0) return row.function;
  }
  return nullptr;
}

}  // namespace

FakeCuda::FakeCuda() {
  fake = this;
}

FakeCuda::~FakeCuda() {
  for (const auto& [address, bytes] : memory) std::free(reinterpret_cast<void*>(address));
  for (void* stream : streams) std::free(stream);
  for (void* module : modules) std::free(module);
  fake = nullptr;
}

adrt_cuda_desc FakeCuda::Desc() {
  adrt_cuda_desc desc = {};
  desc.struct_size = sizeof desc;
  desc.context = context();
  desc.find = Find;
  desc.user = this;
  return desc;
}

}  // namespace fixture
