#pragma once
// A Metal device as the loader has it. Everything goes through the table of api.h.

#include <adrt/adrt_metal.h>

#include "core/handles.h"
#include "metal/api.h"

namespace adrt::metal {

struct Device : adrt_device {
  Device(const Host& from, const adrt_metal_api* table, uint32_t threads);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device();

  const adrt_metal_api* api;
  void* device = nullptr;  ///< retained
  void* queue = nullptr;   ///< retained
  adrt_metal_facts facts = {};
};

inline Device& Of(adrt_device& device) {
  return static_cast<Device&>(device);
}
inline const Device& Of(const adrt_device& device) {
  return static_cast<const Device&>(device);
}
inline void* BufferOf(const Place& place) {
  return reinterpret_cast<void*>(static_cast<uintptr_t>(place.buffer));
}

/// A command buffer that is being filled, with the encoder that is open in it.
struct Recorder {
  enum class Kind : uint8_t { kNone, kCompute, kCopy };

  explicit Recorder(void* its_commands) : commands(its_commands) {}
  /// The encoder of this kind, opened where another one or none is open; null where the system refuses one.
  void* Open(const Device& device, Kind kind, adrt_error* error);
  void Close(const Device& device);

  void* commands;
  void* encoder = nullptr;
  Kind open = Kind::kNone;
};

/// The table of functions of Metal devices.
const DeviceKind* MetalKind();

// memory.cpp
bool Bind(const adrt_device& device, const void* data, Place* place, artifact::TextWriter& reason);
void* Data(const Memory& memory);
bool Allocate(adrt_device& device, uint64_t bytes, Memory* memory, adrt_error* error);
void Release(adrt_device& device, Memory& memory);
bool Write(adrt_device& device, const Place& to, const void* from, uint64_t bytes, adrt_error* error);
bool Read(adrt_device& device, const Place& from, void* to, uint64_t bytes, adrt_error* error);

// record.cpp
bool Begin(adrt_device& device, void** queue, adrt_error* error);
bool Finish(adrt_device& device, void* queue, adrt_error* error);
void Drop(adrt_device& device, void* queue);
bool Clear(adrt_device& device, void* queue, const Place& place, adrt_error* error);
bool Launch(adrt_device& device, void* queue, const LaunchTask& task, adrt_error* error);
bool Barrier(adrt_device& device, void* queue, adrt_error* error);

// module.cpp
bool Judge(const adrt_device& device, const artifact::TargetMeta& target, uint32_t* rank,
           artifact::TextWriter& reason);
bool Load(adrt_module& module, adrt_error* error);
void Unload(adrt_module& module);

}  // namespace adrt::metal
