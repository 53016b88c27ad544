#include <adrt/adrt_cpu.h>

#include <atomic>
#include <cstring>

#include "artifact/cpu_abi.h"
#include "core/errors.h"
#include "core/launch.h"
#include "cpu/work.h"
#include "sequence/sequence.h"

// Launches for an engine's own jobs. A record is the CPU's queue: core/record.cpp says what a launch clears
// and runs, in order, and the record notes it as stages. A launch begins with a stage that clears; each other
// one waits for the one before, and the first for the launches that touch the same memory.

using adrt::Fail;

namespace adrt {
namespace {

/// A stretch of memory that a launch reads or writes.
struct Range {
  const unsigned char* begin;
  uint64_t bytes;
  bool is_written;
};

struct RecordedLaunch {
  const char* kernel;
  uint32_t stage_end;               ///< one after its last stage
  uint32_t range_begin, range_end;  ///< in CpuRecord::ranges
  uint32_t* status;
  bool chained;  ///< it leaves the status block as it finds it
  bool stopped;  ///< this round: its input is wrong
};

struct Cleared {
  unsigned char* begin;
  uint64_t bytes;
};

struct Stage {
  uint32_t launch;
  uint32_t task;  ///< ADRT_CPU_NO_TASK: it clears
  uint32_t chunk_count;
  uint32_t wait_begin, wait_end;
  uint32_t clear_begin, clear_end;
  const char* place;
  uint64_t words;  ///< where cells and adstack cells begin in the record's words
  uint64_t adstack;
  CpuWork work;  ///< without them: the words move as they grow
  alignas(std::atomic_ref<uint64_t>::required_alignment) uint64_t next;  ///< iteration not taken yet
  uint32_t done;                                                         ///< chunks that have ended
};

/// How much of a record there is, to go back to.
struct Extent {
  size_t launches, stages, ranges, waits, clears, words;
};

}  // namespace
}  // namespace adrt

struct adrt_cpu_record : adrt::CpuQueue {
  explicit adrt_cpu_record(const adrt::Host& from)
      : host(from),
        launches(&host.allocator),
        stages(&host.allocator),
        ranges(&host.allocator),
        waits(&host.allocator),
        clears(&host.allocator),
        words(&host.allocator) {}

  adrt::Extent Now() const {
    return {launches.size(), stages.size(), ranges.size(), waits.size(), clears.size(), words.size()};
  }
  // Less than there is: nothing is allocated.
  void GoBack(const adrt::Extent& to) {
    while (launches.size() > to.launches) launches.pop_back();
    while (stages.size() > to.stages) stages.pop_back();
    while (ranges.size() > to.ranges) ranges.pop_back();
    while (waits.size() > to.waits) waits.pop_back();
    while (clears.size() > to.clears) clears.pop_back();
    while (words.size() > to.words) words.pop_back();
  }

  adrt::Count count;
  adrt::Host host;
  adrt_device* device = nullptr;     ///< retained
  adrt_launch_plan* plan = nullptr;  ///< the one that is being recorded
  adrt::Vector<adrt::RecordedLaunch> launches;
  adrt::Vector<adrt::Stage> stages;
  adrt::Vector<adrt::Range> ranges;
  adrt::Vector<uint32_t> waits;
  adrt::Vector<adrt::Cleared> clears;
  adrt::Vector<uint64_t> words;
};

namespace adrt {
namespace {

adrt_cpu_record& Of(CpuQueue& queue) {
  return static_cast<adrt_cpu_record&>(queue);
}

bool Overlaps(const Range& a, const Range& b) {
  return a.begin < b.begin + b.bytes && b.begin < a.begin + a.bytes;
}

/// Whether one writes what the other reads or writes.
bool Conflict(const adrt_cpu_record& record, const RecordedLaunch& one, const RecordedLaunch& other) {
  for (uint32_t a = one.range_begin; a < one.range_end; ++a) {
    for (uint32_t b = other.range_begin; b < other.range_end; ++b) {
      const Range &first = record.ranges[a], &second = record.ranges[b];
      if ((first.is_written || second.is_written) && Overlaps(first, second)) return true;
    }
  }
  return false;
}

bool AddRange(adrt_cpu_record& record, const void* begin, uint64_t bytes, bool is_written) {
  return !begin || bytes == 0 ||
         record.ranges.TryPush({static_cast<const unsigned char*>(begin), bytes, is_written});
}

bool AddRanges(adrt_cpu_record& record, const adrt_launch_plan& plan, void* heap, void* status) {
  for (uint32_t index = 0; index < plan.params.size(); ++index) {
    const artifact::ParamMeta& param = plan.meta().params[index];
    const BoundParam& bound = plan.params[index];
    if (param.kind != artifact::ParamKind::kBuffer && param.kind != artifact::ParamKind::kLayout) continue;
    if (bound.place.given() &&
        !AddRange(record, bound.place.host(), bound.bytes, param.access != artifact::Access::kRead)) {
      return false;
    }
  }
  return AddRange(record, heap, HeapBytes(plan), true) && AddRange(record, status, ADRT_STATUS_BYTES, true);
}

/// A stage of the last launch: it waits for the one before, the first for the launches in the way.
Stage* AddStage(adrt_cpu_record& record, bool is_first) {
  auto number = static_cast<uint32_t>(record.stages.size());
  auto launch = static_cast<uint32_t>(record.launches.size() - 1);
  auto waits = static_cast<uint32_t>(record.waits.size());
  if (!is_first && !record.waits.TryPush(number - 1)) return nullptr;
  for (uint32_t other = 0; is_first && other < launch; ++other) {
    if (!Conflict(record, record.launches[launch], record.launches[other])) continue;
    if (!record.waits.TryPush(record.launches[other].stage_end - 1)) return nullptr;
  }
  Stage* stage = record.stages.TryAppend();
  if (!stage) return nullptr;
  auto clears = static_cast<uint32_t>(record.clears.size());
  *stage = {};
  stage->launch = launch;
  stage->task = ADRT_CPU_NO_TASK;
  stage->chunk_count = 1;
  stage->wait_begin = waits;
  stage->wait_end = static_cast<uint32_t>(record.waits.size());
  stage->clear_begin = stage->clear_end = clears;
  stage->place = "";
  record.launches[launch].stage_end = number + 1;
  return stage;
}

bool NoteClear(CpuQueue& queue, const Place& place, adrt_error* error) {
  adrt_cpu_record& record = Of(queue);
  Stage* stage = &record.stages[record.stages.size() - 1];
  if (stage->task != ADRT_CPU_NO_TASK) stage = AddStage(record, false);
  if (!stage || !record.clears.TryPush({place.host(), place.bytes})) return OutOfMemory(error) == ADRT_OK;
  stage->clear_end = static_cast<uint32_t>(record.clears.size());
  return true;
}

bool NoteLaunch(CpuQueue& queue, const LaunchTask& task, adrt_error* error) {
  adrt_cpu_record& record = Of(queue);
  Stage* stage = AddStage(record, false);
  size_t begin = record.words.size();
  if (!stage || !record.words.TryResize(begin + task.cells.size() + task.words.size()))
    return OutOfMemory(error) == ADRT_OK;
  uint64_t* words = record.words.data() + begin;
  if (!task.cells.empty()) std::memcpy(words, task.cells.data(), task.cells.size() * sizeof(uint64_t));
  if (!task.words.empty()) {
    std::memcpy(words + task.cells.size(), task.words.data(), task.words.size() * sizeof(uint64_t));
  }
  stage->task = task.index;
  stage->place = record.plan->meta().tasks[task.index].place.c_str();
  stage->chunk_count = static_cast<uint32_t>(task.threads);
  stage->words = begin;
  stage->adstack = begin + task.cells.size();
  stage->work = {
      task.entry, nullptr,   nullptr, task.heap.host(), reinterpret_cast<uint32_t*>(task.status.host()),
      task.total, task.chunk};
  return true;
}

/// Refuses a plan that only adrt_run can run, as it looks at buffers between tasks.
bool CanRecord(const adrt_launch_plan& plan, adrt_error* error) {
  if (plan.bounds) {
    return Refuse(error, ADRT_ERROR_UNSUPPORTED, plan.meta(),
                  ": a launch with a bounds record cannot be recorded for jobs: use adrt_run");
  }
  for (uint32_t task = 0; task < plan.tasks.size(); ++task) {
    const artifact::TaskMeta& meta = plan.meta().tasks[task];
    if (!ReadsExtents(plan, task) && meta.trip_kernel.empty()) continue;
    return RefuseTask(plan, task, error, ADRT_ERROR_NEEDS_DEVICE_DATA,
                      "its number of iterations depends on the content of buffers, which may change until a "
                      "recorded launch runs: use adrt_run");
  }
  return true;
}

bool Record(adrt_cpu_record& record, adrt_launch_plan& plan, const Place& heap, const Place& status,
            adrt_error* error) {
  if (!CanRecord(plan, error) || !CheckLaunch(plan, heap, status, error)) return false;
  record.plan = &plan;
  RecordedLaunch launch = {};
  launch.kernel = plan.meta().name.c_str();
  launch.range_begin = static_cast<uint32_t>(record.ranges.size());
  launch.status = reinterpret_cast<uint32_t*>(status.host());
  launch.chained = plan.chains_status;
  if (!AddRanges(record, plan, heap.host(), status.host())) return OutOfMemory(error) == ADRT_OK;
  launch.range_end = static_cast<uint32_t>(record.ranges.size());
  if (!record.launches.TryPush(launch) || !AddStage(record, true)) return OutOfMemory(error) == ADRT_OK;
  return RecordLaunch(plan, static_cast<CpuQueue*>(&record), heap, status, error);
}

/// Whether the launch's block says that its values are wrong.
bool IsSpoilt(const RecordedLaunch& launch) {
  uint32_t code = launch.status[ADRT_CPU_STATUS_CODE];
  return code == ADRT_CPU_ADSTACK_OVERFLOW || code == ADRT_CPU_BOUNDS_MOVED;
}

/// Runs a chunk. Returns whether it was the last of its stage.
bool RunChunk(adrt_cpu_record& record, Stage& stage, uint32_t chunk) {
  RecordedLaunch& launch = record.launches[stage.launch];
  bool clears = stage.task == ADRT_CPU_NO_TASK;
  if (clears) {
    for (uint32_t index = stage.clear_begin; index < stage.clear_end; ++index)
      std::memset(record.clears[index].begin, 0, record.clears[index].bytes);
  } else if (!launch.stopped) {
    CpuWork work = stage.work;
    work.cells = record.words.data() + stage.words;
    work.adstack = record.words.data() + stage.adstack;
    RunWork(work, chunk, std::atomic_ref(stage.next));
  }
  if (std::atomic_ref(stage.done).fetch_add(1, std::memory_order_acq_rel) + 1 != stage.chunk_count)
    return false;
  // No other chunk is in the stage any more, and the next stages begin after this.
  stage.next = 0;
  stage.done = 0;
  launch.stopped = IsSpoilt(launch);
  return true;
}

struct StageRun {
  adrt_cpu_record* record;
  Stage* stage;
};

void RunChunkOf(void* context, uint32_t chunk) {
  StageRun& run = *static_cast<StageRun*>(context);
  RunChunk(*run.record, *run.stage, chunk);
}

bool HasReport(const adrt_cpu_record& record) {
  for (const RecordedLaunch& launch : record.launches) {
    if (launch.status[ADRT_CPU_STATUS_CODE] != ADRT_CPU_OK) return true;
  }
  return false;
}

adrt_status RunRounds(adrt_cpu_record& record, adrt_cpu_rounds& rounds, adrt_error* error) {
  uint32_t most = rounds.most == 0 ? 1 : rounds.most;
  for (rounds.done = 0; rounds.done < most;) {
    for (Stage& stage : record.stages) {
      StageRun run = {&record, &stage};
      if (!RunOnWorkers(*record.device, stage.chunk_count, RunChunkOf, &run, error)) return error->status;
    }
    ++rounds.done;
    if (HasReport(record)) break;
    if (rounds.until && *static_cast<const volatile uint32_t*>(rounds.until) != 0) break;
  }
  return ADRT_OK;
}

}  // namespace

bool RecordSequence(adrt_cpu_record& record, adrt_sequence& sequence, adrt_error* error) {
  Extent before = record.Now();
  for (const SequenceLaunch& launch : sequence.launches) {
    adrt_status status = adrt_record_cpu(launch.plan, &record, launch.heap.host(), launch.heap.bytes,
                                         launch.status.host(), error);
    if (status == ADRT_OK) continue;
    record.GoBack(before);
    return false;
  }
  return true;
}

}  // namespace adrt

adrt_status adrt_cpu_record_create(adrt_device* device, adrt_cpu_record** record, adrt_error* error) {
  adrt::Alive(__func__, device);
  if (!device || !record) return Fail(error, ADRT_ERROR_ARGUMENT, "cpu_record_create: null argument");
  if (!device->kind->host_memory)
    return Fail(error, ADRT_ERROR_ARGUMENT, "cpu_record_create: the device is no CPU");
  adrt_cpu_record* made = adrt::New<adrt_cpu_record>(device->host.allocator, device->host);
  if (!made) return adrt::OutOfMemory(error);
  adrt_device_retain(device);
  made->device = device;
  made->clear = adrt::NoteClear;
  made->launch = adrt::NoteLaunch;
  *record = made;
  return ADRT_OK;
}

void adrt_cpu_record_retain(adrt_cpu_record* record) {
  adrt::Alive(__func__, record);
  if (record) record->count.Retain();
}

void adrt_cpu_record_release(adrt_cpu_record* record) {
  adrt::Alive(__func__, record);
  if (!record || !record->count.Release()) return;
  adrt_device* device = record->device;
  adrt::Delete(record->host.allocator, record);
  adrt_device_release(device);
}

adrt_status adrt_cpu_record_reset(adrt_cpu_record* record, adrt_error* error) {
  adrt::Alive(__func__, record);
  if (!record) return Fail(error, ADRT_ERROR_ARGUMENT, "cpu_record_reset: null argument");
  record->GoBack({});
  return ADRT_OK;
}

adrt_status adrt_record_cpu(adrt_launch_plan* plan, adrt_cpu_record* record, void* heap, uint64_t heap_size,
                            void* status, adrt_error* error) {
  adrt::Alive(__func__, plan);
  adrt::Alive(__func__, record);
  if (!plan || !record || !status) return Fail(error, ADRT_ERROR_ARGUMENT, "record_cpu: null argument");
  if (!plan->module || plan->module->device != record->device) {
    return Fail(error, ADRT_ERROR_ARGUMENT,
                "record_cpu: the plan was made without a module of the record's device");
  }
  adrt_error own = {};
  adrt_error* details = adrt::DetailsOf(error, &own);
  adrt::Extent before = record->Now();
  adrt::Place heap_place = heap ? adrt::Place::Host(heap, heap_size) : adrt::Place();
  bool recorded =
      adrt::Record(*record, *plan, heap_place, adrt::Place::Host(status, ADRT_STATUS_BYTES), details);
  record->plan = nullptr;
  if (recorded) return ADRT_OK;
  record->GoBack(before);
  return details->status;
}

uint32_t adrt_cpu_record_stages(const adrt_cpu_record* record) {
  adrt::Alive(__func__, record);
  return record ? static_cast<uint32_t>(record->stages.size()) : 0;
}

adrt_status adrt_cpu_record_stage(const adrt_cpu_record* record, uint32_t stage,
                                  adrt_cpu_stage_report* report, adrt_error* error) {
  adrt::Alive(__func__, record);
  if (!record || !report) return Fail(error, ADRT_ERROR_ARGUMENT, "cpu_record_stage: null argument");
  if (stage >= record->stages.size())
    return Fail(error, ADRT_ERROR_ARGUMENT, "cpu_record_stage: the record has ", record->stages.size(),
                " stages");
  const adrt::Stage& from = record->stages[stage];
  adrt_cpu_stage_report made = {};
  made.chunk_count = from.chunk_count;
  made.launch = from.launch;
  made.task = from.task;
  made.kernel = record->launches[from.launch].kernel;
  made.place = from.place;
  made.iterations = from.work.total;
  made.waits = record->waits.data() + from.wait_begin;
  made.wait_count = from.wait_end - from.wait_begin;
  if (!adrt::CopyReport(made, report))
    return Fail(error, ADRT_ERROR_ARGUMENT, "cpu_record_stage: struct_size is not set");
  return ADRT_OK;
}

adrt_status adrt_cpu_run_chunk(adrt_cpu_record* record, uint32_t stage, uint32_t chunk, uint32_t* finished,
                               adrt_error* error) {
  adrt::Alive(__func__, record);
  if (!record) return Fail(error, ADRT_ERROR_ARGUMENT, "cpu_run_chunk: null argument");
  if (stage >= record->stages.size() || chunk >= record->stages[stage].chunk_count) {
    return Fail(error, ADRT_ERROR_ARGUMENT, "cpu_run_chunk: the record has no chunk ", chunk, " of stage ",
                stage);
  }
  bool last = adrt::RunChunk(*record, record->stages[stage], chunk);
  if (finished) *finished = last;
  return ADRT_OK;
}

adrt_status adrt_cpu_record_run(adrt_cpu_record* record, adrt_cpu_rounds* rounds, adrt_error* error) {
  adrt::Alive(__func__, record);
  if (!record) return Fail(error, ADRT_ERROR_ARGUMENT, "cpu_record_run: null argument");
  adrt_cpu_rounds wanted = {};
  if (rounds && !adrt::CopyDescriptor(rounds, &wanted))
    return Fail(error, ADRT_ERROR_ARGUMENT, "cpu_record_run: ", adrt::kNotSet);
  adrt_error own = {};
  adrt_error* details = adrt::DetailsOf(error, &own);
  adrt_status status = adrt::RunRounds(*record, wanted, details);
  if (rounds && rounds->struct_size >= offsetof(adrt_cpu_rounds, reserved)) rounds->done = wanted.done;
  return status;
}
