#include "device.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>

#include "launch.h"

namespace adc::rdna3 {
namespace {

constexpr int kSuccess = 0, kInvalidValue = 1, kOutOfMemory = 2, kInvalidDevice = 101, kInvalidImage = 200,
              kInvalidHandle = 400, kNotFound = 500, kLaunchFailure = 719;
constexpr const char* kProcessor = "gfx1100";
constexpr uint32_t kProcessors = 2, kBlocksPerProcessor = 2;
constexpr uint64_t kMemoryBytes = uint64_t{4} << 30;

struct Module {
  Module(Memory& memory, Decoder& decoder, const void* image) : code(memory, decoder, image) {}
  CodeObject code;
};
struct Function {
  Module* module;
  const Kernel* kernel;
};

/// The one device. Calls come from any thread, one at a time.
struct Device {
  std::mutex mutex;
  Memory memory;
  Decoder decoder{kProcessor};
  std::set<void*> streams;
  std::set<Module*> modules;
  std::vector<std::unique_ptr<Function>> functions;
  std::map<uint64_t, uint64_t> allocations;
  uint64_t used = 0;
  DeviceState state;
  uint64_t seed = [] {
    const char* text = std::getenv("ADC_RDNA3_SEED");
    return text ? std::strtoull(text, nullptr, 0) : 1;
  }();
};

Device& TheDevice() {
  static Device device;
  return device;
}

}  // namespace

// The names under which AMD's library exports them.
#define EXPORT extern "C" __attribute__((visibility("default")))
#define CALL                    \
  Device& device = TheDevice(); \
  std::lock_guard<std::mutex> lock(device.mutex);

EXPORT int hipInit(unsigned) {
  return kSuccess;
}
EXPORT int hipGetDeviceCount(int* count) {
  *count = 1;
  return kSuccess;
}
EXPORT int hipGetDevice(int* number) {
  *number = 0;
  return kSuccess;
}
EXPORT int hipSetDevice(int number) {
  return number == 0 ? kSuccess : kInvalidDevice;
}

// The fields of hipDeviceProp_tR0600 by their offsets, 1472 bytes in all.
EXPORT int hipGetDevicePropertiesR0600(void* properties, int number) {
  if (number != 0) return kInvalidDevice;
  auto* bytes = static_cast<char*>(properties);
  std::memset(bytes, 0, 1472);
  std::strcpy(bytes, "RDNA3 interpreter");
  auto put = [bytes](size_t offset, int32_t value) { std::memcpy(bytes + offset, &value, sizeof value); };
  put(308, kLanes);
  put(336, 0x7FFFFFFF);
  put(388, kProcessors);
  put(624, 256);
  std::strcpy(bytes + 1160, kProcessor);
  return kSuccess;
}

EXPORT int hipModuleLoadData(void** module, const void* image) {
  CALL try {
    auto made = std::make_unique<Module>(device.memory, device.decoder, image);
    device.modules.insert(made.get());
    *module = made.release();
    return kSuccess;
  } catch (const std::runtime_error& error) {
    std::fprintf(stderr, "rdna3: %s\n", error.what());
    return kInvalidImage;
  }
}
EXPORT int hipModuleUnload(void* handle) {
  CALL auto* module = static_cast<Module*>(handle);
  if (device.modules.erase(module) == 0) return kInvalidHandle;
  std::erase_if(device.functions, [module](const auto& function) { return function->module == module; });
  delete module;
  return kSuccess;
}
EXPORT int hipModuleGetFunction(void** function, void* handle, const char* name) {
  CALL auto* module = static_cast<Module*>(handle);
  if (!device.modules.contains(module)) return kInvalidHandle;
  const Kernel* kernel = module->code.Find(name);
  if (!kernel) return kNotFound;
  device.functions.push_back(std::make_unique<Function>(Function{module, kernel}));
  *function = device.functions.back().get();
  return kSuccess;
}
EXPORT int hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void*, int, size_t) {
  *blocks = kBlocksPerProcessor;
  return kSuccess;
}

EXPORT int hipStreamCreateWithFlags(void** stream, unsigned) {
  CALL* stream = new char;
  device.streams.insert(*stream);
  return kSuccess;
}
EXPORT int hipStreamDestroy(void* stream) {
  CALL if (device.streams.erase(stream) == 0) return kInvalidHandle;
  delete static_cast<char*>(stream);
  return kSuccess;
}
EXPORT int hipStreamSynchronize(void* stream) {
  CALL return stream == nullptr || device.streams.contains(stream) ? kSuccess : kInvalidHandle;
}

EXPORT int hipMalloc(uint64_t* address, size_t bytes) {
  CALL if (bytes == 0) return kInvalidValue;
  if (bytes > kMemoryBytes - device.used) return kOutOfMemory;
  *address = device.memory.Allocate(bytes, "a buffer");
  device.allocations[*address] = bytes;
  device.used += bytes;
  return kSuccess;
}
EXPORT int hipFree(uint64_t address) {
  CALL auto found = device.allocations.find(address);
  if (found == device.allocations.end()) return kInvalidValue;
  device.used -= found->second;
  device.allocations.erase(found);
  device.memory.Free(address);
  return kSuccess;
}
EXPORT int hipMemGetInfo(size_t* free_bytes, size_t* total) {
  CALL* free_bytes = kMemoryBytes - device.used;
  *total = kMemoryBytes;
  return kSuccess;
}
EXPORT int hipMemcpyHtoD(uint64_t to, const void* from, size_t bytes) {
  CALL uint8_t* place = device.memory.ForHost(to, bytes);
  if (!place) return kInvalidValue;
  std::memcpy(place, from, bytes);
  return kSuccess;
}
EXPORT int hipMemcpyDtoH(void* to, uint64_t from, size_t bytes) {
  CALL const uint8_t* place = device.memory.ForHost(from, bytes);
  if (!place) return kInvalidValue;
  std::memcpy(to, place, bytes);
  return kSuccess;
}
EXPORT int hipMemsetD32Async(uint64_t address, unsigned value, size_t count, void* stream) {
  CALL if (stream && !device.streams.contains(stream)) return kInvalidHandle;
  uint8_t* place = device.memory.ForHost(address, count * 4);
  if (!place || address % 4 != 0) return kInvalidValue;
  for (size_t index = 0; index < count; ++index) std::memcpy(place + 4 * index, &value, 4);
  return kSuccess;
}

EXPORT int hipModuleLaunchKernel(void* handle, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                 unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                 void* stream, void** parameters, void** extra) {
  CALL auto found = std::find_if(device.functions.begin(), device.functions.end(),
                                 [handle](const auto& function) { return function.get() == handle; });
  if (found == device.functions.end() || (stream && !device.streams.contains(stream))) return kInvalidHandle;
  constexpr uint32_t kLargestBlock = 1024;
  if (grid_x == 0 || grid_y * grid_z * block_y * block_z != 1 || block_x == 0 || block_x > kLargestBlock ||
      shared_bytes != 0 || parameters) {
    return kInvalidValue;
  }
  // HIP_LAUNCH_PARAM_BUFFER_POINTER, a buffer, HIP_LAUNCH_PARAM_BUFFER_SIZE, its size, HIP_LAUNCH_PARAM_END.
  if (reinterpret_cast<uintptr_t>(extra[0]) != 1 || reinterpret_cast<uintptr_t>(extra[2]) != 2 ||
      reinterpret_cast<uintptr_t>(extra[4]) != 3) {
    return kInvalidValue;
  }
  LaunchConfig config;
  config.blocks = grid_x;
  config.block_size = block_x;
  config.arguments = {static_cast<const uint8_t*>(extra[1]), *static_cast<const size_t*>(extra[3])};
  config.seed = device.seed + ++device.state.launches;
  try {
    device.state.instructions +=
        Launch(device.memory, (*found)->module->code, *(*found)->kernel, config).instructions;
    return kSuccess;
  } catch (const Fault& fault) {
    device.state.fault = fault.what();
    std::fprintf(stderr, "rdna3: %s\n", fault.what());
    return kLaunchFailure;
  }
}

EXPORT const char* hipGetErrorName(int code) {
  switch (code) {
    case kInvalidValue:
      return "hipErrorInvalidValue";
    case kOutOfMemory:
      return "hipErrorOutOfMemory";
    case kInvalidImage:
      return "hipErrorInvalidImage";
    case kInvalidHandle:
      return "hipErrorInvalidHandle";
    case kNotFound:
      return "hipErrorNotFound";
    case kLaunchFailure:
      return "hipErrorLaunchFailure";
    default:
      return "hipErrorUnknown";
  }
}
EXPORT const char* hipGetErrorString(int code) {
  return code == kLaunchFailure ? TheDevice().state.fault.c_str() : "";
}

void* FindHipFunction(void*, const char* name) {
#define ROW(function) {#function, reinterpret_cast<void*>(function)}
  static const std::pair<std::string_view, void*> kFunctions[] = {
      ROW(hipInit),
      ROW(hipGetDeviceCount),
      ROW(hipGetDevice),
      ROW(hipSetDevice),
      ROW(hipGetDevicePropertiesR0600),
      ROW(hipModuleLoadData),
      ROW(hipModuleUnload),
      ROW(hipModuleGetFunction),
      ROW(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor),
      ROW(hipStreamCreateWithFlags),
      ROW(hipStreamDestroy),
      ROW(hipStreamSynchronize),
      ROW(hipMalloc),
      ROW(hipFree),
      ROW(hipMemGetInfo),
      ROW(hipMemcpyHtoD),
      ROW(hipMemcpyDtoH),
      ROW(hipMemsetD32Async),
      ROW(hipModuleLaunchKernel),
      ROW(hipGetErrorName),
      ROW(hipGetErrorString),
  };
#undef ROW
  for (const auto& [known, function] : kFunctions) {
    if (known == name) return function;
  }
  return nullptr;
}

DeviceState StateOfDevice() {
  CALL DeviceState state = device.state;
  state.live = device.allocations.size() + device.streams.size() + device.modules.size();
  return state;
}

}  // namespace adc::rdna3
