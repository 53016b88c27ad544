#include <bit>

#include "core/host.h"
#include "vulkan/device.h"

// Device memory for tools and first steps: one buffer with memory of its own per request. Where device memory
// is the host's anyway (a processor's own graphics, a device that is a processor) it is mapped and copies are
// plain; elsewhere they go through a staging buffer, in pieces, each waited for.
//
// A request that no heap could hold is refused before the driver is asked, because drivers that overcommit
// say yes and fail later.

namespace adrt::vulkan {
namespace {

constexpr uint64_t kStagingBytes = 16u << 20;
constexpr uint64_t kUnit = 256;  // sizes and, through it, the alignments of offsets that the core may ask for

constexpr VkMemoryPropertyFlags kHostSees =
    VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;

// The first allowed type with all of `wanted` and the most of `better`; the count of types where there is
// none.
uint32_t FindType(const Device& device, uint32_t allowed, VkMemoryPropertyFlags wanted,
                  VkMemoryPropertyFlags better, VkMemoryPropertyFlags worse) {
  uint32_t best = device.memory.memoryTypeCount;
  int best_score = 0;
  for (uint32_t type = 0; type < device.memory.memoryTypeCount; ++type) {
    VkMemoryPropertyFlags flags = device.memory.memoryTypes[type].propertyFlags;
    if (!(allowed >> type & 1) || (flags & wanted) != wanted) continue;
    int score = 1 + 2 * std::popcount(flags & better) + ((flags & worse) == 0 ? 1 : 0);
    if (score <= best_score) continue;
    best = type;
    best_score = score;
  }
  return best;
}

// Bytes of the heap that are free by the driver's own account; the heap's size where it keeps none.
uint64_t Free(const Device& device, uint32_t heap) {
  uint64_t size = device.memory.memoryHeaps[heap].size;
  if (!device.tells_budget) return size;
  VkPhysicalDeviceMemoryBudgetPropertiesEXT budget = {};
  budget.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT;
  VkPhysicalDeviceMemoryProperties2 properties = {};
  properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2;
  properties.pNext = &budget;
  device.api.GetPhysicalDeviceMemoryProperties2(device.physical, &properties);
  return budget.heapBudget[heap] > budget.heapUsage[heap] ? budget.heapBudget[heap] - budget.heapUsage[heap]
                                                          : 0;
}

bool TooMuch(const Device& device, uint64_t bytes, uint32_t type, const char* call, adrt_error* error) {
  uint64_t would_fit = Free(device, device.memory.memoryTypes[type].heapIndex);
  if (would_fit > device.limits.allocation) would_fit = device.limits.allocation;
  Refuse(error, ADRT_ERROR_OUT_OF_DEVICE_MEMORY, "asked for ", bytes, " bytes of device memory, ", would_fit,
         device.tells_budget ? " bytes are free" : " bytes is the most that there is", call[0] ? " (" : "",
         call, call[0] ? " failed with VK_ERROR_OUT_OF_DEVICE_MEMORY)" : "");
  if (call[0]) error->native_code = VK_ERROR_OUT_OF_DEVICE_MEMORY;
  return false;
}

enum class Use { kDevice, kStaging };

void Free(Device& device, Block& block) {
  if (block.buffer) device.api.DestroyBuffer(device.handle, block.buffer, device.callbacks);
  if (block.memory) device.api.FreeMemory(device.handle, block.memory, device.callbacks);  // unmaps it too
}

bool GiveMemory(Device& device, Block& block, Use use, adrt_error* error) {
  VkMemoryRequirements needs = {};
  device.api.GetBufferMemoryRequirements(device.handle, block.buffer, &needs);
  bool staging = use == Use::kStaging, mapped = staging || device.host_sees_memory;
  VkMemoryPropertyFlags wanted =
      staging ? kHostSees : VkMemoryPropertyFlags{VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT};
  VkMemoryPropertyFlags better = mapped ? kHostSees : 0;
  if (staging) better = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
  VkMemoryPropertyFlags worse = mapped ? 0 : VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT;
  uint32_t type = FindType(device, needs.memoryTypeBits, wanted, better, worse);
  if (type == device.memory.memoryTypeCount) {
    return Refuse(error, ADRT_ERROR_OUT_OF_DEVICE_MEMORY, "no kind of memory of the device holds ",
                  staging ? "staging" : "storage", " buffers");
  }
  if (needs.size > device.memory.memoryHeaps[device.memory.memoryTypes[type].heapIndex].size) {
    return TooMuch(device, needs.size, type, "", error);
  }
  VkMemoryAllocateFlagsInfo flags = {};
  flags.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO;
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  VkMemoryAllocateInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
  info.pNext = staging || !device.has_addresses ? nullptr : &flags;
  info.allocationSize = needs.size;
  info.memoryTypeIndex = type;
  VkResult result = device.api.AllocateMemory(device.handle, &info, device.callbacks, &block.memory);
  if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY) {
    block.memory = VK_NULL_HANDLE;
    return TooMuch(device, needs.size, type, "vkAllocateMemory", error);
  }
  if (result != VK_SUCCESS) {
    block.memory = VK_NULL_HANDLE;
    return DriverFailed(error, "vkAllocateMemory", result);
  }
  result = device.api.BindBufferMemory(device.handle, block.buffer, block.memory, 0);
  if (result != VK_SUCCESS) return DriverFailed(error, "vkBindBufferMemory", result);
  if (!mapped || (device.memory.memoryTypes[type].propertyFlags & kHostSees) != kHostSees) return true;
  void* place = nullptr;
  result = device.api.MapMemory(device.handle, block.memory, 0, VK_WHOLE_SIZE, 0, &place);
  if (result != VK_SUCCESS) return DriverFailed(error, "vkMapMemory", result);
  block.mapped = static_cast<unsigned char*>(place);
  return true;
}

bool Fill(Device& device, Block& block, uint64_t bytes, Use use, adrt_error* error) {
  VkBufferCreateInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  info.size = bytes;
  info.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  if (use == Use::kDevice) {
    info.usage |= VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT;
    if (device.has_addresses) info.usage |= VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
  }
  info.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
  VkResult result = device.api.CreateBuffer(device.handle, &info, device.callbacks, &block.buffer);
  if (result != VK_SUCCESS) {
    block.buffer = VK_NULL_HANDLE;
    return DriverFailed(error, "vkCreateBuffer", result);
  }
  Name(device, VK_OBJECT_TYPE_BUFFER, block.buffer, use == Use::kStaging ? "adrt staging" : "adrt memory");
  block.bytes = bytes;
  if (!GiveMemory(device, block, use, error)) return false;
  if (use == Use::kStaging || !device.has_addresses) return true;
  VkBufferDeviceAddressInfo address = {};
  address.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
  address.buffer = block.buffer;
  block.address = device.api.GetBufferDeviceAddress(device.handle, &address);
  if (block.address != 0) return true;
  return Refuse(error, ADRT_ERROR_DRIVER, "vkGetBufferDeviceAddress gave no address");
}

Block* Make(Device& device, uint64_t bytes, Use use, adrt_error* error) {
  Block* block = New<Block>(device.host.allocator);
  if (!block) {
    OutOfMemory(error);
    return nullptr;
  }
  if (Fill(device, *block, bytes, use, error)) return block;
  Free(device, *block);
  Delete(device.host.allocator, block);
  return nullptr;
}

// The address at which the host sees a place; null where it does not.
unsigned char* HostView(Device& device, const Place& place) {
  Lock lock(device.mutex);
  for (Block* block = device.blocks; block; block = block->next) {
    if (block->buffer == BufferOf(place)) return block->mapped ? block->mapped + place.offset : nullptr;
  }
  return nullptr;
}

// One piece between the staging buffer and the device, waited for.
bool CopyPiece(Device& device, VkBuffer from, VkBuffer to, const VkBufferCopy& region, adrt_error* error) {
  void* queue = nullptr;
  if (!Begin(device, &queue, error)) return false;
  device.api.CmdCopyBuffer(static_cast<VkCommandBuffer>(queue), from, to, 1, &region);
  return Finish(device, queue, error);
}

// Copies through the staging buffer. Exactly one of `in` and `out` is given.
bool Stage(Device& device, const Place& place, const unsigned char* in, unsigned char* out, uint64_t bytes,
           adrt_error* error) {
  Lock lock(device.staging_mutex);
  if (!device.staging) device.staging = Make(device, kStagingBytes, Use::kStaging, error);
  if (!device.staging) return false;
  VkBuffer staging = device.staging->buffer;
  for (uint64_t done = 0; done < bytes; done += kStagingBytes) {
    uint64_t piece = bytes - done < kStagingBytes ? bytes - done : kStagingBytes;
    if (in) {
      std::memcpy(device.staging->mapped, in + done, piece);
      if (!CopyPiece(device, staging, BufferOf(place), {0, place.offset + done, piece}, error)) return false;
    } else {
      if (!CopyPiece(device, BufferOf(place), staging, {place.offset + done, 0, piece}, error)) return false;
      std::memcpy(out + done, device.staging->mapped, piece);
    }
  }
  return true;
}

}  // namespace

bool Allocate(adrt_device& base, uint64_t bytes, Memory* memory, adrt_error* error) {
  Device& device = Of(base);
  if (bytes > device.limits.allocation - kUnit) {
    return Refuse(error, ADRT_ERROR_OUT_OF_DEVICE_MEMORY, "asked for ", bytes,
                  " bytes of device memory in one piece, ", device.limits.allocation,
                  " bytes is the most that the device gives");
  }
  Block* block = Make(device, (bytes + kUnit - 1) / kUnit * kUnit, Use::kDevice, error);
  if (!block) return false;
  block->data.struct_size = sizeof block->data;
  block->data.buffer = reinterpret_cast<uintptr_t>(block->buffer);
  block->data.size = bytes;
  block->data.address = block->address;
  memory->place = {block->data.buffer, 0, bytes, block->address};
  memory->own = block;
  Lock lock(device.mutex);
  block->next = device.blocks;
  device.blocks = block;
  return true;
}

void Release(adrt_device& base, Memory& memory) {
  Device& device = Of(base);
  Block* block = static_cast<Block*>(memory.own);
  {
    Lock lock(device.mutex);
    Block** link = &device.blocks;
    while (*link != block) link = &(*link)->next;
    *link = block->next;
  }
  Free(device, *block);
  Delete(device.host.allocator, block);
  memory = {};
}

bool Write(adrt_device& base, const Place& to, const void* from, uint64_t bytes, adrt_error* error) {
  if (bytes == 0) return true;
  Device& device = Of(base);
  if (unsigned char* view = HostView(device, to)) {
    std::memcpy(view, from, bytes);
    return true;
  }
  return Stage(device, to, static_cast<const unsigned char*>(from), nullptr, bytes, error);
}

bool Read(adrt_device& base, const Place& from, void* to, uint64_t bytes, adrt_error* error) {
  if (bytes == 0) return true;
  Device& device = Of(base);
  if (const unsigned char* view = HostView(device, from)) {
    std::memcpy(to, view, bytes);
    return true;
  }
  return Stage(device, from, nullptr, static_cast<unsigned char*>(to), bytes, error);
}

bool Bind(const adrt_device& base, const void* data, Place* place, artifact::TextWriter& reason) {
  adrt_vk_buffer buffer = {};
  if (!CopyDescriptor(static_cast<const adrt_vk_buffer*>(data), &buffer)) {
    reason << "is no adrt_vk_buffer, its " << kNotSet;
    return false;
  }
  // Where the device was made without addresses nothing may ask for them, and no code takes them.
  bool addressed = Of(base).has_addresses;
  if (buffer.buffer == 0 || (addressed && buffer.address == 0)) {
    reason << "is an adrt_vk_buffer without " << (buffer.buffer == 0 ? "buffer" : "address");
    return false;
  }
  *place = {buffer.buffer, buffer.offset, buffer.size, addressed ? buffer.address : 0};
  if (!addressed) return true;
  // Near entries go by the offset, far ones by the address: both must be the same bytes.
  VkBufferDeviceAddressInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
  info.buffer = BufferOf(*place);
  uint64_t begin = Of(base).api.GetBufferDeviceAddress(Of(base).handle, &info);
  if (begin + buffer.offset == buffer.address) return true;
  reason << "is an adrt_vk_buffer whose address is " << buffer.address
         << ", and vkGetBufferDeviceAddress gives " << begin << " for its buffer, at the offset "
         << buffer.offset;
  return false;
}

void* Data(const Memory& memory) {
  return &static_cast<Block*>(memory.own)->data;
}

void ReleaseBlocks(Device& device) {
  while (Block* block = device.blocks) {
    device.blocks = block->next;
    Free(device, *block);
    Delete(device.host.allocator, block);
  }
  if (!device.staging) return;
  Free(device, *device.staging);
  Delete(device.host.allocator, device.staging);
  device.staging = nullptr;
}

}  // namespace adrt::vulkan
