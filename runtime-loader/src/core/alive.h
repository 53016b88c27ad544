#pragma once
// Handles that are used after their release, released twice, or were never any: builds with
// ADRT_CHECK_HANDLES (debug and address sanitizer) end the process there, with the name of the function that
// got one. Elsewhere nothing of this is compiled.

#include <adrt/adrt.h>

#include "artifact/memory.h"

struct adrt_cpu_record;
struct adrt_sequence;
struct adrt_arg_group;
struct adrt_heap;
struct adrt_memory;
struct adrt_rollout;

namespace adrt {

/// The types of handles. A type that is derived from one of them is one; anything else is None.
enum class Handle : unsigned char {
  None,
  Bundle,
  Kernel,
  Device,
  Module,
  Memory,
  Heap,
  Plan,
  Rollout,
  CpuRecord,
  Sequence,
  ArgGroup
};
constexpr Handle HandleOf(const adrt_bundle*) {
  return Handle::Bundle;
}
constexpr Handle HandleOf(const adrt_kernel*) {
  return Handle::Kernel;
}
constexpr Handle HandleOf(const adrt_device*) {
  return Handle::Device;
}
constexpr Handle HandleOf(const adrt_module*) {
  return Handle::Module;
}
constexpr Handle HandleOf(const adrt_memory*) {
  return Handle::Memory;
}
constexpr Handle HandleOf(const adrt_heap*) {
  return Handle::Heap;
}
constexpr Handle HandleOf(const adrt_launch_plan*) {
  return Handle::Plan;
}
constexpr Handle HandleOf(const adrt_rollout*) {
  return Handle::Rollout;
}
constexpr Handle HandleOf(const adrt_cpu_record*) {
  return Handle::CpuRecord;
}
constexpr Handle HandleOf(const adrt_sequence*) {
  return Handle::Sequence;
}
constexpr Handle HandleOf(const adrt_arg_group*) {
  return Handle::ArgGroup;
}
constexpr Handle HandleOf(const void*) {
  return Handle::None;
}

#ifdef ADRT_CHECK_HANDLES

/// Memory for a handle, alive from now on: of the C library, as the host must not reuse it too early. Null
/// when refused.
void* TakeHandle(const adc::artifact::Allocator& host, size_t size, size_t alignment, Handle type);
/// The handle is not alive any more. Its memory is given back many releases later.
void GiveHandle(const adc::artifact::Allocator& host, void* memory, size_t size, size_t alignment,
                Handle type);
/// The same for a handle that is a part of other memory, of KernelMemory.
void BeginLife(const void* handle, Handle type);
void EndLife(const void* handle);
/// The memory in which kernels lie; given back as late.
const adc::artifact::Allocator* KernelMemory(const adc::artifact::Allocator* host);
/// Ends the process, with a line on standard error, unless `handle` is null or alive.
void CheckAlive(const char* function, const void* handle, Handle type);

/// The first line of every public function: `Alive(__func__, plan, module)`.
template <class... T>
inline void Alive(const char* function, const T*... handles) {
  (CheckAlive(function, handles, HandleOf(handles)), ...);
}

#else

inline void* TakeHandle(const adc::artifact::Allocator& host, size_t size, size_t alignment, Handle) {
  return adc::artifact::Allocate(&host, size, alignment);
}
inline void GiveHandle(const adc::artifact::Allocator& host, void* memory, size_t size, size_t alignment,
                       Handle) {
  adc::artifact::Release(&host, memory, size, alignment);
}
inline void BeginLife(const void*, Handle) {}
inline void EndLife(const void*) {}
inline const adc::artifact::Allocator* KernelMemory(const adc::artifact::Allocator* host) {
  return host;
}
template <class... T>
inline void Alive(const char*, const T*...) {}

#endif

}  // namespace adrt
