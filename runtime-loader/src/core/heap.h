#pragma once

#include "core/handles.h"

/// Memory that launches reuse, 64-byte aligned.
struct adrt_heap {
  explicit adrt_heap(const adrt::Host& from) : host(from) {}

  adrt::Count count;
  adrt::Host host;
  void* memory = nullptr;
  uint64_t size = 0;
};

namespace adrt {

/// At least `bytes`: what is there, else twice that, else exactly `bytes`. Content is not kept. Null when
/// refused, the heap is then empty.
void* GrowHeap(adrt_heap& heap, uint64_t bytes);

}  // namespace adrt
