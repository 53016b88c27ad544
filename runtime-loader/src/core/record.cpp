#include <cstring>

#include "artifact/cpu_abi.h"
#include "artifact/gpu_abi.h"
#include "core/bounds_record.h"
#include "core/code.h"
#include "core/errors.h"
#include "core/launch.h"
#include "core/trace.h"

// From a settled plan to what a queue holds. Per launch: the status block and scratch become zeros; per task:
// the claim counters become zeros, then the task, each after a barrier. Nothing here waits, allocates or
// reads back, so that it serves adrt_run and the caller's own queues alike. On a CPU recording is running.

namespace adrt {
namespace {

bool Barrier(const adrt_launch_plan& plan, void* queue, adrt_error* error) {
  adrt_device& device = *plan.module->device;
  return NotesOf(plan) || !device.kind->barrier || device.kind->barrier(device, queue, error);
}

bool ClearPlace(const adrt_launch_plan& plan, void* queue, const Place& place, adrt_error* error) {
  adrt_device& device = *plan.module->device;
  if (LaunchNotes* notes = NotesOf(plan)) return place.bytes == 0 || notes->clear(*notes, place, error);
  return place.bytes == 0 || device.kind->clear(device, queue, place, error);
}

uint64_t UpTo4(uint64_t bytes) {
  return (bytes + 3) & ~uint64_t{3};
}

// The words that begin with the cells and end with what only the launch knows.
void FillWords(const adrt_launch_plan& plan, const LaunchTask& launch, Vector<uint64_t>& words) {
  std::memcpy(words.data(), plan.cells.data(), plan.cells.size() * sizeof(uint64_t));
  uint64_t* tail = words.data() + words.size() - ADRT_GPU_TAIL_WORDS;
  tail[0] = launch.heap.address;
  tail[1] = launch.status.address;
  tail[2] = launch.total;
  tail[3] = launch.threads;
}

// On a CPU recording is running, so that the bounds of a task can be looked at when it begins: a caller that
// vouched for contents that changed is told. Fewer iterations than were dealt the task's code sees as well.
bool BoundsHold(adrt_launch_plan& plan, uint32_t task, const Place& status, bool* hold, adrt_error* error) {
  uint64_t now = 0;
  *hold = true;
  if (!ReadsInPlace(plan) || plan.serves) return true;
  // A count for this launch needs no second look.
  if (!plan.meta().tasks[task].trip_reads.empty() && !plan.tasks[task].IsLate()) {
    if (MustCountTripsAgain(plan, task)) return true;
    if (!TripsNow(plan, task, &now, error)) return false;
  } else if (!ReadsExtents(plan, task) || !IterationsNow(plan, task, &now)) {
    return true;
  }
  *hold = now == plan.tasks[task].total;
  if (*hold) return true;
  uint32_t* words = reinterpret_cast<uint32_t*>(status.host());
  if (words[ADRT_CPU_STATUS_SOURCE] != 0) return true;
  words[ADRT_CPU_STATUS_CODE] = ADRT_CPU_BOUNDS_MOVED;
  words[ADRT_CPU_STATUS_SOURCE] =
      ADRT_CPU_BOUNDS_MOVED | task << ADRT_CPU_STATUS_SOURCE_TASK | 1u << ADRT_CPU_STATUS_SOURCE_INDEX;
  words[ADRT_CPU_STATUS_TASK] = task;
  std::memcpy(words + ADRT_CPU_STATUS_NEEDED, &now, sizeof now);
  return true;
}

// Whether the code of a task that has no iteration is to look all the same: its bounds are read from memory
// of a device, or were counted from it, and may have grown since.
bool LooksForMore(const adrt_launch_plan& plan, uint32_t task) {
  const artifact::TaskMeta& meta = plan.meta().tasks[task];
  bool from_memory = meta.trip_kernel.empty() ? ReadsExtents(plan, task) : !meta.trip_reads.empty();
  return plan.rules.is_gpu && !plan.serves && !plan.tasks[task].IsLate() && from_memory;
}

}  // namespace

void PlaceScratch(adrt_launch_plan& plan, const Place& heap) {
  uint64_t offset = 0, unit = plan.rules.offset_unit;
  for (uint32_t index = plan.first_own; index < plan.params.size(); ++index) {
    const artifact::ParamMeta& param = plan.meta().params[index];
    if (param.kind != artifact::ParamKind::kScratch) continue;
    BoundParam& bound = plan.params[index];
    bound.place = heap.given() ? heap.Part(offset, bound.bytes) : Place();
    bound.content = ReadsInPlace(plan) ? bound.place.host() : nullptr;
    plan.cells[param.cell] = bound.place.address;
    offset += (bound.bytes + unit - 1) / unit * unit;
  }
}

bool RecordStart(adrt_launch_plan& plan, void* queue, const LaunchPlaces& places, bool clears_status,
                 adrt_error* error) {
  PlaceScratch(plan, places.base);
  if (clears_status && !ClearPlace(plan, queue, places.status.Part(0, ADRT_STATUS_BYTES), error))
    return false;
  for (uint32_t index = plan.first_own; index < plan.params.size(); ++index) {
    const BoundParam& bound = plan.params[index];
    if (plan.meta().params[index].kind != artifact::ParamKind::kScratch || bound.bytes == 0) continue;
    if (!ClearPlace(plan, queue, bound.place.Part(0, UpTo4(bound.bytes)), error)) return false;
  }
  return true;
}

namespace {

// The task as the device gets it, but for its arguments and the words that depend on this launch.
LaunchTask LaunchOf(adrt_launch_plan& plan, uint32_t task, const LaunchPlaces& places) {
  TaskPlan& sizes = plan.tasks[task];
  const adrt_device& device = *plan.module->device;
  const adrt_module& module = *plan.module;
  const artifact::EntryMeta* meta = EntryOf(plan, task);
  LaunchTask launch;
  launch.kernel = &plan.meta();
  launch.index = task;
  launch.meta = meta;
  launch.entry = module.entries[module.task_begin[plan.kernel->index] + task];
  launch.total = sizes.total;
  launch.block_size = BlockSize(*meta);
  // Fewer threads than iterations are no loss: each takes every threads-th iteration.
  // A team takes part as one thread does.
  uint64_t in_block = meta->team ? 1 : launch.block_size, most = device.most_blocks * in_block;
  launch.threads = plan.rules.is_gpu && sizes.threads > most ? most : sizes.threads;
  launch.blocks = (launch.threads + in_block - 1) / in_block;
  if (launch.blocks == 0) launch.blocks = 1;
#ifdef ADRT_DEVICES
  if (sizes.team_iterations > 0) {  // blocks are few then
    launch.blocks = (launch.total - 1) / sizes.team_iterations + 1;
    launch.threads = launch.blocks * launch.block_size;
  }
#endif
  launch.chunk = ChunkOf(plan, task);
  // No more jobs than there are pieces.
  uint64_t pieces = (launch.total + launch.chunk - 1) / launch.chunk;
  if (!plan.rules.is_gpu && launch.threads > pieces) launch.threads = pieces;
  bool own_rows = sizes.OwnRows(plan.own_rows);
  const Place& heap = own_rows ? places.rows : places.base;
  uint64_t heap_bytes = (own_rows ? 0 : plan.base_bytes) + sizes.heap_bytes;
  launch.heap = heap.Part(0, heap.bytes < heap_bytes ? heap.bytes : heap_bytes);
  launch.status = places.status;
  launch.held = &plan.held;
  launch.words = {sizes.words.data(), sizes.words.size()};
  launch.params = {plan.params.data(), plan.params.size()};
  uint64_t word_bytes = artifact::WordBytesInHeap(sizes.words.size(), plan.rules);
  if (word_bytes > 0) launch.words_place = places.base.Part(sizes.words_offset, word_bytes);
  launch.table_writer = module.table_writer;
  return launch;
}

// Code that runs on sizes that were never settled writes anywhere: on no path may it go further.
bool IsSettled(const adrt_launch_plan& plan, uint32_t task, const LaunchPlaces& places, adrt_error* error) {
  const TaskPlan& sizes = plan.tasks[task];
  bool runs = sizes.total > 0, own_rows = sizes.OwnRows(plan.own_rows);
  if (!sizes.IsSettled() || (runs && (sizes.threads == 0 || (sizes.row_bytes > 0 && sizes.rows == 0))))
    return RefuseOpen(plan, task, error);
  const Place& heap = own_rows ? places.rows : places.base;
  uint64_t bytes = (own_rows ? 0 : plan.base_bytes) + sizes.heap_bytes;
  if (!runs || bytes == 0 || (heap.given() && heap.bytes >= bytes)) return true;
  Fail(error, ADRT_ERROR_HEAP_TOO_SMALL, plan.meta(), ", task ", task, ": a heap of ", bytes,
       " bytes would do, given ", heap.given() ? heap.bytes : 0);
  error->needed_bytes = bytes;
  return false;
}

bool AtTask(const adrt_launch_plan& plan, uint32_t task, adrt_error& error) {
  const artifact::MessagePart where[] = {plan.meta(), ", task ", task, ": "};
  AddContext(error, where);
  return false;
}

}  // namespace

bool CanRecordTask(adrt_launch_plan& plan, uint32_t task, const LaunchPlaces& places, adrt_error* error) {
  adrt_device& device = *plan.module->device;
  if (!device.kind->can_launch || (plan.tasks[task].total == 0 && !LooksForMore(plan, task))) return true;
  return device.kind->can_launch(device, LaunchOf(plan, task, places), error) || AtTask(plan, task, *error);
}

bool RecordTask(adrt_launch_plan& plan, uint32_t task, void* queue, const LaunchPlaces& places,
                adrt_error* error) {
  TaskPlan& sizes = plan.tasks[task];
  bool hold = true;
  if (!IsSettled(plan, task, places, error) || !CheckSavedAndPromises(plan, task, error)) return false;
  if (!BoundsHold(plan, task, places.status, &hold, error)) return false;
  if (!hold) return true;
  if (sizes.total == 0 && !LooksForMore(plan, task)) return true;
  adrt_device& device = *plan.module->device;
  LaunchTask launch = LaunchOf(plan, task, places);
  UseSegment(plan, task);
  launch.cells = {plan.cells.data(), plan.cells.size()};
  if (plan.rules.is_gpu) FillWords(plan, launch, sizes.words);
  if (sizes.counter_bytes > 0 &&
      !ClearPlace(plan, queue, launch.heap.Part(sizes.counters, sizes.counter_bytes), error)) {
    return false;
  }
  if (LaunchNotes* notes = NotesOf(plan)) return notes->launch(*notes, launch, error);
  if (!Barrier(plan, queue, error)) return false;
  if (!device.kind->launch(device, queue, launch, error)) return AtTask(plan, task, *error);
  return Barrier(plan, queue, error);
}

bool RefuseOpen(const adrt_launch_plan& plan, uint32_t task, adrt_error* error) {
  const artifact::TaskMeta& meta = plan.meta().tasks[task];
  // A cap takes the place of capacities alone.
  bool late = plan.tasks[task].IsLate(), iterations = !meta.trip_kernel.empty() || ReadsExtents(plan, task);
  bool cap_helps = plan.cap == 0 && !iterations;
  const char *why = "depend on the content of buffers:", *remedy = " call adrt_plan_resolve";
  if (late) {
    why = "depend on what the kernel computes:";
    remedy = " use adrt_run";
  } else if (LacksTrips(plan, task)) {
    why = "must be counted: record that (adrt_plan_counting), then";
  }
  return RefuseTask(plan, task, error, ADRT_ERROR_NEEDS_DEVICE_DATA,
                    iterations ? "its iterations " : "its sizes ", why, remedy,
                    cap_helps ? ", or give a bound with adrt_plan_with_cap" : "");
}

bool IsApart(const adrt_launch_plan& plan, const Place& heap, uint64_t heap_bytes, const Place& status,
             adrt_error* error) {
  struct Written {
    const char* name;
    Place place;
    uint64_t bytes;
  };
  const Written written[] = {{"heap", heap, heap_bytes}, {"status block", status, ADRT_STATUS_BYTES}};
  for (const Written& one : written) {
    if (!one.place.given() || one.bytes == 0) continue;
    for (uint32_t index = 0; index < plan.params.size(); ++index) {
      const BoundParam& bound = plan.params[index];
      if (bound.bytes == 0 || !bound.place.given()) continue;
      if (!Overlap(bound.place, bound.bytes, one.place, one.bytes)) continue;
      return Refuse(error, ADRT_ERROR_ARGUMENT, plan.meta(), ": its ", one.name,
                    " shares memory with parameter '", plan.meta().params[index].name.view(), "'");
    }
    if (plan.bounds && Overlap(plan.bounds->record, plan.bounds->record.bytes, one.place, one.bytes)) {
      return Refuse(error, ADRT_ERROR_ARGUMENT, plan.meta(), ": its ", one.name,
                    " shares memory with its bounds record");
    }
  }
  if (!heap.given() || !status.given() || !Overlap(heap, heap_bytes, status, ADRT_STATUS_BYTES)) return true;
  return Refuse(error, ADRT_ERROR_ARGUMENT, plan.meta(), ": its status block lies in the ", heap_bytes,
                " bytes of its heap");
}

// Of settled tasks only: nothing is recorded yet, and the memory in the heap has its places for this alone.
bool CanRecordTasks(adrt_launch_plan& plan, const Place& heap, const Place& status, adrt_error* error) {
  ScratchOfLaunch scratch(plan);
  PlaceScratch(plan, heap);
  if (plan.bounds &&
      !CanRecordBounds(plan, heap.Part(plan.bounds->offset, plan.bounds->bytes), status, error)) {
    return false;
  }
  for (uint32_t task = 0; task < plan.tasks.size(); ++task) {
    if (!CanRecordTask(plan, task, {heap, {}, status}, error)) return false;
  }
  return true;
}

bool CheckLaunch(adrt_launch_plan& plan, const Place& heap, const Place& status, adrt_error* error) {
  for (uint32_t task = 0; task < plan.tasks.size(); ++task) {
    if (plan.tasks[task].state == TaskState::kSettled) continue;
    return RefuseOpen(plan, task, error);
  }
  uint64_t needed = HeapBytes(plan);
  if (needed > 0 && (!heap.given() || heap.bytes < needed)) {
    Fail(error, ADRT_ERROR_HEAP_TOO_SMALL, plan.meta(), ": a heap of ", needed, " bytes is required, given ",
         heap.given() ? heap.bytes : 0);
    error->needed_bytes = needed;
    return false;
  }
  if (needed > 0 && heap.position() % HeapAlignment(plan) != 0) {
    return Refuse(error, ADRT_ERROR_ARGUMENT, "record: the heap is not aligned to ", HeapAlignment(plan),
                  " bytes");
  }
  if (!status.given() || status.bytes < ADRT_STATUS_BYTES || status.position() % sizeof(uint32_t) != 0) {
    return Refuse(error, ADRT_ERROR_ARGUMENT, "record: the status block takes ", int32_t{ADRT_STATUS_BYTES},
                  " bytes of device memory, aligned to 4");
  }
  return IsApart(plan, heap, needed, status, error) && CanRecordTasks(plan, heap, status, error);
}

bool RecordLaunch(adrt_launch_plan& plan, void* queue, const Place& heap, const Place& status,
                  adrt_error* error) {
  if (!CheckLaunch(plan, heap, status, error)) return false;
  BeginSteps(plan);
  if (plan.bounds && !SettleRecord(plan, true, error)) return false;
  if (plan.host.trace_heap) {
    for (uint32_t task = 0; task < plan.tasks.size(); ++task) TellHeap(plan, task, ADRT_OK, 0, 0);
    TellHeap(plan, ADRT_TRACE_LAUNCH, ADRT_OK, heap.bytes, heap.bytes);
  }
  LaunchPlaces places = {heap, {}, status};
  ScratchOfLaunch scratch(plan);
  auto record_bounds = [&](bool compares) {
    return !plan.bounds || plan.bounds->compares != compares ||
           RecordBounds(plan, queue, heap.Part(plan.bounds->offset, plan.bounds->bytes), status, error);
  };
  if (!RecordStart(plan, queue, places, !plan.chains_status, error) || !record_bounds(true)) return false;
  for (uint32_t task = 0; task < plan.tasks.size(); ++task) {
    if (!RecordTask(plan, task, queue, places, error)) return false;
    if (plan.tasks[task].trips == Trips::kFresh) plan.tasks[task].trips = Trips::kTaken;
  }
  return record_bounds(false);
}

}  // namespace adrt
