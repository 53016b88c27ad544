#pragma once
// The structs of the opaque handles of adrt.h. Handles are counted and made in the host's memory. Each kind
// of device is a table of functions (DeviceKind): core code never asks which kind it has.

#include <adrt/adrt.h>

#include <atomic>
#include <new>
#include <span>
#include <string_view>
#include <utility>

#include "artifact/budget.h"
#include "artifact/bundle.h"
#include "artifact/metadata.h"
#include "artifact/signature.h"
#include "core/alive.h"

namespace adrt {

namespace artifact = adc::artifact;
using artifact::String, artifact::Vector;

/// The caller's host, copied, with defaults filled in.
struct Host {
  artifact::Allocator allocator;
  artifact::Limits limits;
  artifact::OpenLimits open_limits;
  void* user = nullptr;
  void (*log)(void* user, const char* text) = nullptr;
  int (*authorize)(void* user, const uint8_t content_id[32]) = nullptr;
  std::span<const uint8_t> public_keys;  ///< only for the call that got the host
  int (*check_signature)(void* user, const uint8_t key[32], const uint8_t signature[64], const void* message,
                         size_t message_size) = nullptr;
  void (*trace_heap)(void* user, const adrt_heap_trace* told) = nullptr;
  bool trust = false;
};

/// An object of the host's memory; null when refused. `make` arguments go to the constructor.
template <class T, class... Args>
T* New(const artifact::Allocator& allocator, Args&&... args) {
  void* memory = TakeHandle(allocator, sizeof(T), alignof(T), HandleOf(static_cast<T*>(nullptr)));
  return memory ? new (memory) T(std::forward<Args>(args)...) : nullptr;
}
template <class T>
void Delete(const artifact::Allocator& allocator, T* object) {
  artifact::Allocator copy = allocator;  // it may lie in the object
  object->~T();
  GiveHandle(copy, object, sizeof(T), alignof(T), HandleOf(object));
}

class Count {
 public:
  void Retain() { count_.fetch_add(1, std::memory_order_relaxed); }
  /// True for the last one.
  bool Release() { return count_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

 private:
  std::atomic<uint32_t> count_{1};
};

/// A stretch of a device's memory. A kind without device addresses has only buffer and offset, a kind with
/// plain addresses only these; Vulkan has both.
struct Place {
  uint64_t buffer = 0;   ///< VkBuffer, id<MTLBuffer>; else 0
  uint64_t offset = 0;   ///< bytes into `buffer`
  uint64_t bytes = 0;    ///< from here on
  uint64_t address = 0;  ///< as the device's code sees it; 0 where code cannot hold addresses

  bool given() const { return buffer != 0 || address != 0; }
  friend bool operator==(const Place&, const Place&) = default;
  /// The number to align: the address, or the offset that stands for it.
  uint64_t position() const { return address != 0 ? address : offset; }
  /// `size` bytes from `from` on; the caller knows that they are there.
  Place Part(uint64_t from, uint64_t size) const {
    return {buffer, offset + from, size, address != 0 ? address + from : 0};
  }
  /// Host memory at `memory`.
  static Place Host(const void* memory, uint64_t size) {
    return {0, 0, size, reinterpret_cast<uintptr_t>(memory)};
  }
  /// Only where the kind's memory is host memory.
  unsigned char* host() const { return reinterpret_cast<unsigned char*>(static_cast<uintptr_t>(address)); }
};

/// Whether the first bytes of two places are partly the same memory. Two buffers of one device may lie in the
/// same memory, so addresses count where there are any.
inline bool Overlap(const Place& a, uint64_t a_bytes, const Place& b, uint64_t b_bytes) {
  bool addressed = a.address != 0 && b.address != 0;
  if (!addressed && a.buffer != b.buffer) return false;
  uint64_t a_begin = addressed ? a.address : a.offset, b_begin = addressed ? b.address : b.offset;
  return a_begin < b_begin + b_bytes && b_begin < a_begin + a_bytes;
}

/// Memory that was taken from a device.
struct Memory {
  Place place;
  void* own = nullptr;  ///< the kind's own: the data that `release` needs beside the place

  bool given() const { return place.given(); }
};

struct LaunchTask;

/// The operations of one kind of device. A new kind adds a table and its own wrap, open and record functions;
/// core code never asks which kind it has. Functions that take an adrt_error get one that is not null, and
/// fill it where they return false. Any of them may be called from several threads at once.
struct DeviceKind {
  const char* name;  ///< as TargetMeta::kind
  uint32_t payload;  ///< kind of the section that holds its code
  bool host_memory;  ///< its memory is the host's: Place::host may be used

  /// Whether the device can run a target. False: `reason` says why not. Of two usable targets the one of
  /// higher `rank` is the better one.
  bool (*judge)(const adrt_device& device, const artifact::TargetMeta& target, uint32_t* rank,
                artifact::TextWriter& reason);
  /// Whether the device may run a target's unverified code: `load` then finds adrt_module::confined, and
  /// refuses code that would not stay in the memory that it is given. Null: never.
  bool (*confines)(const artifact::TargetMeta& target) = nullptr;
  /// Makes the device's part of a module from the target's section: checks and loads the code, fills
  /// `entries`. If it fails, it leaves nothing.
  bool (*load)(adrt_module& module, adrt_error* error);
  /// Makes code ready that `load` has left: of the plan's kernel, whose entries may be null before, and of
  /// the kernels that count for it. Null: `load` leaves none.
  bool (*prepare)(const adrt_launch_plan& plan, adrt_error* error) = nullptr;
  void (*unload)(adrt_module& module);
  void (*destroy)(adrt_device& device);
  /// Features, with spaces between.
  void (*features)(const adrt_device& device, artifact::TextWriter& text);

  /// Finds the place that adrt_arg.data or adrt_run_desc.memory names; `bytes` of the place is the known
  /// size, or UINT64_MAX. Null data never gets here. False: `reason` says what was expected.
  bool (*bind)(const adrt_device& device, const void* data, Place* place, artifact::TextWriter& reason);
  /// The inverse: the value that the caller puts into adrt_arg.data for this memory, valid as long as it is.
  void* (*data)(const Memory& memory);
  /// At least `bytes` (not 0), aligned to 256 where the device is no CPU. Content is undefined.
  bool (*allocate)(adrt_device& device, uint64_t bytes, Memory* memory, adrt_error* error);
  void (*release)(adrt_device& device, Memory& memory);
  /// Copies between host and device memory, and waits. The writes of a finished queue are seen.
  bool (*write)(adrt_device& device, const Place& to, const void* from, uint64_t bytes, adrt_error* error);
  bool (*read)(adrt_device& device, const Place& from, void* to, uint64_t bytes, adrt_error* error);

  /// A queue of the device's own, for adrt_run. On a CPU, where recording is running, there is none.
  bool (*begin)(adrt_device& device, void** queue, adrt_error* error);
  /// Submits what was recorded and waits; the queue is gone afterwards, also where it fails.
  bool (*finish)(adrt_device& device, void* queue, adrt_error* error);
  /// Drops a queue after a failure. Recorded work may or may not run, but not any more on return.
  void (*drop)(adrt_device& device, void* queue);
  /// Records zero-filling; place.bytes is a multiple of 4 and not 0.
  bool (*clear)(adrt_device& device, void* queue, const Place& place, adrt_error* error);
  /// Records one task. Neither submits nor waits nor allocates.
  bool (*launch)(adrt_device& device, void* queue, const LaunchTask& task, adrt_error* error);
  /// Whether such a task can be recorded; before anything is. Null where each can.
  bool (*can_launch)(const adrt_device& device, const LaunchTask& task, adrt_error* error) = nullptr;
  /// Releases what launches left in LaunchTask::held: no recorded work runs any more. Null where launches
  /// leave nothing.
  void (*forget)(adrt_device& device, void* held) = nullptr;
  /// Earlier recorded work is done, and its memory seen, when later recorded work begins. Null where a queue
  /// keeps order by itself.
  bool (*barrier)(adrt_device& device, void* queue, adrt_error* error);

#ifdef ADRT_SEQUENCES
  /// Records a sequence (sequence/sequence.h) whose steps are known, into the caller's queue. Null where
  /// there is none on such devices.
  bool (*sequence)(adrt_device& device, void* queue, adrt_sequence& sequence, adrt_error* error) = nullptr;
  /// Gives back adrt_sequence::own. Null where nothing is ever there.
  void (*forget_sequence)(adrt_device& device, void* own) = nullptr;
  /// Of what adrt_arg.data points to for memory; 0: it is the address itself.
  uint32_t data_bytes = 0;
#endif
};

}  // namespace adrt

struct adrt_kernel {
  adrt_bundle* bundle = nullptr;
  const adc::artifact::KernelMeta* meta = nullptr;
  uint32_t index = 0;
};

struct adrt_bundle {
  adrt_bundle(const adrt::Host& from, uint64_t file_bytes)
      : host(from), budget(&host.allocator, host.open_limits, file_bytes) {}

  adrt::Count count;
  adrt::Host host;
  adc::artifact::OpenBudget budget;  ///< the memory of all that opening made comes from it
  adrt::Vector<uint8_t> owned;
  std::span<const uint8_t> file;
  adc::artifact::BundleIndex index;
  adc::artifact::Metadata metadata;
  adrt::Vector<adrt_kernel> kernels;
  uint32_t signature = ADRT_SIGNATURE_NONE;
  uint8_t signer[adc::artifact::kPublicKeySize] = {};  ///< the key that `signature` is about
};

namespace adrt {

/// The kernel of exactly this name, or null.
const adrt_kernel* FindKernel(const adrt_bundle& bundle, std::string_view name);

}  // namespace adrt

/// The head of every kind's device; a kind derives from it.
struct adrt_device {
  adrt_device(const adrt::Host& from, const adrt::DeviceKind* its_kind, uint32_t workers)
      : host(from), kind(its_kind), worker_count(workers) {}

  adrt::Count count;
  adrt::Host host;
  const adrt::DeviceKind* kind;
  uint64_t cache_bytes = 0;           ///< GPU: of the last cache before memory; 0: unknown
  uint32_t worker_count;              ///< CPU: jobs; GPU: threads that it runs at once. Limits rows
  uint64_t most_blocks = UINT32_MAX;  ///< GPU: blocks of one launch
  /// GPU: blocks of a task whose blocks add up, for each that runs at once; 0: one thread per iteration.
  uint32_t summing_turns = 0;
  uint32_t wave = 0;        ///< GPU: threads that run in step; 0: as many as the code is made for
  char arch[16] = {};       ///< "x86-64", "sm_90"
  bool cuts_loops = false;  ///< its driver ends long loops early, which code reports
  char label[64] = {};      ///< the name of the hardware, for people; may be empty
};

struct adrt_module {
  explicit adrt_module(const adrt::Host& from) : host(from) {}

  adrt::Count count;
  adrt::Host host;
  adrt_device* device = nullptr;
  adrt_bundle* bundle = nullptr;
  uint32_t target = 0;
  bool confined = false;              ///< the code is unverified (DeviceKind::confines)
  adrt_module* next = nullptr;        ///< the next part (core/parts.h), which this one holds
  void* code = nullptr;               ///< the kind's own
  adrt::Vector<uint32_t> task_begin;  ///< per kernel: where its tasks begin in `entries`
  adrt::Vector<void*> entries;        ///< per task; null where the target has no code for it
  /// Per task: how many threads of it the device runs at once; 0: the device's worker_count.
  adrt::Vector<uint32_t> entry_threads;
  void* table_writer = nullptr;  ///< the entry ADRT_GPU_TABLE_WRITER, where a task has a table
};
