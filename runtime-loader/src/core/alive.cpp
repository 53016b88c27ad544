#include "core/alive.h"

#ifdef ADRT_CHECK_HANDLES

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "platform/platform.h"

#if defined(__SANITIZE_ADDRESS__)
#define ADRT_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ADRT_ASAN 1
#endif
#endif
#ifdef ADRT_ASAN
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(memory, size) ((void)(memory), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(memory, size) ((void)(memory), (void)(size))
#endif

// A table of all handles of the process, by address. A handle's own memory is never read to find out whether
// it is one. Only an address that is not reused tells a released handle from a new one, so the memory of
// released handles is held back: the last kHeldBack pieces, in the order of their release.

namespace adrt {
namespace {

struct Entry {
  const void* address;
  Handle type;
  bool alive;
  Entry* next;
};
struct Piece {
  void* memory = nullptr;
  size_t size = 0, alignment = 1;
  bool has_parts = false;
};

constexpr size_t kBuckets = 4096, kHeldBack = 1024;
platform::Mutex table_lock;
Entry* table[kBuckets];
Piece held_back[kHeldBack];
size_t next_piece = 0;

Entry** BucketOf(const void* address) {
  return &table[reinterpret_cast<uintptr_t>(address) / 16 * 0x9E3779B97F4A7C15u >> 52];
}

Entry* Find(const void* address) {
  for (Entry* entry = *BucketOf(address); entry; entry = entry->next) {
    if (entry->address == address) return entry;
  }
  return nullptr;
}

// Forgets the handles in a piece of memory that may be reused now: the piece itself, or a handle in it.
void Forget(const Piece& piece) {
  const char* begin = static_cast<const char*>(piece.memory);
  for (size_t at = 0; at < (piece.has_parts ? piece.size : 1); at += alignof(void*)) {
    for (Entry** link = BucketOf(begin + at); *link; link = &(*link)->next) {
      Entry* entry = *link;
      if (entry->address != begin + at) continue;
      *link = entry->next;
      std::free(entry);
      break;
    }
  }
}

void HoldBack(const Piece& piece) {
  const auto& [memory, size, alignment, has_parts] = piece;
  Piece& place = held_back[next_piece];
  next_piece = (next_piece + 1) % kHeldBack;
  if (place.memory) {
    Forget(place);
    ASAN_UNPOISON_MEMORY_REGION(place.memory, place.size);
    adc::artifact::Release(nullptr, place.memory, place.size, place.alignment);
  }
  std::memset(memory, 0xDD, size);
  ASAN_POISON_MEMORY_REGION(memory, size);
  place = piece;
}

[[noreturn]] void End(const char* function, const char* type, const char* why) {
  std::fprintf(stderr, "adrt: %s got an %s that %s\n", function, type, why);
  std::abort();
}

}  // namespace

void BeginLife(const void* handle, Handle type) {
  platform::Lock lock(table_lock);
  Entry* entry = Find(handle);
  if (!entry) {
    entry = static_cast<Entry*>(std::malloc(sizeof(Entry)));
    if (!entry) End("the table of handles", "entry", "there is no memory for");
    Entry** bucket = BucketOf(handle);
    *entry = {handle, type, true, *bucket};
    *bucket = entry;
  }
  entry->type = type;
  entry->alive = true;
}

void EndLife(const void* handle) {
  platform::Lock lock(table_lock);
  if (Entry* entry = Find(handle)) entry->alive = false;
}

void* TakeHandle(const adc::artifact::Allocator& host, size_t size, size_t alignment, Handle type) {
  if (type == Handle::None) return adc::artifact::Allocate(&host, size, alignment);
  // The host is asked all the same, so that its refusal is a refusal.
  void* asked = adc::artifact::Allocate(&host, size, alignment);
  if (!asked) return nullptr;
  adc::artifact::Release(&host, asked, size, alignment);
  void* memory = adc::artifact::Allocate(nullptr, size, alignment);
  if (memory) BeginLife(memory, type);
  return memory;
}

void GiveHandle(const adc::artifact::Allocator& host, void* memory, size_t size, size_t alignment,
                Handle type) {
  if (type == Handle::None) return adc::artifact::Release(&host, memory, size, alignment);
  EndLife(memory);
  platform::Lock lock(table_lock);
  HoldBack({memory, size, alignment, /*has_parts=*/false});
}

const adc::artifact::Allocator* KernelMemory(const adc::artifact::Allocator*) {
  static constexpr adc::artifact::Allocator kMemory = {
      [](void*, size_t size, size_t alignment) { return adc::artifact::Allocate(nullptr, size, alignment); },
      [](void*, void* memory, size_t size, size_t alignment) {
        platform::Lock lock(table_lock);
        HoldBack({memory, size, alignment, /*has_parts=*/true});
      },
      nullptr};
  return &kMemory;
}

void CheckAlive(const char* function, const void* handle, Handle type) {
  if (!handle) return;
  constexpr const char* kTypes[] = {
      "?",         "adrt_bundle",      "adrt_kernel",  "adrt_device",     "adrt_module",   "adrt_memory",
      "adrt_heap", "adrt_launch_plan", "adrt_rollout", "adrt_cpu_record", "adrt_sequence", "adrt_arg_group"};
  const char* name = kTypes[static_cast<size_t>(type)];
  platform::Lock lock(table_lock);
  const Entry* entry = Find(handle);
  if (!entry || entry->type != type) End(function, name, "is not a handle, or was released long ago");
  if (!entry->alive) End(function, name, "was released before");
}

}  // namespace adrt

#endif
