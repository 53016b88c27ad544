#include "core/errors.h"
#include "core/heap.h"

// Device memory for tools and first steps: an engine has its own.

using adrt::Fail;

namespace {

// Whether [offset, offset + bytes) lies inside.
bool Inside(const adrt_memory& memory, uint64_t offset, uint64_t bytes, adrt_error* error) {
  if (offset <= memory.bytes && bytes <= memory.bytes - offset) return true;
  return adrt::Refuse(error, ADRT_ERROR_ARGUMENT, "memory: ", bytes, " bytes at offset ", offset,
                      " reach past its ", memory.bytes, " bytes");
}

}  // namespace

adrt_status adrt_memory_create(adrt_device* device, uint64_t bytes, adrt_memory** memory, adrt_error* error) {
  adrt::Alive(__func__, device);
  if (!device || !memory) return Fail(error, ADRT_ERROR_ARGUMENT, "memory_create: null argument");
  if (bytes > uint64_t{PTRDIFF_MAX}) {
    return Fail(error, ADRT_ERROR_SIZE_OVERFLOW, "memory_create: ", bytes,
                " bytes are more than there can be");
  }
  adrt_error own = {};
  adrt_error* details = adrt::DetailsOf(error, &own);
  adrt_memory* made = adrt::New<adrt_memory>(device->host.allocator, device);
  if (!made) return adrt::OutOfMemory(error);
  // Empty memory still has an address.
  constexpr uint64_t kLeast = 16;
  if (!device->kind->allocate(*device, bytes < kLeast ? kLeast : bytes, &made->memory, details)) {
    adrt::Delete(device->host.allocator, made);
    return details->status;
  }
  made->bytes = bytes;
  adrt_device_retain(device);
  *memory = made;
  return ADRT_OK;
}

void adrt_memory_retain(adrt_memory* memory) {
  adrt::Alive(__func__, memory);
  if (memory) memory->count.Retain();
}

void adrt_memory_release(adrt_memory* memory) {
  adrt::Alive(__func__, memory);
  if (!memory || !memory->count.Release()) return;
  adrt_device* device = memory->device;
  device->kind->release(*device, memory->memory);
  adrt::Delete(device->host.allocator, memory);
  adrt_device_release(device);
}

void* adrt_memory_data(const adrt_memory* memory) {
  adrt::Alive(__func__, memory);
  return memory ? memory->device->kind->data(memory->memory) : nullptr;
}

uint64_t adrt_memory_bytes(const adrt_memory* memory) {
  adrt::Alive(__func__, memory);
  return memory ? memory->bytes : 0;
}

adrt_status adrt_memory_write(adrt_memory* memory, uint64_t offset, const void* from, uint64_t bytes,
                              adrt_error* error) {
  adrt::Alive(__func__, memory);
  adrt_error own = {};
  adrt_error* details = adrt::DetailsOf(error, &own);
  if (!memory || (!from && bytes > 0)) return Fail(error, ADRT_ERROR_ARGUMENT, "memory_write: null argument");
  if (!Inside(*memory, offset, bytes, details)) return details->status;
  adrt_device& device = *memory->device;
  bool done = bytes == 0 ||
              device.kind->write(device, memory->memory.place.Part(offset, bytes), from, bytes, details);
  return done ? ADRT_OK : details->status;
}

adrt_status adrt_memory_read(const adrt_memory* memory, uint64_t offset, void* to, uint64_t bytes,
                             adrt_error* error) {
  adrt::Alive(__func__, memory);
  adrt_error own = {};
  adrt_error* details = adrt::DetailsOf(error, &own);
  if (!memory || (!to && bytes > 0)) return Fail(error, ADRT_ERROR_ARGUMENT, "memory_read: null argument");
  if (!Inside(*memory, offset, bytes, details)) return details->status;
  adrt_device& device = *memory->device;
  bool done =
      bytes == 0 || device.kind->read(device, memory->memory.place.Part(offset, bytes), to, bytes, details);
  return done ? ADRT_OK : details->status;
}
