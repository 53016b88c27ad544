#include "sequence/sequence.h"

#include "vulkan/module.h"

// A sequence as commands: level after level, with one barrier between. What a level clears and writes for
// later tasks, and its own tasks, wait for none of each other.

namespace adrt::vulkan {
namespace {

VkDescriptorSet SetOf(const SequenceCommand& command) {
  return static_cast<VkDescriptorSet>(command.own);
}

/// What a task may be refused for.
bool PrepareAll(Device& device, VkCommandBuffer commands, adrt_sequence& sequence, adrt_error* error) {
  for (SequenceCommand& command : sequence.commands) {
    if (command.clears) continue;
    Dispatched made;
    LaunchTask task = sequence.TaskOf(command);
    if (!Prepare(device, task, &made, error) || !MakeSet(device, commands, task, &made, error)) return false;
    command.own = made.set;
  }
  return true;
}

bool RecordLevel(Device& device, VkCommandBuffer commands, const adrt_sequence& sequence, uint32_t level,
                 adrt_error* error) {
  for (const SequenceCommand& command : sequence.commands) {
    if (command.clears) {
      if (command.level == level) Clear(device, commands, command.place, error);
      continue;
    }
    LaunchTask task = sequence.TaskOf(command);
    if (sequence.launches[command.launch].setup_level == level) WriteWords(device, commands, task);
    if (command.level != level) continue;
    Dispatched made;
    if (!Prepare(device, task, &made, error)) return false;
    made.set = SetOf(command);
    Dispatch(device, commands, task, made);
  }
  return true;
}

}  // namespace

bool RecordSequence(adrt_device& base, void* queue, adrt_sequence& sequence, adrt_error* error) {
  Device& device = Of(base);
  VkCommandBuffer commands = static_cast<VkCommandBuffer>(queue);
  if (!queue)
    return Refuse(error, ADRT_ERROR_ARGUMENT, "sequence_record: on Vulkan the queue is a VkCommandBuffer");
  // A sequence that is refused leaves nothing in the caller's command buffer.
  if (!PrepareAll(device, commands, sequence, error)) return false;
  OrderBefore(device, commands);
  for (uint32_t level = 0; level < sequence.level_count; ++level) {
    if (level > 0 && !Barrier(device, commands, error)) return false;
    if (!RecordLevel(device, commands, sequence, level, error)) return false;
  }
  OrderAfter(device, commands);
  return true;
}

}  // namespace adrt::vulkan
