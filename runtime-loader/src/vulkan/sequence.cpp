#include "sequence/sequence.h"

#include "artifact/cpu_abi.h"
#include "vulkan/module.h"

// A sequence as commands: level after level, with one barrier between. Tasks of one level, and the clears and
// writes of the level for later tasks, wait for none of each other.
//
// Rounds are recorded one after the other. Their tasks take the numbers of blocks from memory, and after each
// round one thread (guard.comp) looks at what is watched, and makes them 0 where that ends the repetition.
// That memory: rows of 16 bytes. The first is what guard.comp counts in; then an address for each word that
// is watched; then blocks, 1, 1 for each task.

namespace adrt::vulkan {
namespace {

constexpr uint64_t kRow = 16;

/// adrt_sequence::own.
struct Guard {
  VkPipelineLayout layout = VK_NULL_HANDLE;
  VkPipeline pipeline = VK_NULL_HANDLE;
};

VkDescriptorSet SetOf(const SequenceCommand& command) {
  return static_cast<VkDescriptorSet>(command.own);
}

/// Prepares every task; one of them may be refused.
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

/// A round: `blocks` is where those of the first task lie, null where they do not lie in memory.
struct Round {
  const Place* blocks = nullptr;
  bool is_first = true;
};

/// Reports of earlier rounds stay.
bool IsStatus(const adrt_sequence& sequence, const SequenceCommand& command) {
  const Place& status = sequence.launches[command.launch].status;
  return command.place.buffer == status.buffer && command.place.offset == status.offset;
}

bool RecordLevel(Device& device, VkCommandBuffer commands, const adrt_sequence& sequence, const Round& round,
                 uint32_t level, adrt_error* error) {
  uint64_t number = 0;
  for (const SequenceCommand& command : sequence.commands) {
    if (command.clears) {
      bool stays = !round.is_first && IsStatus(sequence, command);
      if (command.level == level && !stays) Clear(device, commands, command.place, error);
      continue;
    }
    Place blocks = round.blocks ? round.blocks->Part(kRow * number, kRow) : Place();
    ++number;
    LaunchTask task = sequence.TaskOf(command);
    if (sequence.launches[command.launch].setup_level == level) WriteWords(device, commands, task);
    if (command.level != level) continue;
    Dispatched made;
    if (!Prepare(device, task, &made, error)) return false;
    made.set = SetOf(command);
    Dispatch(device, commands, task, made, round.blocks ? &blocks : nullptr);
  }
  return true;
}

bool RecordRound(Device& device, VkCommandBuffer commands, const adrt_sequence& sequence, const Round& round,
                 adrt_error* error) {
  for (uint32_t level = 0; level < sequence.level_count; ++level) {
    if (level > 0 && !Barrier(device, commands, error)) return false;
    if (!RecordLevel(device, commands, sequence, round, level, error)) return false;
  }
  return true;
}

// -------------------------------------------------------------------------------------------------- rounds

constexpr uint32_t kGuardCode[] = {
#include "vulkan/guard.inc"
};

bool MakeGuard(const Device& device, Guard& guard, adrt_error* error) {
  VkShaderModuleCreateInfo code = {};
  code.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
  code.codeSize = sizeof kGuardCode;
  code.pCode = kGuardCode;
  VkShaderModule shader = VK_NULL_HANDLE;
  VkResult result = device.api.CreateShaderModule(device.handle, &code, device.callbacks, &shader);
  if (result != VK_SUCCESS) return DriverFailed(error, "vkCreateShaderModule", result);
  constexpr VkPushConstantRange kAddress = {VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(uint64_t)};
  VkPipelineLayoutCreateInfo layout = {};
  layout.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
  layout.pushConstantRangeCount = 1;
  layout.pPushConstantRanges = &kAddress;
  const char* call = "vkCreatePipelineLayout";
  result = device.api.CreatePipelineLayout(device.handle, &layout, device.callbacks, &guard.layout);
  if (result == VK_SUCCESS) {
    call = "vkCreateComputePipelines";
    VkComputePipelineCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
    info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = shader;
    info.stage.pName = "main";
    info.layout = guard.layout;
    result = device.api.CreateComputePipelines(device.handle, device.pipeline_cache, 1, &info,
                                               device.callbacks, &guard.pipeline);
    if (result != VK_SUCCESS) guard.pipeline = VK_NULL_HANDLE;
  } else {
    guard.layout = VK_NULL_HANDLE;
  }
  device.api.DestroyShaderModule(device.handle, shader, device.callbacks);
  if (result != VK_SUCCESS) return DriverFailed(error, call, result);
  Name(device, VK_OBJECT_TYPE_PIPELINE, guard.pipeline, "adrt end of rounds");
  return true;
}

/// The sequence's guard, made at its first recording with rounds.
Guard* GuardOf(Device& device, adrt_sequence& sequence, adrt_error* error) {
  if (sequence.own) return static_cast<Guard*>(sequence.own);
  Guard* made = New<Guard>(device.host.allocator);
  if (!made) {
    OutOfMemory(error);
    return nullptr;
  }
  if (!MakeGuard(device, *made, error)) {
    ForgetSequence(device, made);
    return nullptr;
  }
  sequence.own = made;
  return made;
}

bool CheckRounds(const Device& device, const adrt_sequence& sequence, adrt_error* error) {
  if (!device.has_addresses) {
    return Refuse(error, ADRT_ERROR_DEVICE_FEATURE,
                  "sequence_record: rounds need a device that was made with bufferDeviceAddress");
  }
  uint64_t needed = RoundsBytes(sequence), given = sequence.rounds.memory.bytes;
  if (sequence.rounds.memory.given() && given >= needed && needed <= 65536) return true;
  Fail(error, needed > 65536 ? ADRT_ERROR_OVER_LIMIT : ADRT_ERROR_HEAP_TOO_SMALL,
       "sequence_record: rounds take ", needed, " bytes of memory (at most 65536), given ", given);
  error->needed_bytes = needed;
  return false;
}

/// Writes the first contents of memory; `blocks` is the place of those of the first task.
bool WriteRows(const Device& device, VkCommandBuffer commands, const adrt_sequence& sequence, Place* blocks,
               adrt_error* error) {
  Vector<uint32_t> rows(&device.host.allocator);
  uint32_t watched = 0, tasks = 0;
  auto add = [&rows](uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    return rows.TryPush(a) && rows.TryPush(b) && rows.TryPush(c) && rows.TryPush(d);
  };
  auto watch = [&](uint64_t address) {
    ++watched;
    return add(static_cast<uint32_t>(address), static_cast<uint32_t>(address >> 32), 0, 0);
  };
  bool fits = add(0, 0, 0, 0);
  if (sequence.rounds.until.given()) fits = fits && watch(sequence.rounds.until.address);
  for (const SequenceLaunch& launch : sequence.launches)
    fits = fits && watch(launch.status.address + ADRT_CPU_STATUS_CODE * sizeof(uint32_t));
  *blocks = sequence.rounds.memory.Part(rows.size() * sizeof(uint32_t), 0);
  for (const SequenceCommand& command : sequence.commands) {
    if (command.clears) continue;
    ++tasks;
    fits = fits && add(static_cast<uint32_t>(command.task.blocks), 1, 1, 0);
  }
  if (!fits) return OutOfMemory(error) == ADRT_OK;
  rows[2] = watched;
  rows[3] = tasks;
  device.api.CmdUpdateBuffer(commands, BufferOf(sequence.rounds.memory), sequence.rounds.memory.offset,
                             rows.size() * sizeof(uint32_t), rows.data());
  return true;
}

bool RecordRounds(Device& device, VkCommandBuffer commands, adrt_sequence& sequence, adrt_error* error) {
  Place blocks;
  Round round = {&blocks, true};
  const Guard& guard = *static_cast<const Guard*>(sequence.own);
  uint64_t memory = sequence.rounds.memory.address;
  if (!WriteRows(device, commands, sequence, &blocks, error)) return false;
  for (uint32_t turn = 0; turn < sequence.rounds.most; ++turn) {
    OrderRounds(device, commands);
    round.is_first = turn == 0;
    if (!RecordRound(device, commands, sequence, round, error)) return false;
    OrderRounds(device, commands);
    device.api.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, guard.pipeline);
    device.api.CmdPushConstants(commands, guard.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof memory,
                                &memory);
    device.api.CmdDispatch(commands, 1, 1, 1);
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
  bool repeats = sequence.rounds.most > 0;
  if (repeats && (!CheckRounds(device, sequence, error) || !GuardOf(device, sequence, error))) return false;
  if (!PrepareAll(device, commands, sequence, error)) return false;
  OrderBefore(device, commands);
  if (repeats ? !RecordRounds(device, commands, sequence, error)
              : !RecordRound(device, commands, sequence, {}, error)) {
    return false;
  }
  OrderAfter(device, commands);
  return true;
}

void ForgetSequence(adrt_device& base, void* own) {
  const Device& device = Of(base);
  Guard* guard = static_cast<Guard*>(own);
  if (guard->pipeline) device.api.DestroyPipeline(device.handle, guard->pipeline, device.callbacks);
  if (guard->layout) device.api.DestroyPipelineLayout(device.handle, guard->layout, device.callbacks);
  Delete(device.host.allocator, guard);
}

}  // namespace adrt::vulkan
