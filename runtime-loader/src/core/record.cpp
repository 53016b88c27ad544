#include <cstring>

#include "artifact/gpu_abi.h"
#include "core/bounds_record.h"
#include "core/code.h"
#include "core/errors.h"
#include "core/launch.h"

// From a settled plan to what a queue holds. Per launch: the status block and scratch become zeros; per task:
// the claim counters become zeros, then the task, each behind a barrier. Nothing here waits, allocates or
// reads back, so that it serves adrt_run and the caller's own queues alike. On a CPU recording is running.

namespace adrt {
namespace {

bool Barrier(const adrt_launch_plan& plan, void* queue, adrt_error* error) {
  adrt_device& device = *plan.module->device;
  return !device.kind->barrier || device.kind->barrier(device, queue, error);
}

bool ClearPlace(const adrt_launch_plan& plan, void* queue, const Place& place, adrt_error* error) {
  adrt_device& device = *plan.module->device;
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

}  // namespace

void PlaceScratch(adrt_launch_plan& plan, const Place& heap) {
  uint64_t offset = 0, unit = plan.rules.offset_unit;
  for (uint32_t index = 0; index < plan.params.size(); ++index) {
    const artifact::ParamMeta& param = plan.meta().params[index];
    if (param.kind != artifact::ParamKind::kScratch) continue;
    BoundParam& bound = plan.params[index];
    bound.place = heap.given() ? heap.Part(offset, bound.bytes) : Place();
    bound.content = ReadsInPlace(plan) ? bound.place.host() : nullptr;
    plan.cells[param.cell] = bound.place.address;
    offset += (bound.bytes + unit - 1) / unit * unit;
  }
}

bool RecordStart(adrt_launch_plan& plan, void* queue, const LaunchPlaces& places, adrt_error* error) {
  PlaceScratch(plan, places.base);
  if (!ClearPlace(plan, queue, places.status.Part(0, ADRT_STATUS_BYTES), error)) return false;
  for (uint32_t index = 0; index < plan.params.size(); ++index) {
    const BoundParam& bound = plan.params[index];
    if (plan.meta().params[index].kind != artifact::ParamKind::kScratch || bound.bytes == 0) continue;
    if (!ClearPlace(plan, queue, bound.place.Part(0, UpTo4(bound.bytes)), error)) return false;
  }
  return true;
}

bool RecordTask(adrt_launch_plan& plan, uint32_t task, void* queue, const LaunchPlaces& places,
                adrt_error* error) {
  TaskPlan& sizes = plan.tasks[task];
  if (sizes.total == 0) return true;
  adrt_device& device = *plan.module->device;
  const adrt_module& module = *plan.module;
  const artifact::EntryMeta* meta = EntryOf(plan, task);
  LaunchTask launch;
  launch.kernel = &plan.meta();
  launch.meta = meta;
  launch.entry = module.entries[module.task_begin[plan.kernel->index] + task];
  launch.total = sizes.total;
  launch.block_size = BlockSize(*meta);
  // Fewer threads than iterations are no loss: each takes every threads-th iteration.
  uint64_t most = device.most_blocks * launch.block_size;
  launch.threads = plan.rules.is_gpu && sizes.threads > most ? most : sizes.threads;
  launch.blocks = (launch.threads + launch.block_size - 1) / launch.block_size;
  launch.chunk = ChunkOf(plan, task);
  launch.heap = sizes.OwnRows(plan.own_rows) ? places.rows : places.base;
  launch.status = places.status;
  launch.words = {sizes.words.data(), sizes.words.size()};
  UseSegment(plan, task);
  launch.cells = {plan.cells.data(), plan.cells.size()};
  launch.params = {plan.params.data(), plan.params.size()};
  if (plan.rules.is_gpu) FillWords(plan, launch, sizes.words);
  if (plan.rules.words_in_heap) {
    launch.words_place = places.base.Part(sizes.words_offset, sizes.words.size() * sizeof(uint64_t));
  }
  if (sizes.counter_bytes > 0 &&
      !ClearPlace(plan, queue, launch.heap.Part(sizes.counters, sizes.counter_bytes), error)) {
    return false;
  }
  if (!Barrier(plan, queue, error)) return false;
  if (!device.kind->launch(device, queue, launch, error)) {
    const artifact::MessagePart where[] = {"kernel '", plan.meta().name.view(), "', task ", task, ": "};
    AddContext(*error, where);
    return false;
  }
  return Barrier(plan, queue, error);
}

bool CheckLaunch(const adrt_launch_plan& plan, const Place& heap, const Place& status, adrt_error* error) {
  for (uint32_t task = 0; task < plan.tasks.size(); ++task) {
    if (plan.tasks[task].resolved && !plan.tasks[task].late) continue;
    bool lacks_trips = LacksTrips(plan, task);
    return Refuse(
        error, ADRT_ERROR_NEEDS_DEVICE_DATA, "kernel '", plan.meta().name.view(), "', task ", task, " (",
        plan.meta().tasks[task].place.view(), ")",
        plan.tasks[task].late && !plan.meta().tasks[task].trip_kernel.empty()
            ? ": how often it runs depends on what the kernel computes: use adrt_run"
        : plan.tasks[task].late ? ": its sizes depend on what the kernel computes: give a bound with "
                                  "adrt_plan_with_cap, or use adrt_run"
        : lacks_trips ? ": how often it runs is to be counted: record that where adrt_plan_counting says "
                        "so, and call adrt_plan_resolve"
                      : ": its sizes depend on the content of buffers: call adrt_plan_resolve, or give a "
                        "bound with adrt_plan_with_cap");
  }
  uint64_t needed = HeapBytes(plan);
  if (needed > 0 && (!heap.given() || heap.bytes < needed)) {
    Fail(error, ADRT_ERROR_HEAP_TOO_SMALL, "kernel '", plan.meta().name.view(), "': a heap of ", needed,
         " bytes would do, given ", heap.given() ? heap.bytes : 0);
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
  return true;
}

bool RecordLaunch(adrt_launch_plan& plan, void* queue, const Place& heap, const Place& status,
                  adrt_error* error) {
  if (!CheckLaunch(plan, heap, status, error)) return false;
  BeginSteps(plan);
  if (plan.bounds && !SettleRecord(plan, true, error)) return false;
  LaunchPlaces places = {heap, {}, status};
  auto record_bounds = [&](bool compares) {
    return !plan.bounds || plan.bounds->compares != compares ||
           RecordBounds(plan, queue, heap.Part(plan.bounds->offset, plan.bounds->bytes), status, error);
  };
  if (!RecordStart(plan, queue, places, error) || !record_bounds(true)) return false;
  for (uint32_t task = 0; task < plan.tasks.size(); ++task) {
    if (!RecordTask(plan, task, queue, places, error)) return false;
    plan.tasks[task].fresh_trips = false;
  }
  return record_bounds(false);
}

}  // namespace adrt
