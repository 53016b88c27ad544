#pragma once
// A sequence of launches as a device gets it: a list of commands, and which of them wait for which.

#include <adrt/adrt_cpu.h>
#include <adrt/adrt_sequence.h>

#include "core/launch.h"

namespace adrt {

/// A launch of the sequence, and where what its last recording noted lies.
struct SequenceLaunch {
  adrt_launch_plan* plan = nullptr;  ///< retained
  Place heap, status;
  uint32_t command_begin = 0, command_end = 0;
  uint32_t last_task = UINT32_MAX;  ///< its command; UINT32_MAX: none so far
  uint64_t bindings = UINT64_MAX;   ///< of the plan, when it was recorded last
  uint32_t setup_level = 0;         ///< of what comes before its tasks
  /// In `ranges`: its heap and status block, then its arguments.
  uint32_t range_begin = 0, own_end = 0, range_end = 0;
};

/// A stretch of memory that a launch reads or writes.
struct SequenceRange {
  Place place;
  bool is_written;
};

/// How often it runs: as adrt_sequence_repeat was told. Rounds of 0: once, without rounds.
struct SequenceRounds {
  uint32_t most = 0;
  Place until, memory;
};

/// Zero-filling, or a task.
struct SequenceCommand {
  bool clears = false;
  uint32_t launch = 0;
  uint32_t level = 0;  ///< commands of one level wait for none of each other, only for earlier levels
  uint32_t wait_begin = 0, wait_end = 0;
  Place place;       ///< the memory that it clears
  LaunchTask task;   ///< without words and parameters: these move as the lists grow
  size_t words = 0;  ///< where they begin in `words`
  size_t word_count = 0;
  size_t params = 0;    ///< where they begin in `params`
  void* own = nullptr;  ///< the device's
};

}  // namespace adrt

struct adrt_sequence : adrt::LaunchNotes {
  explicit adrt_sequence(const adrt::Host& from)
      : host(from),
        launches(&host.allocator),
        ranges(&host.allocator),
        commands(&host.allocator),
        waits(&host.allocator),
        words(&host.allocator),
        params(&host.allocator) {}

  /// The task of a command, complete.
  adrt::LaunchTask TaskOf(const adrt::SequenceCommand& command) const {
    adrt::LaunchTask task = command.task;
    task.words = {words.data() + command.words, command.word_count};
    task.params = {params.data() + command.params, task.kernel->params.size()};
    return task;
  }

  adrt::Count count;
  adrt::Host host;
  adrt_device* device = nullptr;  ///< retained
  adrt::Vector<adrt::SequenceLaunch> launches;
  // Of the last recording.
  adrt::Vector<adrt::SequenceRange> ranges;
  adrt::Vector<adrt::SequenceCommand> commands;
  adrt::Vector<uint32_t> waits;  ///< commands that must be done before, per command
  adrt::Vector<uint64_t> words;
  adrt::Vector<adrt::BoundParam> params;
  uint32_t level_count = 0;
  adrt::SequenceRounds rounds;
  uint32_t noted = 0;  ///< the launch that is being noted

  void* own = nullptr;  ///< the device's: a graph, a pipeline
  uint32_t graph_count = 0;
  adrt_cpu_record* record = nullptr;  ///< of adrt_sequence_run on a CPU
};

namespace adrt {

/// Bytes of memory that rounds take on a device.
inline uint64_t RoundsBytes(const adrt_sequence& sequence) {
  uint64_t rows = 2 + sequence.launches.size();
  for (const SequenceLaunch& launch : sequence.launches) rows += launch.plan->tasks.size();
  return rows * 16;
}

/// Appends all launches to the record; it is unchanged where one is refused.
bool RecordSequence(adrt_cpu_record& record, adrt_sequence& sequence, adrt_error* error);

}  // namespace adrt
