#include "core/heap.h"

#include "core/errors.h"
#include "core/host.h"

namespace adrt {

void* GrowHeap(adrt_heap& heap, uint64_t bytes) {
  if (bytes <= heap.size) return heap.memory;
  const artifact::Allocator* allocator = &heap.host.allocator;
  uint64_t doubled = heap.size > UINT64_MAX / 2 ? bytes : heap.size * 2;
  artifact::Release(allocator, heap.memory, heap.size, ADRT_HEAP_ALIGNMENT);
  heap.memory = nullptr;
  heap.size = 0;
  uint64_t wanted = doubled > bytes ? doubled : bytes;
  heap.memory = artifact::Allocate(allocator, wanted, ADRT_HEAP_ALIGNMENT);
  if (!heap.memory && wanted > bytes) {
    wanted = bytes;
    heap.memory = artifact::Allocate(allocator, wanted, ADRT_HEAP_ALIGNMENT);
  }
  if (heap.memory) heap.size = wanted;
  return heap.memory;
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

void adrt_heap_retain(adrt_heap* heap) {
  if (heap) heap->count.Retain();
}

void adrt_heap_release(adrt_heap* heap) {
  if (!heap || !heap->count.Release()) return;
  adrt::artifact::Release(&heap->host.allocator, heap->memory, heap->size, ADRT_HEAP_ALIGNMENT);
  adrt::Delete(heap->host.allocator, heap);
}

uint64_t adrt_heap_bytes(const adrt_heap* heap) {
  return heap ? heap->size : 0;
}
