#include "fake_hip.h"

#include <cstring>

namespace fixture {
namespace {

FakeHip* fake = nullptr;  // the runtime has no handle to itself
constexpr int kInvalidValue = 1, kOutOfMemory = 2, kInvalidDevice = 101, kNoBinary = 209;

#define CALL(name) \
  if (fake->Fails(name)) return fake->fail_with;

int Init(unsigned) {
  CALL("hipInit")
  return 0;
}
int DeviceGetCount(int* count) {
  CALL("hipGetDeviceCount")
  *count = fake->device_count;
  return 0;
}
int DeviceGetCurrent(int* device) {
  CALL("hipGetDevice")
  *device = fake->current;
  return 0;
}
int DeviceSetCurrent(int device) {
  CALL("hipSetDevice")
  if (device < 0 || device >= fake->device_count) return fake->Broken("no such device", kInvalidDevice);
  fake->current = device;
  return 0;
}
// The fields of hipDeviceProp_tR0600 by their offsets, 1472 bytes in all.
int DeviceGetProperties(void* properties, int device) {
  CALL("hipGetDeviceProperties")
  if (device != fake->device) return fake->Broken("properties of another device", kInvalidDevice);
  char* bytes = static_cast<char*>(properties);
  std::memset(bytes, 0, 1472);
  std::strcpy(bytes, "Fake Instinct");
  auto put = [bytes](size_t offset, int value) { std::memcpy(bytes + offset, &value, sizeof value); };
  put(308, 64);
  put(336, 1000);
  put(388, fake->processors);
  put(624, 2048);
  std::strcpy(bytes + 1160, fake->arch.c_str());
  return 0;
}
// What the symbols of a code object name, if it is for this device.
int ModuleLoad(void** module, const void* image) {
  CALL("hipModuleLoadData")
  if (!fake->IsCurrent()) return fake->Broken("loading onto no device", kInvalidDevice);
  const char* bytes = static_cast<const char*>(image);
  auto get = [bytes](size_t offset, size_t size) {
    uint64_t value = 0;
    std::memcpy(&value, bytes + offset, size);
    return value;
  };
  if (get(48, 1) != 0x3F) return kNoBinary;
  size_t sections = get(40, 8), symbols = get(sections + 64 + 24, 8), count = get(sections + 64 + 32, 8) / 24;
  size_t names = get(sections + 128 + 24, 8);
  std::set<std::string> found;
  for (size_t number = 0; number < count; ++number) {
    std::string name = bytes + names + get(symbols + 24 * number, 4);
    if (name.size() > 3 && name.ends_with(".kd")) found.insert(name.substr(0, name.size() - 3));
  }
  *module = fake->AddModule(found);
  return 0;
}
const char* GetErrorName(int code) {
  return code == kInvalidValue  ? "hipErrorInvalidValue"
         : code == kOutOfMemory ? "hipErrorOutOfMemory"
         : code == 12345        ? nullptr
                                : "hipErrorFake";
}
const char* GetErrorString(int code) {
  return code == 12345 ? nullptr : "as the test wanted";
}

void* Find(void* user, const char* name) {
  struct Named {
    const char* name;
    void* function;
  };
  // The names are written out again: a wrong one in the loader's table is found here.
  const Named kFunctions[] = {
      {"hipInit", reinterpret_cast<void*>(Init)},
      {"hipGetDeviceCount", reinterpret_cast<void*>(DeviceGetCount)},
      {"hipGetDevice", reinterpret_cast<void*>(DeviceGetCurrent)},
      {"hipSetDevice", reinterpret_cast<void*>(DeviceSetCurrent)},
      {"hipGetDevicePropertiesR0600", reinterpret_cast<void*>(DeviceGetProperties)},
      {"hipModuleLoadData", reinterpret_cast<void*>(ModuleLoad)},
      {"hipGetErrorName", reinterpret_cast<void*>(GetErrorName)},
      {"hipGetErrorString", reinterpret_cast<void*>(GetErrorString)},
  };
  if (static_cast<FakeHip*>(user)->missing == name) return nullptr;
  for (const Named& row : kFunctions) {
    if (std::strcmp(row.name, name) == 0) return row.function;
  }
  return fake->FindShared(name);
}

}  // namespace

FakeHip::FakeHip() : FakeStreams(true) {
  fake = this;
}

FakeHip::~FakeHip() {
  fake = nullptr;
}

adrt_hip_desc FakeHip::Desc() {
  adrt_hip_desc desc = {};
  desc.struct_size = sizeof desc;
  desc.find = Find;
  desc.user = this;
  return desc;
}

}  // namespace fixture
