#include "fake_cuda.h"

#include <cstring>

namespace fixture {

thread_local std::vector<void*> FakeCuda::context_stack;

namespace {

FakeCuda* fake = nullptr;  // the driver has no handle to itself
constexpr int kInvalidValue = 1, kOutOfMemory = 2, kInvalidContext = 201;

// A call that makes or does something: does nothing where it fails.
#define CALL(name)                               \
  std::lock_guard guard(fake->mutex);            \
  if (fake->Fails(name)) return fake->fail_with; \
  if (!fake->IsCurrent()) return fake->Broken(name " without a context", kInvalidContext);
#define CALL_ANYWHERE(name)           \
  std::lock_guard guard(fake->mutex); \
  if (fake->Fails(name)) return fake->fail_with;

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
int ModuleLoad(void** module, const void* image, unsigned count, int* options, void** values) {
  if (fake->while_compiling) fake->while_compiling();
  CALL("cuModuleLoadDataEx")
  std::string text = static_cast<const char*>(image), word = ".entry ";
  fake->compiled.push_back(text);
  if (!fake->compile_log.empty() && text.find(fake->faulty) != std::string::npos) {
    for (unsigned index = 0; index + 1 < count; ++index) {
      size_t capacity = reinterpret_cast<size_t>(values[index + 1]);
      if (options[index] == 5 && options[index + 1] == 6)
        std::strncpy(static_cast<char*>(values[index]), fake->compile_log.c_str(), capacity);
    }
    return fake->compile_error;
  }
  std::set<std::string> names;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at)) {
    at += word.size();
    names.insert(text.substr(at, text.find('(', at) - at));
  }
  *module = fake->AddModule(names);
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
  std::lock_guard guard(fake->mutex);
  bool fails = fake->Fails("cuDevicePrimaryCtxRelease");
  --fake->primary;
  return fails ? fake->fail_with : 0;
}
int ContextPop(void** context) {
  std::lock_guard guard(fake->mutex);
  bool fails = fake->Fails("cuCtxPopCurrent");
  if (fake->context_stack.empty()) return fake->Broken("popping no context", kInvalidContext);
  *context = fake->context_stack.back();
  fake->context_stack.pop_back();
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
      {"cuModuleLoadDataEx", reinterpret_cast<void*>(ModuleLoad)},
      {"cuGetErrorName", reinterpret_cast<void*>(GetErrorName)},
      {"cuGetErrorString", reinterpret_cast<void*>(GetErrorString)},
  };
  if (static_cast<FakeCuda*>(user)->missing == name) return nullptr;
  for (const Named& row : kFunctions) {
    if (std::strcmp(row.name, name) == 0) return row.function;
  }
  return fake->FindShared(name);
}

}  // namespace

FakeCuda::FakeCuda() : FakeStreams(false) {
  context_stack.clear();
  fake = this;
}

FakeCuda::~FakeCuda() {
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
