#include "core/heap.h"

#include "core/errors.h"
#include "core/host.h"

namespace adrt {

bool TakeHost(const artifact::Allocator& allocator, uint64_t bytes, Memory* memory, adrt_error* error) {
  void* taken = artifact::Allocate(&allocator, bytes, ADRT_HEAP_ALIGNMENT);
  if (!taken) {
    Fail(error, ADRT_ERROR_OUT_OF_HOST_MEMORY, "the host's allocator refused ", bytes,
         " bytes, or did not align them to ", int32_t{ADRT_HEAP_ALIGNMENT});
    if (error && error->struct_size >= sizeof(adrt_error)) error->needed_bytes = bytes;
    return false;
  }
  memory->place = Place::Host(taken, bytes);
  return true;
}

void ReleaseHost(const artifact::Allocator& allocator, Memory& memory) {
  artifact::Release(&allocator, memory.place.host(), memory.place.bytes, ADRT_HEAP_ALIGNMENT);
  memory = {};
}

namespace {

bool TakeFor(adrt_heap& heap, uint64_t bytes, adrt_error* error) {
  if (!heap.device) return TakeHost(heap.host.allocator, bytes, &heap.memory, error);
  return heap.device->kind->allocate(*heap.device, bytes, &heap.memory, error);
}

void Empty(adrt_heap& heap) {
  if (!heap.memory.given()) return;
  if (heap.device) {
    heap.device->kind->release(*heap.device, heap.memory);
  } else {
    ReleaseHost(heap.host.allocator, heap.memory);
  }
  heap.memory = {};
}

}  // namespace

bool GrowMemory(adrt_device& device, Memory& memory, uint64_t bytes, adrt_error* error) {
  if (bytes <= memory.place.bytes) return true;
  if (memory.given()) device.kind->release(device, memory);
  memory = {};
  return device.kind->allocate(device, bytes, &memory, error);
}

bool GrowHeap(adrt_heap& heap, uint64_t bytes, adrt_error* error) {
  uint64_t size = heap.memory.place.bytes;
  if (bytes <= size && heap.memory.given()) return true;
  Empty(heap);
  uint64_t doubled = size > UINT64_MAX / 2 ? bytes : size * 2;
  adrt_error passed = {};
  if (doubled > bytes && TakeFor(heap, doubled, DetailsOf(nullptr, &passed))) return true;
  return TakeFor(heap, bytes, error);
}

}  // namespace adrt

adrt_status adrt_heap_create(const adrt_host* host, adrt_heap** heap, adrt_error* error) {
  if (!heap) return adrt::Fail(error, ADRT_ERROR_ARGUMENT, "heap_create: null argument");
  adrt::Host made;
  if (!adrt::MakeHost(host, &made, error)) return ADRT_ERROR_ARGUMENT;
  adrt_heap* created = adrt::New<adrt_heap>(made.allocator, made);
  if (!created) return adrt::OutOfMemory(error);
  *heap = created;
  return ADRT_OK;
}

adrt_status adrt_heap_create_on(adrt_device* device, adrt_heap** heap, adrt_error* error) {
  adrt::Alive(__func__, device);
  if (!device || !heap) return adrt::Fail(error, ADRT_ERROR_ARGUMENT, "heap_create_on: null argument");
  adrt_heap* created = adrt::New<adrt_heap>(device->host.allocator, device->host);
  if (!created) return adrt::OutOfMemory(error);
  adrt_device_retain(device);
  created->device = device;
  *heap = created;
  return ADRT_OK;
}

void adrt_heap_retain(adrt_heap* heap) {
  adrt::Alive(__func__, heap);
  if (heap) heap->count.Retain();
}

void adrt_heap_release(adrt_heap* heap) {
  adrt::Alive(__func__, heap);
  if (!heap || !heap->count.Release()) return;
  adrt::Empty(*heap);
  adrt_device* device = heap->device;
  adrt::Delete(heap->host.allocator, heap);
  adrt_device_release(device);
}

uint64_t adrt_heap_bytes(const adrt_heap* heap) {
  adrt::Alive(__func__, heap);
  return heap ? heap->memory.place.bytes : 0;
}
