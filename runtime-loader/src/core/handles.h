#pragma once
// What the opaque handles of adrt.h are. Handles are counted and made in the host's memory. Each kind of
// device is a table of functions (DeviceKind): core code never asks which kind it has.

#include <adrt/adrt.h>

#include <atomic>
#include <new>
#include <span>
#include <string_view>
#include <utility>

#include "artifact/bundle.h"
#include "artifact/metadata.h"

namespace adrt {

namespace artifact = adc::artifact;
using artifact::String;
using artifact::Vector;

/// The caller's host, copied, with defaults filled in.
struct Host {
  artifact::Allocator allocator;
  artifact::Limits limits;
  void* user = nullptr;
  void (*log)(void* user, const char* text) = nullptr;
  int (*authorize)(void* user, const uint8_t content_id[32]) = nullptr;
  bool trust = false;
};

/// An object of the host's memory; null when refused. `make` arguments go to the constructor.
template <class T, class... Args>
T* New(const artifact::Allocator& allocator, Args&&... args) {
  void* memory = artifact::Allocate(&allocator, sizeof(T), alignof(T));
  return memory ? new (memory) T(std::forward<Args>(args)...) : nullptr;
}
template <class T>
void Delete(const artifact::Allocator& allocator, T* object) {
  artifact::Allocator copy = allocator;  // it may lie in the object
  object->~T();
  artifact::Release(&copy, object, sizeof(T), alignof(T));
}

class Count {
 public:
  void Retain() { count_.fetch_add(1, std::memory_order_relaxed); }
  /// True for the last one.
  bool Release() { return count_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

 private:
  std::atomic<uint32_t> count_{1};
};

struct LaunchTask;

/// What one kind of device can do. A new kind adds a table and its own wrap and open functions.
struct DeviceKind {
  const char* name;
  const char* arch;
  /// Whether the device can run a target. False: `reason` says why not. Features that the device has are
  /// ordered by `rank`: of two usable targets the higher rank is the better one.
  bool (*judge)(const adrt_device& device, const artifact::TargetMeta& target, uint32_t* rank,
                artifact::TextWriter& reason);
  /// Makes the device's part of a module from the target's section: checks and loads the code.
  bool (*load)(adrt_module& module, adrt_error* error);
  void (*unload)(adrt_module& module);
  /// Runs one task and waits. The status block may hold a report afterwards.
  bool (*run)(adrt_device& device, const LaunchTask& task, adrt_error* error);
  void (*destroy)(adrt_device& device);
  /// Features, with spaces between.
  void (*features)(const adrt_device& device, artifact::TextWriter& text);
};

}  // namespace adrt

struct adrt_kernel {
  adrt_bundle* bundle = nullptr;
  const adc::artifact::KernelMeta* meta = nullptr;
  uint32_t index = 0;
};

struct adrt_bundle {
  explicit adrt_bundle(const adrt::Host& from) : host(from) {}

  adrt::Count count;
  adrt::Host host;
  adrt::Vector<uint8_t> owned;
  std::span<const uint8_t> file;
  adc::artifact::BundleIndex index;
  adc::artifact::Metadata metadata;
  adrt::Vector<adrt_kernel> kernels;
};

/// The head of every kind's device; a kind derives from it.
struct adrt_device {
  adrt_device(const adrt::Host& from, const adrt::DeviceKind* its_kind, uint32_t workers)
      : host(from), kind(its_kind), worker_count(workers) {}

  adrt::Count count;
  adrt::Host host;
  const adrt::DeviceKind* kind;
  uint32_t worker_count;
};

struct adrt_module {
  explicit adrt_module(const adrt::Host& from) : host(from) {}

  adrt::Count count;
  adrt::Host host;
  adrt_device* device = nullptr;
  adrt_bundle* bundle = nullptr;
  uint32_t target = 0;
  void* code = nullptr;               ///< the kind's own
  adrt::Vector<uint32_t> task_begin;  ///< per kernel: where its tasks begin in `entries`
  adrt::Vector<void*> entries;        ///< per task; null where the target has no code for it
};
