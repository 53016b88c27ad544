#include "core/bounds_record.h"

#include "artifact/bounds_record.h"
#include "core/errors.h"
#include "core/serving.h"

// The compiler gives a kernel and its gradient a third one, which records the bounds of their loops
// (artifact/bounds_record.h). It is bound to the buffers of the launch that it serves. After the kernel it
// counts into the caller's record; before the gradient it counts into memory of the loader's, and its last
// task compares. Counting is on the device like the rest, so that both can be recorded into the caller's
// queue; adrt_run waits for a comparison, and runs no gradient where bounds have changed.
//
// Counting's memory: [scratch, words and rows of the counting kernel | a status block of its own | its
// counts]. That status block is not read: an error of counting occurs in the launch as well.

namespace adrt {
namespace {

constexpr uint64_t kElement = sizeof(uint64_t), kUnit = 256;

uint64_t Aligned(uint64_t bytes) {
  return (bytes + kUnit - 1) & ~(kUnit - 1);
}

uint64_t CountsOffset(const adrt_launch_plan& counting) {
  return Aligned(HeapBytes(counting)) + Aligned(ADRT_STATUS_BYTES);
}

bool BadRecord(const adrt_launch_plan& plan, uint64_t given, adrt_error* error, std::string_view wrong,
               std::string_view whose = {}) {
  uint64_t bytes = BoundsBytes(*plan.kernel);
  Fail(error, ADRT_ERROR_ARGUMENT, plan.meta(), ": its bounds record ", wrong, whose, ": it takes ", bytes,
       " bytes at a multiple of 8, given ", given);
  error->needed_bytes = bytes;
  return false;
}

bool FindRecord(const adrt_plan_desc& desc, const adrt_launch_plan& plan, Place* place, adrt_error* error) {
  uint64_t bytes = BoundsBytes(*plan.kernel), given = desc.bounds_record_size;
  char text[160];
  artifact::TextWriter reason(text, sizeof text);
  if (plan.module &&
      !plan.module->device->kind->bind(*plan.module->device, desc.bounds_record, place, reason)) {
    return BadRecord(plan, given, error, text);
  }
  if (plan.module && place->bytes < given) given = place->bytes;
  if (given < bytes) return BadRecord(plan, given, error, "is too small");
  if (place->position() % kElement != 0) return BadRecord(plan, given, error, "is not aligned");
  return true;
}

// Whether the record overlaps the memory of no parameter.
bool IsApart(const adrt_launch_plan& plan, const Place& record, adrt_error* error) {
  for (uint32_t index = 0; index < plan.params.size(); ++index) {
    const BoundParam& bound = plan.params[index];
    if (bound.bytes == 0 || !bound.place.given() || !record.given()) continue;
    if (Overlap(bound.place, bound.bytes, record, BoundsBytes(*plan.kernel)))
      return BadRecord(plan, record.bytes, error, "shares memory with %",
                       plan.meta().params[index].name.view());
  }
  return true;
}

}  // namespace

uint64_t BoundsBytes(const adrt_kernel& kernel) {
  if (kernel.meta->bounds == artifact::kNoIndex) return 0;
  uint64_t loops = kernel.bundle->metadata.kernels[kernel.meta->bounds].asserts.size();
  return (ADRT_BOUNDS_LOOPS + ADRT_BOUNDS_LOOP_SIZE * loops) * kElement;
}

bool BindRecord(const adrt_plan_desc& desc, adrt_launch_plan& plan, adrt_error* error) {
  const artifact::KernelMeta& meta = plan.meta();
  if (!desc.bounds_record) return true;
  bool compares = meta.role == artifact::KernelRole::kGrad;
  if (!plan.bundle->metadata.bounds_recorded || (!compares && meta.role != artifact::KernelRole::kPrimal)) {
    return Refuse(error, ADRT_ERROR_UNSUPPORTED, meta,
                  " has no bounds record: compile it with --bounds-record");
  }
  if (meta.bounds == artifact::kNoIndex) return true;
  Place record;
  if (!FindRecord(desc, plan, &record, error) || !IsApart(plan, record, error)) return false;
  plan.bounds = New<BoundsRecord>(plan.host.allocator, plan.host);
  if (!plan.bounds) return OutOfMemory(error) == ADRT_OK;
  plan.bounds->record = record.Part(0, BoundsBytes(*plan.kernel));
  plan.bounds->compares = compares;
  SetUpServing(plan, &plan.bundle->kernels[meta.bounds], plan.bounds->plan);
  return BindServing(plan, plan.bounds->plan) || OutOfMemory(error) == ADRT_OK;
}

bool RecordIsApart(const adrt_launch_plan& plan, adrt_error* error) {
  return !plan.bounds || IsApart(plan, plan.bounds->record, error);
}

void RebindRecord(adrt_launch_plan& plan) {
  if (plan.bounds) BindServing(plan, plan.bounds->plan);
}

bool PlaceRecord(adrt_launch_plan& plan, adrt_error* error) {
  if (!plan.bounds) return true;
  BoundsRecord& bounds = *plan.bounds;
  adrt_launch_plan& counting = bounds.plan;
  if (counting.tasks.empty() && !PrepareTasks(counting, error)) return false;
  if (!SizeTasks(counting, false, error)) return false;
  bounds.by_content = false;
  for (const TaskPlan& task : counting.tasks) bounds.by_content = bounds.by_content || !task.IsSettled();
  bounds.offset = Aligned(plan.base_bytes);
  bounds.bytes = CountsOffset(counting) + Aligned(bounds.record.bytes);
  plan.base_bytes = bounds.offset + bounds.bytes;
  return true;
}

void ReleaseRecord(adrt_launch_plan& plan) {
  if (!plan.bounds) return;
  Memory& memory = plan.bounds->memory;
  if (memory.given()) plan.module->device->kind->release(*plan.module->device, memory);
  Delete(plan.host.allocator, plan.bounds);
}

bool SettleRecord(adrt_launch_plan& plan, bool recorded, adrt_error* error) {
  if (!plan.bounds->by_content) return true;
  adrt_launch_plan& counting = plan.bounds->plan;
  RebindRecord(plan);
  ++counting.epoch;
  for (uint32_t task = 0; task < counting.tasks.size(); ++task) {
    bool has_contents = true;
    for (uint32_t param : counting.meta().tasks[task].size_reads)
      has_contents = has_contents && counting.params[param].content;
    if (!(recorded ? SizeTask(counting, task, has_contents, error) : ReadAndSizeTask(counting, task, error)))
      return false;
    if (counting.tasks[task].IsSettled()) continue;
    return Refuse(error, ADRT_ERROR_NEEDS_DEVICE_DATA, plan.meta(),
                  ": iterations of its bounds record lie in buffers: call adrt_plan_resolve");
  }
  return true;
}

namespace {

// Gives the counting kernel its own arguments; where its launch puts things.
LaunchPlaces PlacesOf(BoundsRecord& bounds, const Place& memory, const Place& status) {
  adrt_launch_plan& counting = bounds.plan;
  uint64_t heap_bytes = HeapBytes(counting), elements = bounds.record.bytes / kElement;
  LaunchPlaces places;
  if (heap_bytes > 0) places.base = memory.Part(0, heap_bytes);
  places.status = memory.Part(Aligned(heap_bytes), ADRT_STATUS_BYTES);
  const Place counts =
      bounds.compares ? memory.Part(CountsOffset(counting), bounds.record.bytes) : bounds.record;
  auto first = static_cast<uint32_t>(counting.params.size() - ADRT_BOUNDS_PARAMS);
  BindOwn(counting, first, bounds.record, elements);
  BindOwn(counting, first + 1, status.Part(0, ADRT_STATUS_BYTES), ADRT_STATUS_BYTES / sizeof(int32_t));
  BindOwn(counting, first + 2, counts, elements);
  return places;
}

// The tasks that count, and the one that compares where that is wanted.
uint32_t TasksOf(const BoundsRecord& bounds) {
  return static_cast<uint32_t>(bounds.plan.tasks.size() - (bounds.compares ? 0 : 1));
}

}  // namespace

bool CanRecordBounds(adrt_launch_plan& plan, const Place& memory, const Place& status, adrt_error* error) {
  BoundsRecord& bounds = *plan.bounds;
  LaunchPlaces places = PlacesOf(bounds, memory, status);
  for (uint32_t task = 0; task < TasksOf(bounds); ++task) {
    if (!CanRecordTask(bounds.plan, task, places, error)) return false;
  }
  return true;
}

bool RecordBounds(adrt_launch_plan& plan, void* queue, const Place& memory, const Place& status,
                  adrt_error* error) {
  BoundsRecord& bounds = *plan.bounds;
  adrt_device& device = *plan.module->device;
  LaunchPlaces places = PlacesOf(bounds, memory, status);
  const Place counts = bounds.plan.params.back().place;
  if (!device.kind->clear(device, queue, counts, error) ||
      !device.kind->clear(device, queue, places.status, error)) {
    return false;
  }
  for (uint32_t task = 0; task < TasksOf(bounds); ++task) {
    if (!RecordTask(bounds.plan, task, queue, places, error)) return false;
  }
  return true;
}

}  // namespace adrt
