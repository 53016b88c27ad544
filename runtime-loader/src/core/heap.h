#pragma once
// Memory of a device with an owner: the heap that launches reuse, memory that goes with a scope, a queue that
// is dropped unless it is finished.

#include "core/handles.h"

/// Memory that launches reuse. Without a device it is host memory, for CPUs.
struct adrt_heap {
  explicit adrt_heap(const adrt::Host& from) : host(from) {}

  adrt::Count count;
  adrt::Host host;
  adrt_device* device = nullptr;  ///< retained, may be null
  adrt::Memory memory;
};

/// Memory for arguments.
struct adrt_memory {
  explicit adrt_memory(adrt_device* from) : device(from) {}

  adrt::Count count;
  adrt_device* device;  ///< retained
  adrt::Memory memory;
  uint64_t bytes = 0;  ///< asked for
};

namespace adrt {

/// Host memory, 64-byte aligned; false when refused.
bool TakeHost(const artifact::Allocator& allocator, uint64_t bytes, Memory* memory, adrt_error* error);
void ReleaseHost(const artifact::Allocator& allocator, Memory& memory);

/// At least `bytes`: the present size, else twice that, else exactly `bytes`. Content is lost. False with
/// the reason when refused, the heap is then empty.
bool GrowHeap(adrt_heap& heap, uint64_t bytes, adrt_error* error);

/// At least `bytes`: the present memory, else new memory, whose content is undefined. False with the reason
/// when refused, there is none then.
bool GrowMemory(adrt_device& device, Memory& memory, uint64_t bytes, adrt_error* error);

/// Memory that goes when the scope ends. No work that uses it may be under way then.
class PassingMemory {
 public:
  explicit PassingMemory(adrt_device& device) : device_(&device) {}
  PassingMemory(const PassingMemory&) = delete;
  PassingMemory& operator=(const PassingMemory&) = delete;
  ~PassingMemory() { Drop(); }

  bool Take(uint64_t bytes, adrt_error* error) {
    Drop();
    return device_->kind->allocate(*device_, bytes, &memory_, error);
  }
  const Place& place() const { return memory_.place; }

 private:
  void Drop() {
    if (memory_.given()) device_->kind->release(*device_, memory_);
    memory_ = {};
  }

  adrt_device* device_;
  Memory memory_;
};

/// A queue of the device's own.
class OwnQueue {
 public:
  explicit OwnQueue(adrt_device& device) : device_(&device) {}
  OwnQueue(const OwnQueue&) = delete;
  OwnQueue& operator=(const OwnQueue&) = delete;
  ~OwnQueue() {
    if (open_) device_->kind->drop(*device_, handle_);
  }

  bool Begin(adrt_error* error) {
    open_ = device_->kind->begin(*device_, &handle_, error);
    return open_;
  }
  /// Waits for everything that was recorded.
  bool Finish(adrt_error* error) {
    open_ = false;
    return device_->kind->finish(*device_, handle_, error);
  }
  void* handle() const { return handle_; }
  bool open() const { return open_; }

 private:
  adrt_device* device_;
  void* handle_ = nullptr;
  bool open_ = false;
};

}  // namespace adrt
