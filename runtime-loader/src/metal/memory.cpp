#include "core/errors.h"
#include "metal/device.h"

// Memory for tools and first steps: shared buffers, which host and device both see, so that copies are plain.
// A caller's buffer that the host does not see is copied through a passing shared one.

namespace adrt::metal {
namespace {

/// The block to which Memory::own points.
struct Block {
  adrt_metal_buffer data = {};  ///< the struct that adrt_memory_data gives
};

// One copy on the device, waited for.
bool CopyOnDevice(Device& device, void* from, uint64_t from_offset, void* to, uint64_t to_offset,
                  uint64_t bytes, adrt_error* error) {
  void* queue = nullptr;
  if (!Begin(device, &queue, error)) return false;
  void* encoder = static_cast<Recorder*>(queue)->Open(device, Recorder::Kind::kCopy, error);
  if (!encoder) {
    Drop(device, queue);
    return false;
  }
  device.api->copy(device.api->user, encoder, from, from_offset, to, to_offset, bytes);
  return Finish(device, queue, error);
}

void* NewBuffer(const Device& device, uint64_t bytes, adrt_error* error) {
  const adrt_metal_api& api = *device.api;
  uint64_t most = device.facts.most_bytes;
  if (most == 0 || bytes <= most) {
    if (void* buffer = api.new_buffer(api.user, device.device, bytes)) return buffer;
    most = device.facts.working_bytes;
  }
  Fail(error, ADRT_ERROR_OUT_OF_DEVICE_MEMORY, "asked for ", bytes, " bytes of device memory, ", most,
       " bytes is the most that the device recommends or takes in one piece");
  error->needed_bytes = bytes;
  return nullptr;
}

unsigned char* HostView(const Device& device, const Place& place) {
  void* contents = device.api->contents(device.api->user, BufferOf(place));
  return contents ? static_cast<unsigned char*>(contents) + place.offset : nullptr;
}

}  // namespace

bool Bind(const adrt_device& base, const void* data, Place* place, artifact::TextWriter& reason) {
  const Device& device = Of(base);
  adrt_metal_buffer buffer = {};
  if (!CopyDescriptor(static_cast<const adrt_metal_buffer*>(data), &buffer)) {
    reason << "is no adrt_metal_buffer, its " << kNotSet;
    return false;
  }
  if (!buffer.buffer) {
    reason << "is an adrt_metal_buffer without a buffer";
    return false;
  }
  uint64_t length = device.api->length(device.api->user, buffer.buffer);
  if (buffer.offset > length || buffer.size > length - buffer.offset) {
    reason << "reaches past its MTLBuffer, which has " << length << " bytes";
    return false;
  }
  uint64_t bytes = buffer.size > 0 ? buffer.size : length - buffer.offset;
  *place = {reinterpret_cast<uintptr_t>(buffer.buffer), buffer.offset, bytes, 0};
  return true;
}

void* Data(const Memory& memory) {
  return &static_cast<Block*>(memory.own)->data;
}

bool Allocate(adrt_device& base, uint64_t bytes, Memory* memory, adrt_error* error) {
  Device& device = Of(base);
  Block* block = New<Block>(device.host.allocator);
  if (!block) return OutOfMemory(error) == ADRT_OK;
  void* buffer = NewBuffer(device, bytes, error);
  if (!buffer) {
    Delete(device.host.allocator, block);
    return false;
  }
  block->data.struct_size = sizeof block->data;
  block->data.buffer = buffer;
  block->data.size = bytes;
  memory->place = {reinterpret_cast<uintptr_t>(buffer), 0, bytes, 0};
  memory->own = block;
  return true;
}

void Release(adrt_device& base, Memory& memory) {
  Device& device = Of(base);
  device.api->release(device.api->user, BufferOf(memory.place));
  Delete(device.host.allocator, static_cast<Block*>(memory.own));
  memory = {};
}

bool Write(adrt_device& base, const Place& to, const void* from, uint64_t bytes, adrt_error* error) {
  Device& device = Of(base);
  if (bytes == 0) return true;
  if (unsigned char* view = HostView(device, to)) {
    std::memcpy(view, from, bytes);
    return true;
  }
  void* staging = NewBuffer(device, bytes, error);
  if (!staging) return false;
  std::memcpy(device.api->contents(device.api->user, staging), from, bytes);
  bool done = CopyOnDevice(device, staging, 0, BufferOf(to), to.offset, bytes, error);
  device.api->release(device.api->user, staging);
  return done;
}

bool Read(adrt_device& base, const Place& from, void* to, uint64_t bytes, adrt_error* error) {
  Device& device = Of(base);
  if (bytes == 0) return true;
  if (const unsigned char* view = HostView(device, from)) {
    std::memcpy(to, view, bytes);
    return true;
  }
  void* staging = NewBuffer(device, bytes, error);
  if (!staging) return false;
  bool done = CopyOnDevice(device, BufferOf(from), from.offset, staging, 0, bytes, error);
  if (done) std::memcpy(to, device.api->contents(device.api->user, staging), bytes);
  device.api->release(device.api->user, staging);
  return done;
}

}  // namespace adrt::metal
