#include "sequence/sequence.h"

#include <cstring>

#include "core/errors.h"
#include "core/heap.h"

// Sequences on every kind of device. core/record.cpp says what each launch clears and runs, in order, as for
// any queue; here it is noted, with what each command waits for, and the device gets the whole list.

using adrt::Fail;

namespace adrt {
namespace {

adrt_sequence& Of(LaunchNotes& notes) {
  return static_cast<adrt_sequence&>(notes);
}

bool Conflict(const adrt_sequence& sequence, uint32_t a_begin, uint32_t a_end, uint32_t b_begin,
              uint32_t b_end) {
  for (uint32_t a = a_begin; a < a_end; ++a) {
    for (uint32_t b = b_begin; b < b_end; ++b) {
      const SequenceRange &one = sequence.ranges[a], &other = sequence.ranges[b];
      if ((one.is_written || other.is_written) &&
          Overlap(one.place, one.place.bytes, other.place, other.place.bytes)) {
        return true;
      }
    }
  }
  return false;
}

bool AddRange(adrt_sequence& sequence, const Place& place, uint64_t bytes, bool is_written) {
  return !place.given() || bytes == 0 || sequence.ranges.TryPush({place.Part(0, bytes), is_written});
}

bool AddRanges(adrt_sequence& sequence, SequenceLaunch& launch) {
  const adrt_launch_plan& plan = *launch.plan;
  launch.range_begin = static_cast<uint32_t>(sequence.ranges.size());
  if (!AddRange(sequence, launch.heap, HeapBytes(plan), true) ||
      !AddRange(sequence, launch.status, ADRT_STATUS_BYTES, true)) {
    return false;
  }
  launch.own_end = static_cast<uint32_t>(sequence.ranges.size());
  for (uint32_t index = 0; index < plan.params.size(); ++index) {
    const artifact::ParamMeta& param = plan.meta().params[index];
    if (param.kind != artifact::ParamKind::kBuffer && param.kind != artifact::ParamKind::kLayout) continue;
    const BoundParam& bound = plan.params[index];
    if (!AddRange(sequence, bound.place, bound.bytes, param.access != artifact::Access::kRead)) return false;
  }
  launch.range_end = static_cast<uint32_t>(sequence.ranges.size());
  return true;
}

/// The command waits for `other`.
bool WaitFor(adrt_sequence& sequence, SequenceCommand& command, uint32_t other) {
  uint32_t level = sequence.commands[other].level + 1;
  if (level > command.level) command.level = level;
  return sequence.waits.TryPush(other);
}

/// It waits for all of a launch. The last task comes after everything else of it.
bool WaitForLaunch(adrt_sequence& sequence, SequenceCommand& command, const SequenceLaunch& launch) {
  uint32_t first = launch.last_task == UINT32_MAX ? launch.command_begin : launch.last_task;
  for (uint32_t other = first; other < launch.command_end; ++other) {
    if (!WaitFor(sequence, command, other)) return false;
  }
  return true;
}

/// It waits for the earlier launches that touch what its launch touches; where it comes before the tasks of
/// its launch, those that touch its heap and status block.
bool WaitForOthers(adrt_sequence& sequence, SequenceCommand& command, bool is_setup) {
  const SequenceLaunch& own = sequence.launches[sequence.noted];
  uint32_t end = is_setup ? own.own_end : own.range_end;
  for (uint32_t index = 0; index < sequence.noted; ++index) {
    const SequenceLaunch& other = sequence.launches[index];
    if (!Conflict(sequence, own.range_begin, end, other.range_begin, other.range_end)) continue;
    if (!WaitForLaunch(sequence, command, other)) return false;
  }
  return true;
}

bool Finish(adrt_sequence& sequence, SequenceCommand& command) {
  SequenceLaunch& launch = sequence.launches[sequence.noted];
  command.launch = sequence.noted;
  command.wait_end = static_cast<uint32_t>(sequence.waits.size());
  if (command.level + 1 > sequence.level_count) sequence.level_count = command.level + 1;
  if (!sequence.commands.TryPush(command)) return false;
  launch.command_end = static_cast<uint32_t>(sequence.commands.size());
  return true;
}

bool NoteClear(LaunchNotes& notes, const Place& place, adrt_error* error) {
  adrt_sequence& sequence = Of(notes);
  const SequenceLaunch& launch = sequence.launches[sequence.noted];
  SequenceCommand command;
  command.clears = true;
  command.place = place;
  command.wait_begin = static_cast<uint32_t>(sequence.waits.size());
  // Counters lie in memory that the task before uses.
  bool is_setup = launch.last_task == UINT32_MAX;
  bool noted =
      is_setup ? WaitForOthers(sequence, command, true) : WaitFor(sequence, command, launch.last_task);
  if (!noted || !Finish(sequence, command)) return OutOfMemory(error) == ADRT_OK;
  return true;
}

/// Whether the task's words and the parameters of its launch could be copied.
bool CopyTask(adrt_sequence& sequence, const LaunchTask& task, SequenceCommand& command) {
  const SequenceLaunch& launch = sequence.launches[sequence.noted];
  command.task = task;
  command.words = sequence.words.size();
  command.word_count = task.words.size();
  if (!sequence.words.TryResize(command.words + command.word_count)) return false;
  if (!task.words.empty())
    std::memcpy(sequence.words.data() + command.words, task.words.data(), task.words.size_bytes());
  if (launch.last_task != UINT32_MAX) {
    command.params = sequence.commands[launch.last_task].params;
    return true;
  }
  command.params = sequence.params.size();
  for (const BoundParam& param : task.params) {
    if (!sequence.params.TryPush(param)) return false;
  }
  return true;
}

bool NoteTask(adrt_sequence& sequence, const LaunchTask& task) {
  SequenceLaunch& launch = sequence.launches[sequence.noted];
  SequenceCommand command;
  if (!CopyTask(sequence, task, command)) return false;
  command.wait_begin = static_cast<uint32_t>(sequence.waits.size());
  bool is_first = launch.last_task == UINT32_MAX;
  if (is_first && !WaitForOthers(sequence, command, false)) return false;
  for (uint32_t other = is_first ? launch.command_begin : launch.last_task; other < launch.command_end;
       ++other) {
    if (!WaitFor(sequence, command, other)) return false;
  }
  // Words that lie in the heap are written before it, at the level of what is cleared.
  if (command.level <= launch.setup_level && launch.plan->rules.words_in_heap)
    command.level = launch.setup_level + 1;
  if (!Finish(sequence, command)) return false;
  launch.last_task = launch.command_end - 1;
  return true;
}

bool NoteLaunch(LaunchNotes& notes, const LaunchTask& task, adrt_error* error) {
  return NoteTask(Of(notes), task) || OutOfMemory(error) == ADRT_OK;
}

/// Finds the earliest level for the work before the launch's tasks.
bool FindSetupLevel(adrt_sequence& sequence, SequenceLaunch& launch) {
  SequenceCommand none;
  size_t waits = sequence.waits.size();
  if (!WaitForOthers(sequence, none, true)) return false;
  while (sequence.waits.size() > waits) sequence.waits.pop_back();
  launch.setup_level = none.level;
  return true;
}

bool NoteAll(adrt_sequence& sequence, adrt_error* error) {
  for (uint32_t index = 0; index < sequence.launches.size(); ++index) {
    SequenceLaunch& launch = sequence.launches[index];
    sequence.noted = index;
    launch.command_begin = launch.command_end = static_cast<uint32_t>(sequence.commands.size());
    launch.last_task = UINT32_MAX;
    if (launch.plan->bounds) {
      return Refuse(error, ADRT_ERROR_UNSUPPORTED, launch.plan->meta(),
                    ": a launch with a bounds record cannot be part of a sequence: record it by itself");
    }
    if (!AddRanges(sequence, launch) || !FindSetupLevel(sequence, launch))
      return OutOfMemory(error) == ADRT_OK;
    launch.plan->notes = &sequence;
    bool noted = RecordLaunch(*launch.plan, nullptr, launch.heap, launch.status, error);
    launch.plan->notes = nullptr;
    if (!noted) return false;
  }
  return true;
}

bool Note(adrt_sequence& sequence, adrt_error* error) {
  sequence.ranges.clear();
  sequence.commands.clear();
  sequence.waits.clear();
  sequence.words.clear();
  sequence.params.clear();
  sequence.level_count = 0;
  return NoteAll(sequence, error);
}

void ReleaseLaunches(adrt_sequence& sequence) {
  for (const SequenceLaunch& launch : sequence.launches) adrt_plan_release(launch.plan);
  sequence.launches.clear();
}

bool RecordOn(adrt_device& device, adrt_sequence& sequence, void* queue, adrt_error* error) {
  if (!device.kind->host_memory)
    return Note(sequence, error) && device.kind->sequence(device, queue, sequence, error);
  if (sequence.rounds.most > 0) {
    return Refuse(
        error, ADRT_ERROR_UNSUPPORTED,
        "sequence_record: on a CPU rounds are run by adrt_sequence_run, or by adrt_cpu_record_run of "
        "a sequence without rounds");
  }
  if (queue) return RecordSequence(*static_cast<adrt_cpu_record*>(queue), sequence, error);
  return Refuse(error, ADRT_ERROR_ARGUMENT, "sequence_record: on a CPU the queue is an adrt_cpu_record");
}

/// Notes that the present bindings of the plans were recorded.
void NoteBindings(adrt_sequence& sequence) {
  for (SequenceLaunch& launch : sequence.launches) launch.bindings = launch.plan->bindings;
}

bool Record(adrt_sequence& sequence, void* queue, adrt_error* error) {
  if (!RecordOn(*sequence.device, sequence, queue, error)) return false;
  NoteBindings(sequence);
  return true;
}

bool RunRounds(adrt_sequence& sequence, adrt_cpu_rounds& rounds, adrt_error* error) {
  NoteBindings(sequence);
  if (adrt_cpu_record_run(sequence.record, &rounds, error) != ADRT_OK) return false;
  if (sequence.rounds.memory.given())
    std::memcpy(sequence.rounds.memory.host(), &rounds.done, sizeof rounds.done);
  return true;
}

bool RunOnCpu(adrt_sequence& sequence, adrt_error* error) {
  adrt_cpu_rounds rounds = {};
  rounds.struct_size = sizeof rounds;
  rounds.most = sequence.rounds.most;
  rounds.until = reinterpret_cast<const uint32_t*>(sequence.rounds.until.host());
  if (!sequence.record && adrt_cpu_record_create(sequence.device, &sequence.record, error) != ADRT_OK)
    return false;
  return adrt_cpu_record_reset(sequence.record, error) == ADRT_OK &&
         RecordSequence(*sequence.record, sequence, error) && RunRounds(sequence, rounds, error);
}

bool Run(adrt_sequence& sequence, adrt_error* error) {
  if (sequence.device->kind->host_memory) return RunOnCpu(sequence, error);
  OwnQueue queue(*sequence.device);
  return queue.Begin(error) && Record(sequence, queue.handle(), error) && queue.Finish(error);
}

/// The place that adrt_arg.data names; null stays a place that is not given.
bool BindPlace(const adrt_device& device, const char* what, const void* data, uint64_t bytes, Place* place,
               adrt_error* error) {
  char text[160] = {};
  artifact::TextWriter reason(text, sizeof text);
  if (!data) return true;
  if (!device.kind->bind(device, data, place, reason))
    return Refuse(error, ADRT_ERROR_ARGUMENT, "sequence: the ", what, text);
  if (place->bytes > bytes) place->bytes = bytes;
  return true;
}

constexpr uint32_t kMostRounds = 65535;

bool Repeat(adrt_sequence& sequence, const adrt_sequence_rounds& wanted, adrt_error* error) {
  const adrt_device& device = *sequence.device;
  SequenceRounds rounds;
  rounds.most = wanted.most;
  if (wanted.most == 0 || wanted.most > kMostRounds) {
    return Refuse(error, ADRT_ERROR_ARGUMENT, "sequence_repeat: 1 to ", kMostRounds, " rounds, given ",
                  wanted.most);
  }
  if (!BindPlace(device, "word 'until' ", wanted.until, sizeof(uint32_t), &rounds.until, error) ||
      !BindPlace(device, "memory of rounds ", wanted.memory, wanted.memory_size, &rounds.memory, error)) {
    return false;
  }
  if (rounds.until.given() && (rounds.until.bytes < 4 || rounds.until.position() % 4 != 0)) {
    return Refuse(error, ADRT_ERROR_ARGUMENT, "sequence_repeat: 'until' is 4 bytes, aligned to 4");
  }
  if (rounds.memory.given() && rounds.memory.position() % 16 != 0)
    return Refuse(error, ADRT_ERROR_ARGUMENT, "sequence_repeat: the memory is not aligned to 16 bytes");
  sequence.rounds = rounds;
  return true;
}

}  // namespace

}  // namespace adrt

adrt_status adrt_sequence_repeat(adrt_sequence* sequence, const adrt_sequence_rounds* rounds,
                                 adrt_error* error) {
  adrt::Alive(__func__, sequence);
  if (!sequence) return Fail(error, ADRT_ERROR_ARGUMENT, "sequence_repeat: null argument");
  if (!rounds) {
    sequence->rounds = {};
    return ADRT_OK;
  }
  adrt_sequence_rounds wanted = {};
  if (!adrt::CopyDescriptor(rounds, &wanted))
    return Fail(error, ADRT_ERROR_ARGUMENT, "sequence_repeat: ", adrt::kNotSet);
  adrt_error own = {};
  adrt_error* details = adrt::DetailsOf(error, &own);
  return adrt::Repeat(*sequence, wanted, details) ? ADRT_OK : details->status;
}

adrt_status adrt_sequence_create(adrt_device* device, adrt_sequence** sequence, adrt_error* error) {
  adrt::Alive(__func__, device);
  if (!device || !sequence) return Fail(error, ADRT_ERROR_ARGUMENT, "sequence_create: null argument");
  if (!device->kind->host_memory && !device->kind->sequence) {
    return Fail(error, ADRT_ERROR_UNSUPPORTED, "sequence_create: there are no sequences on devices of kind '",
                std::string_view(device->kind->name), "': record launch after launch");
  }
  adrt_sequence* made = adrt::New<adrt_sequence>(device->host.allocator, device->host);
  if (!made) return adrt::OutOfMemory(error);
  adrt_device_retain(device);
  made->device = device;
  made->clear = adrt::NoteClear;
  made->launch = adrt::NoteLaunch;
  *sequence = made;
  return ADRT_OK;
}

void adrt_sequence_retain(adrt_sequence* sequence) {
  adrt::Alive(__func__, sequence);
  if (sequence) sequence->count.Retain();
}

void adrt_sequence_release(adrt_sequence* sequence) {
  adrt::Alive(__func__, sequence);
  if (!sequence || !sequence->count.Release()) return;
  adrt_device* device = sequence->device;
  if (sequence->own) device->kind->forget_sequence(*device, sequence->own);
  if (sequence->record) adrt_cpu_record_release(sequence->record);
  adrt::ReleaseLaunches(*sequence);
  adrt::Delete(sequence->host.allocator, sequence);
  adrt_device_release(device);
}

adrt_status adrt_sequence_reset(adrt_sequence* sequence, adrt_error* error) {
  adrt::Alive(__func__, sequence);
  if (!sequence) return Fail(error, ADRT_ERROR_ARGUMENT, "sequence_reset: null argument");
  adrt::ReleaseLaunches(*sequence);
  return ADRT_OK;
}

adrt_status adrt_sequence_add(adrt_sequence* sequence, adrt_launch_plan* plan, void* heap, uint64_t heap_size,
                              void* status, adrt_error* error) {
  adrt::Alive(__func__, sequence);
  adrt::Alive(__func__, plan);
  if (!sequence || !plan || !status) return Fail(error, ADRT_ERROR_ARGUMENT, "sequence_add: null argument");
  if (!plan->module || plan->module->device != sequence->device) {
    return Fail(error, ADRT_ERROR_ARGUMENT,
                "sequence_add: the plan was made without a module of the sequence's device");
  }
  adrt_error own = {};
  adrt_error* details = adrt::DetailsOf(error, &own);
  adrt::SequenceLaunch launch;
  launch.plan = plan;
  const adrt_device& device = *sequence->device;
  if (!adrt::BindPlace(device, "heap ", heap, heap_size, &launch.heap, details) ||
      !adrt::BindPlace(device, "status block ", status, ADRT_STATUS_BYTES, &launch.status, details)) {
    return details->status;
  }
  if (!sequence->launches.TryPush(launch)) return adrt::OutOfMemory(error);
  adrt_plan_retain(plan);
  return ADRT_OK;
}

adrt_status adrt_sequence_record(adrt_sequence* sequence, void* queue, adrt_error* error) {
  adrt::Alive(__func__, sequence);
  if (!sequence) return Fail(error, ADRT_ERROR_ARGUMENT, "sequence_record: null argument");
  adrt_error own = {};
  adrt_error* details = adrt::DetailsOf(error, &own);
  return adrt::Record(*sequence, queue, details) ? ADRT_OK : details->status;
}

adrt_status adrt_sequence_run(adrt_sequence* sequence, adrt_error* error) {
  adrt::Alive(__func__, sequence);
  if (!sequence) return Fail(error, ADRT_ERROR_ARGUMENT, "sequence_run: null argument");
  adrt_error own = {};
  adrt_error* details = adrt::DetailsOf(error, &own);
  return adrt::Run(*sequence, details) ? ADRT_OK : details->status;
}

adrt_status adrt_sequence_info(const adrt_sequence* sequence, adrt_sequence_report* report,
                               adrt_error* error) {
  adrt::Alive(__func__, sequence);
  if (!sequence || !report) return Fail(error, ADRT_ERROR_ARGUMENT, "sequence_info: null argument");
  adrt_sequence_report made = {};
  made.launch_count = static_cast<uint32_t>(sequence->launches.size());
  made.command_count = static_cast<uint32_t>(sequence->commands.size());
  made.wait_count = static_cast<uint32_t>(sequence->waits.size());
  bool has_barriers = sequence->device->kind->barrier && sequence->level_count > 0;
  made.barrier_count = has_barriers ? sequence->level_count - 1 : 0;
  made.graph_count = sequence->graph_count;
  made.rounds_bytes = adrt::RoundsBytes(*sequence);
  for (const adrt::SequenceLaunch& launch : sequence->launches)
    made.changed |= launch.bindings != launch.plan->bindings;
  if (!adrt::CopyReport(made, report))
    return Fail(error, ADRT_ERROR_ARGUMENT, "sequence_info: struct_size is not set");
  return ADRT_OK;
}
