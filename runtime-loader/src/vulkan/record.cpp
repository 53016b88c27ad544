#include "core/launch.h"
#include "vulkan/module.h"

// Recording: dispatches, and the commands that must lie around them. The words of a task go into its part of
// the heap, and the push constants say where; a recorded launch is complete in itself and can be submitted
// again.

namespace adrt::vulkan {
namespace {

/// The memory of a binding. If that is empty, which no descriptor can be, it is the words: code does not use
/// it then. A part of a word at the end belongs to it where words are updated.
Place PlaceBehind(const LaunchTask& task, const artifact::BindingMeta& binding) {
  Place place = task.words_place;
  if (binding.of == artifact::BindingOf::kHeap && task.heap.bytes > 0) place = task.heap;
  if (binding.of == artifact::BindingOf::kStatus) place = task.status;
  if (binding.of != artifact::BindingOf::kParam) return place;
  const BoundParam& param = task.params[binding.param];
  if (param.bytes == 0) return place;
  bool words = binding.type == artifact::ScalarType::kU32;
  return param.place.Part(0, words ? (param.bytes + 3) / 4 * 4 : param.bytes);
}

/// The alignment that a descriptor's offset must have. Words may lie around smaller elements.
uint64_t AlignmentOf(const Device& device, const artifact::BindingMeta& binding) {
  uint64_t own = device.limits.storage_alignment;
  return own < 4 && binding.type == artifact::ScalarType::kU32 ? 4 : own;
}

/// Whether every binding can be a descriptor; fills those. Where not, `refused` is the first that cannot.
bool FillDescriptors(const Device& device, const LaunchTask& task, VkDescriptorBufferInfo* buffers,
                     VkWriteDescriptorSet* writes, const artifact::BindingMeta** refused) {
  const Vector<artifact::BindingMeta>& bindings = task.meta->bindings;
  if (bindings.size() > kMostDescriptors) return false;
  for (size_t index = 0; index < bindings.size(); ++index) {
    Place place = PlaceBehind(task, bindings[index]);
    if (place.buffer == 0 || place.bytes == 0 || place.bytes > device.limits.storage_range ||
        place.offset % AlignmentOf(device, bindings[index]) != 0) {
      *refused = &bindings[index];
      return false;
    }
    buffers[index] = {BufferOf(place), place.offset, place.bytes};
    writes[index] = {};
    writes[index].sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
    writes[index].dstBinding = bindings[index].number;
    writes[index].descriptorCount = 1;
    writes[index].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    writes[index].pBufferInfo = &buffers[index];
  }
  return true;
}

/// Code without device addresses, and a buffer that only these reach.
bool RefuseNear(const Device& device, const LaunchTask& task, const artifact::BindingMeta* refused,
                adrt_error* error) {
  if (!refused) {
    return Refuse(error, ADRT_ERROR_DEVICE_FEATURE, "'", task.meta->symbol.view(), "' has more than ",
                  kMostDescriptors, " descriptors, and no code with device addresses");
  }
  std::string_view name = refused->of == artifact::BindingOf::kWords    ? "words"
                          : refused->of == artifact::BindingOf::kHeap   ? "heap"
                          : refused->of == artifact::BindingOf::kStatus ? "status block"
                                                                        : "";
  if (name.empty()) name = task.kernel->params[refused->param].name.view();
  Place place = PlaceBehind(task, *refused);
  bool large = place.bytes > device.limits.storage_range;
  return Refuse(error, ADRT_ERROR_DEVICE_FEATURE, "'", task.meta->symbol.view(),
                "' has no code with device addresses, and no descriptor reaches '", name, "': it ",
                large ? "has " : "begins at byte ", large ? place.bytes : place.offset,
                ", descriptors of the device ", large ? "reach " : "begin at multiples of ",
                large ? device.limits.storage_range : AlignmentOf(device, *refused));
}

/// Whether a launch fits code that counts in 32 bits, which sees the words by halves; true of other code.
bool FitsHalves(const LaunchTask& task, adrt_error* error) {
  bool by_halves = false;
  for (const artifact::BindingMeta& binding : task.meta->bindings) {
    by_halves = by_halves ||
                (binding.of == artifact::BindingOf::kWords && binding.type == artifact::ScalarType::kU32);
  }
  if (!by_halves) return true;
  auto refuse = [&](const char* what, std::string_view of, uint64_t count) {
    return Refuse(error, ADRT_ERROR_DEVICE_FEATURE, "'", task.meta->symbol.view(),
                  "' counts in 32 bits, and this launch has ", count, what, of,
                  ": compile for 'vulkan:1.2', which counts in 64");
  };
  // Iterations and threads, whose sum must not wrap.
  for (size_t number = task.words.size() - 2; number < task.words.size(); ++number) {
    if (task.words[number] >= uint64_t{1} << 31) return refuse(" iterations", "", task.words[number]);
  }
  for (const artifact::ParamMeta& param : task.kernel->params) {
    if (param.kind != artifact::ParamKind::kBuffer && param.kind != artifact::ParamKind::kScratch) continue;
    for (uint32_t axis = 0; axis < param.rank; ++axis) {
      uint64_t extent = task.words[param.cell + 1 + axis];
      if (extent > UINT32_MAX) return refuse(" elements along an axis of ", param.name.view(), extent);
    }
  }
  return true;
}

void OrderWords(const Device& device, VkCommandBuffer commands) {
  VkMemoryBarrier barrier = {};
  barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
  barrier.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
  // A descriptor of the heap reaches them too, and code writes through that.
  barrier.dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT;
  device.api.CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                                VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &barrier, 0, nullptr, 0, nullptr);
}

}  // namespace

bool Clear(adrt_device& device, void* queue, const Place& place, adrt_error*) {
  Of(device).api.CmdFillBuffer(static_cast<VkCommandBuffer>(queue), BufferOf(place), place.offset,
                               place.bytes, 0);
  return true;
}

bool CanLaunch(const adrt_device& base, const LaunchTask& task, adrt_error* error) {
  const Device& device = Of(base);
  const Entry& entry = *static_cast<const Entry*>(task.entry);
  if (entry.has_far && !device.lazy) return true;
  Dispatched made;
  return Prepare(device, task, &made, error);
}

void WriteWords(const Device& device, VkCommandBuffer commands, const LaunchTask& task) {
  constexpr size_t kMostAtOnce = 65536 / sizeof(uint64_t);  // of one update
  for (size_t begin = 0; begin < task.words.size(); begin += kMostAtOnce) {
    std::span<const uint64_t> rest = task.words.subspan(begin);
    if (rest.size() > kMostAtOnce) rest = rest.first(kMostAtOnce);
    device.api.CmdUpdateBuffer(commands, BufferOf(task.words_place),
                               task.words_place.offset + begin * sizeof(uint64_t), rest.size_bytes(),
                               rest.data());
  }
}

bool Prepare(const Device& device, const LaunchTask& task, Dispatched* made, adrt_error* error) {
  Entry& entry = *static_cast<Entry*>(task.entry);
  const artifact::BindingMeta* refused = nullptr;
  if (!FitsHalves(task, error)) return false;
  bool near = entry.has_near && FillDescriptors(device, task, made->buffers, made->writes, &refused);
  if (!near && !entry.has_far) return RefuseNear(device, task, refused, error);
  made->count = near ? static_cast<uint32_t>(task.meta->bindings.size()) : 0;
  made->layout = made->count > 0 ? entry.near_layout : entry.far_layout;
  made->pipeline = PipelineOf(device, entry, near, error);
  made->set = VK_NULL_HANDLE;
  return made->pipeline != VK_NULL_HANDLE;
}

bool MakeSet(Device& device, VkCommandBuffer commands, const LaunchTask& task, Dispatched* made,
             adrt_error* error) {
  const Entry& entry = *static_cast<const Entry*>(task.entry);
  if (made->count == 0 || entry.pushes) return true;
  made->set = SetOf(device, entry, commands, task.held, made->writes, made->count, error);
  return made->set != VK_NULL_HANDLE;
}

void Dispatch(const Device& device, VkCommandBuffer commands, const LaunchTask& task, const Dispatched& made,
              const Place* blocks) {
  MarkBegin(device, commands, task);
  device.api.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, made.pipeline);
  device.api.CmdPushConstants(commands, made.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(uint64_t),
                              &task.words_place.address);
  if (made.set) {
    device.api.CmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, made.layout, 0, 1, &made.set,
                                     0, nullptr);
  } else if (made.count > 0) {
    device.api.CmdPushDescriptorSetKHR(commands, VK_PIPELINE_BIND_POINT_COMPUTE, made.layout, 0, made.count,
                                       made.writes);
  }
  if (blocks) {
    device.api.CmdDispatchIndirect(commands, BufferOf(*blocks), blocks->offset);
  } else {
    device.api.CmdDispatch(commands, static_cast<uint32_t>(task.blocks), 1, 1);
  }
  MarkEnd(device, commands, task);
}

bool Launch(adrt_device& base, void* queue, const LaunchTask& task, adrt_error* error) {
  Device& device = Of(base);
  VkCommandBuffer commands = static_cast<VkCommandBuffer>(queue);
  Dispatched made;
  if (!Prepare(device, task, &made, error) || !MakeSet(device, commands, task, &made, error)) return false;
  WriteWords(device, commands, task);
  OrderWords(device, commands);
  Dispatch(device, commands, task, made, nullptr);
  return true;
}

}  // namespace adrt::vulkan

adrt_status adrt_record_vk(adrt_launch_plan* plan, void* command_buffer, const adrt_vk_launch* launch,
                           adrt_error* error) {
  adrt::Alive(__func__, plan);
  using namespace adrt;
  if (!plan || !command_buffer || !launch)
    return Fail(error, ADRT_ERROR_ARGUMENT, "record_vk: null argument");
  adrt_vk_launch wanted = {};
  if (!CopyDescriptor(launch, &wanted)) {
    return Fail(error, ADRT_ERROR_ARGUMENT, "record_vk: ", kNotSet);
  }
  if (!plan->module || plan->module->device->kind != &vulkan::kVulkan) {
    return Fail(error, ADRT_ERROR_ARGUMENT,
                "record_vk: the plan was made without a module of a Vulkan device");
  }
  Place heap, status;
  const vulkan::Device& device = vulkan::Of(*plan->module->device);
  const adrt_vk_buffer* const given[] = {wanted.heap, wanted.status};
  Place* const places[] = {&heap, &status};
  for (int index = 0; index < 2; ++index) {
    char text[160] = {};
    artifact::TextWriter reason(text, sizeof text);
    if (!given[index] || vulkan::Bind(device, given[index], places[index], reason)) continue;
    return Fail(error, ADRT_ERROR_ARGUMENT, "record_vk: the ", index == 0 ? "heap " : "status block ", text);
  }
  adrt_error own = {};
  own.struct_size = sizeof own;
  adrt_error* details = error && error->struct_size >= sizeof(adrt_error) ? error : &own;
  VkCommandBuffer commands = static_cast<VkCommandBuffer>(command_buffer);
  // A launch that is refused leaves nothing in the caller's command buffer.
  if (!CheckLaunch(*plan, heap, status, details)) return details->status;
  vulkan::OrderBefore(device, commands);
  if (!RecordLaunch(*plan, commands, heap, status, details)) return details->status;
  vulkan::OrderAfter(device, commands);
  return ADRT_OK;
}

adrt_status adrt_record_size_vk(adrt_launch_plan* plan, void* command_buffer, const adrt_vk_buffer* memory,
                                adrt_error* error) {
  adrt::Alive(__func__, plan);
  using namespace adrt;
  if (!plan || !command_buffer || !memory)
    return Fail(error, ADRT_ERROR_ARGUMENT, "record_size_vk: null argument");
  if (!plan->module || plan->module->device->kind != &vulkan::kVulkan) {
    return Fail(error, ADRT_ERROR_ARGUMENT,
                "record_size_vk: the plan was made without a module of a Vulkan device");
  }
  const vulkan::Device& device = vulkan::Of(*plan->module->device);
  char text[160] = {};
  artifact::TextWriter reason(text, sizeof text);
  Place place;
  if (!vulkan::Bind(device, memory, &place, reason))
    return Fail(error, ADRT_ERROR_ARGUMENT, "record_size_vk: the memory ", text);
  adrt_error own = {};
  adrt_error* details = DetailsOf(error, &own);
  VkCommandBuffer commands = static_cast<VkCommandBuffer>(command_buffer);
  vulkan::OrderBefore(device, commands);
  if (!RecordCounting(*plan, commands, place, details)) return details->status;
  vulkan::OrderAfter(device, commands);
  return ADRT_OK;
}
